"""Backups of the database: one per day, the last few kept."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from pmae_core.jobs.paths import JobPaths
from pmae_core.storage.files import replacing

KEPT = 3
LEFTOVER_SECONDS = 3600.0
_log = logging.getLogger(__name__)


def all_backups(paths: JobPaths) -> list[Path]:
    """Return the backups, the newest first."""
    return sorted(paths.backups.glob("jobs-????-??-??.sqlite"), reverse=True)


def is_sound(path: Path) -> bool:
    """Return whether a file is a database that can be read from end to end."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False


def make_backup(paths: JobPaths, day: str) -> None:
    """Copy the database as it is now, and remove the oldest copies.

    Others may read and write meanwhile. A copy that is not sound is not kept, so that a damaged
    database does not replace its backups.
    """
    path = paths.backups / f"jobs-{day}.sqlite"
    paths.backups.mkdir(mode=0o700, exist_ok=True)
    _remove_leftovers(paths.backups)
    with replacing(path, lasting=True) as unfinished:
        with (
            closing(sqlite3.connect(f"{paths.database.as_uri()}?mode=rw", uri=True)) as source,
            closing(sqlite3.connect(unfinished)) as copy,
        ):
            source.backup(copy)
            # One file, which can be copied as it is.
            copy.execute("PRAGMA journal_mode = DELETE")
        if not is_sound(unfinished):
            raise sqlite3.DatabaseError(f"{paths.database} is damaged")
    for old in all_backups(paths)[KEPT:]:
        old.unlink(missing_ok=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove copies that were never finished, because their process was killed."""
    for leftover in folder.glob(".*.tmp*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > LEFTOVER_SECONDS:
                leftover.unlink()


class DailyBackup:
    """Makes a backup the first time that it is asked on a day, without making anybody wait.

    Parameters
    ----------
    paths : JobPaths
        Of the database. Several processes may do this: the copies of a day replace each other.
    """

    def __init__(self, paths: JobPaths) -> None:
        self._paths = paths
        self._day = ""
        self._lock = threading.Lock()

    def keep(self, now: float | None = None) -> threading.Thread | None:
        """Start today's backup unless there is one; return the thread that makes it."""
        day = time.strftime("%Y-%m-%d", time.gmtime(now))
        with self._lock:
            if day == self._day:
                return None
            self._day = day
        if (self._paths.backups / f"jobs-{day}.sqlite").exists():
            return None
        # Not a daemon: a process that ends waits for it, which takes less than a second.
        thread = threading.Thread(target=self._make, args=(day,), name="pmae-backup")
        thread.start()
        return thread

    def _make(self, day: str) -> None:
        try:
            make_backup(self._paths, day)
        except (OSError, sqlite3.Error) as error:
            _log.warning("No backup of %s was made: %s.", self._paths.database, error)
