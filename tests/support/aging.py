"""Time that passes for a home: all that it remembers becomes older, and nobody waits."""

import contextlib
import os
import sqlite3
from pathlib import Path

TIMES_OF_JOBS = (
    *("created_at", "queued_at", "started_at", "finished_at"),
    *("heartbeat_at", "cancel_requested_at"),
)


def age(home: Path, seconds: float) -> None:
    """Make everything in a home older, as if so many seconds had passed."""
    _age_rows(home / "jobs.sqlite", seconds)
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            path = Path(folder, name)
            # The database's own files are in use, and nobody reads their times.
            if not name.startswith("jobs.sqlite"):
                found = path.lstat()
                times = (found.st_atime - seconds, found.st_mtime - seconds)
                os.utime(path, times, follow_symlinks=False)


def _age_rows(database: Path, seconds: float) -> None:
    if not database.exists():
        return
    with contextlib.closing(sqlite3.connect(database, timeout=30)) as connection, connection:
        for column in TIMES_OF_JOBS:
            connection.execute(f"UPDATE jobs SET {column} = {column} - ?", (seconds,))
        connection.execute("UPDATE tables SET put_at = put_at - ?", (seconds,))
        connection.execute("UPDATE events SET time = time - ?", (seconds,))
