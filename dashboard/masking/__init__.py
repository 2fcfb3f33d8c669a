"""The Masking lab: masking functions on the open table."""
