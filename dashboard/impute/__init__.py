"""Imputing the user's own missing values: what to run, and what came out."""
