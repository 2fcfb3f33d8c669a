"""The Missingness page."""
