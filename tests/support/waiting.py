"""Waiting for something that another process does."""

import time


def eventually(condition, seconds=60.0):
    give_up_at = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.05)
    return True
