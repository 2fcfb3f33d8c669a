"""The Train page without its page: settings, curves from events, and all that in words."""
