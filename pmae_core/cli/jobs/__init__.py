"""The commands of background jobs."""
