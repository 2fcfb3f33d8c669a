"""Every reader and writer of table files."""
