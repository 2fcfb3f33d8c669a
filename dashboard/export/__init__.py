"""Exporting an imputed table: files for other programs, and what reproduces it."""
