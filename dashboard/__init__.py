"""What only a browser needs."""
