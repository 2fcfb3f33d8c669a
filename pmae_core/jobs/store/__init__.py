"""What is kept of jobs."""
