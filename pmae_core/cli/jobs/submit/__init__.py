"""``pmae jobs submit``: put a job into the queue and, if wanted, wait for its end."""
