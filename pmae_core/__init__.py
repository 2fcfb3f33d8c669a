"""PMAE: proportionally masked autoencoders for tabular imputation."""
