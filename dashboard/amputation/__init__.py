"""The Amputation lab: missing values simulated in the open table."""
