"""The Compare page without its page: what to run, what is known so far, and that in words."""
