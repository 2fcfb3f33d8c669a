"""What is kept on disk: exact tables by their content, files written all or nothing, the home."""
