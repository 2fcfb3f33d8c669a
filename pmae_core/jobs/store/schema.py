"""The tables of the store's SQLite file, and how an older file becomes one of this release."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pmae_core.errors import JobError

# One entry per version of the file; each leads from the version before. Entries never change once
# released: a change of the schema is a new entry. Long texts come last in a row, so a listing
# that does not want them need not read them.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            workspace TEXT NOT NULL,
            name TEXT,
            kind TEXT NOT NULL,
            state TEXT NOT NULL,
            engine TEXT NOT NULL,
            threads INTEGER NOT NULL,
            gpus INTEGER NOT NULL,
            model TEXT,
            attempt INTEGER NOT NULL DEFAULT 0,
            token TEXT,
            created_at REAL NOT NULL,
            queued_at REAL NOT NULL,
            started_at REAL,
            finished_at REAL,
            heartbeat_at REAL,
            cancel_requested_at REAL,
            memory_mb REAL,
            starter TEXT,
            worker TEXT,
            progress TEXT,
            error TEXT,
            estimate TEXT,
            result TEXT,
            spec TEXT NOT NULL
        )
        """,
        "CREATE INDEX jobs_of_workspace ON jobs (workspace, number)",
        "CREATE INDEX jobs_in_state ON jobs (state, queued_at, number)",
        "CREATE INDEX jobs_using_model ON jobs (model) WHERE model IS NOT NULL",
        """
        CREATE TABLE events (
            job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            time REAL NOT NULL,
            attempt INTEGER NOT NULL,
            kind TEXT NOT NULL,
            data TEXT NOT NULL,
            PRIMARY KEY (job_id, seq)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE tables (
            digest TEXT NOT NULL,
            workspace TEXT NOT NULL,
            put_at REAL NOT NULL,
            PRIMARY KEY (digest, workspace)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE job_tables (
            digest TEXT NOT NULL,
            job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            PRIMARY KEY (digest, job_id)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX tables_of_job ON job_tables (job_id)",
    ),
    # Listings and queues are read from these indexes alone, however long the specifications are.
    (
        "DROP INDEX jobs_of_workspace",
        "DROP INDEX jobs_in_state",
        "CREATE INDEX jobs_listed ON jobs (number, workspace, state, kind)",
        "CREATE INDEX jobs_in_state ON jobs (state, engine, queued_at, number)",
    ),
)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file to this release's version, all or nothing.

    Raises
    ------
    JobError
        If it is from a newer release.
    """
    if _version(connection, path) == len(MIGRATIONS):
        return
    with transaction(connection):
        # Another process may have been faster.
        version = _version(connection, path)
        for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise JobError(
            f"{path} is from a newer release of pmae (the store has version {version}, "
            f"this release reads up to {len(MIGRATIONS)}). Update pmae, or set PMAE_HOME to "
            "another folder."
        )
    return version


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Give a connection the only right to write: all that the block does is kept, or nothing."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself ends it if, for example, the disk is full
            connection.execute("ROLLBACK")
        raise
