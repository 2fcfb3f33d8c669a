"""What stands around every page: access, header, theme."""
