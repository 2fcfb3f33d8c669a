"""Filling the user's own holes: what to run, what came out, and what to take away."""
