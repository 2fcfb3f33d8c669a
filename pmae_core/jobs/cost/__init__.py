"""What a job will cost, measured before it is run."""
