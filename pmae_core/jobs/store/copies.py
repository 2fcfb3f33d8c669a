"""Copies of the database: what a user deleted must not outlast in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from pmae_core.jobs.store.retention import forget_workspaces

BACKUPS = "backups"
DAMAGED = "damaged"


def erase_from_copies(home: Path, workspace: str) -> None:
    """Remove a workspace from the backups of a home's database; those of others stay.

    Copies that cannot be changed are removed: unfinished ones, and files that were set aside
    because they are damaged.
    """
    backups = home / BACKUPS
    for copy in backups.iterdir() if backups.is_dir() else ():
        if copy.suffix != ".sqlite" or not _erased(copy, workspace):
            copy.unlink(missing_ok=True)
    for copy in (home / DAMAGED).glob("*/jobs.sqlite*"):
        copy.unlink(missing_ok=True)


def _erased(copy: Path, workspace: str) -> bool:
    """Remove a workspace from a copy; False if it is no sound database."""
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            forget_workspaces(connection, [workspace])
            connection.execute("VACUUM")
    except sqlite3.DatabaseError:
        return False
    return True
