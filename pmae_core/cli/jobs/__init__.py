"""``pmae jobs``: work that goes on when the terminal is closed."""
