"""Masked autoencoders: PMAE and ReMasker, and the fitted network that they share."""
