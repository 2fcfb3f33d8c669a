"""The SQLite file of the store: connections, transactions and versions of its schema."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pmae_core.errors import JobError

BUSY_SECONDS = 30.0
DATABASE_FAILED = "database"  # code of errors that SQLite raised: locked, full, damaged

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

# A connection inherited through a fork must be neither used nor closed in the child.
_inherited: list[sqlite3.Connection] = []


class Database:
    """A SQLite file in WAL mode that many threads and processes may use at once.

    Parameters
    ----------
    path : Path
        The file; created or migrated to this release's version when it is opened.

    Raises
    ------
    JobError
        If it is from a newer release, is not such a file, or cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        with self._errors_as_sentences():
            self._connection()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for one query."""
        with self._errors_as_sentences():
            yield self._connection()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction with the only right to write: all or nothing."""
        with self._errors_as_sentences(), _transaction(self._connection()) as connection:
            yield connection

    def compact(self) -> None:
        """Write the file anew, so that neither it nor its log has any trace of deleted rows."""
        with self._errors_as_sentences():
            connection = self._connection()
            connection.execute("VACUUM")
            is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if is_busy:
                raise sqlite3.OperationalError("other processes read it all the time")

    def unused_share(self) -> float:
        """Return the share of the file that holds nothing."""
        with self.reading() as connection:
            unused = connection.execute("PRAGMA freelist_count").fetchone()[0]
            return float(unused / max(1, connection.execute("PRAGMA page_count").fetchone()[0]))

    def close(self) -> None:
        """Close this thread's connection; the next use opens a new one."""
        if getattr(self._local, "pid", None) == os.getpid():
            self._local.connection.close()
            del self._local.pid, self._local.connection

    def _connection(self) -> sqlite3.Connection:
        """Return the connection of this thread of this process."""
        local = self._local
        pid = getattr(local, "pid", None)
        if pid != os.getpid():
            if pid is not None:
                _inherited.append(local.connection)
            local.connection, local.pid = self._open(), os.getpid()
        connection: sqlite3.Connection = local.connection
        return connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            # What users deleted is overwritten, not just forgotten.
            connection.execute("PRAGMA secure_delete = ON")
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        if self._version(connection) == len(MIGRATIONS):
            return
        with _transaction(connection):
            # Another process may have been faster.
            version = self._version(connection)
            for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")

    def _version(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise JobError(
                f"{self.path} is from a newer release of pmae (the store has version {version}, "
                f"this release reads up to {len(MIGRATIONS)}). Update pmae, or set PMAE_HOME to "
                "another folder."
            )
        return version

    @contextmanager
    def _errors_as_sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise JobError(
                f"The job store {self.path} cannot be used: {error}. "
                "Try again, or set PMAE_HOME to another folder.",
                code=DATABASE_FAILED,
            ) from error


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself ends it if, for example, the disk is full
            connection.execute("ROLLBACK")
        raise


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite does not wait while another process switches, so try again."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
