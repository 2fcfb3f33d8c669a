"""What the labs compute and say: no browser, no figures."""
