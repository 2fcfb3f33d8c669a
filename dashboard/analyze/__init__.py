"""Analyze: the user's own regression on every imputation, pooled."""
