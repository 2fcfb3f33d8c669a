"""The SQLite file of the store: connections, transactions, and what happens when it is damaged."""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pmae_core.errors import JobError
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.posix import locked
from pmae_core.jobs.store.recovery import find_damage, is_damage, remains, restore
from pmae_core.jobs.store.schema import migrate, transaction

BUSY_SECONDS = 30.0
DATABASE_FAILED = "database"  # code of errors that SQLite raised: locked, full, damaged

FileId = tuple[int, int]

# Files that this process has checked from end to end.
_checked: set[tuple[Path, FileId]] = set()
# A connection inherited through a fork must be neither used nor closed in the child.
_inherited: list[sqlite3.Connection] = []


class Database:
    """A SQLite file in WAL mode that many threads and processes may use at once.

    The file is created or migrated to this release's version when it is opened. Each process
    checks it once; a damaged or emptied file is set aside and restored, see
    :mod:`pmae_core.jobs.store.recovery`. A connection notices when its file was replaced.

    Parameters
    ----------
    paths : JobPaths
        The folders, which exist.

    Raises
    ------
    JobError
        If it is from a newer release, is not such a file, or cannot be opened.
    """

    def __init__(self, paths: JobPaths) -> None:
        self.paths = paths
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
        with self._errors_as_sentences(), transaction(self._connection()) as connection:
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
        """Return the connection of this thread of this process to the file as it is now."""
        local = self._local
        pid = getattr(local, "pid", None)
        if pid == os.getpid() and local.file != self._file_id():
            self.close()  # restored by another thread or process, or emptied
            pid = None
        if pid != os.getpid():
            if pid is not None:
                _inherited.append(local.connection)
            local.connection, local.file, local.pid = *self._open(), os.getpid()
        connection: sqlite3.Connection = local.connection
        return connection

    def _open(self) -> tuple[sqlite3.Connection, FileId | None]:
        try:
            if self._is_to_restore():
                restore(self.paths)
            with locked(self.paths.lock, shared=True):
                connection = self._connect()
                file = self._file_id()
        except OSError as error:
            raise JobError(
                f"The job store {self.paths.database} cannot be used: {error.strerror or error}. "
                "Make room there, allow writing, or set PMAE_HOME to another folder.",
                code=DATABASE_FAILED,
            ) from error
        if file is not None:
            _checked.add((self.paths.database, file))
        return connection, file

    def _is_to_restore(self) -> bool:
        """Say whether the file is damaged and there is something to restore it from."""
        file = self._file_id()
        if file is not None and (self.paths.database, file) in _checked:
            return False
        with locked(self.paths.lock, shared=True):
            return find_damage(self.paths) is not None and remains(self.paths)

    def _file_id(self) -> FileId | None:
        """Return what tells the file from one that replaced it; None for an empty one."""
        try:
            found = os.stat(self.paths.database)
        except FileNotFoundError:
            return None
        return (found.st_dev, found.st_ino) if found.st_size else None

    def _connect(self) -> sqlite3.Connection:
        path = self.paths.database
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            # A damaged text must not fail the query: its row is found to be damaged later.
            connection.text_factory = functools.partial(
                str, encoding="utf-8", errors="surrogateescape"
            )
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            # What users deleted is overwritten, not just forgotten.
            connection.execute("PRAGMA secure_delete = ON")
            migrate(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _errors_as_sentences(self) -> Iterator[None]:
        path = self.paths.database
        try:
            yield
        except sqlite3.Error as error:
            advice = "Try again, or set PMAE_HOME to another folder."
            if is_damage(error) and remains(self.paths):
                # The next use opens the file anew, which checks and restores it.
                _checked.difference_update({one for one in _checked if one[0] == path})
                self.close()
                advice = "It is checked and, if it is damaged, restored on the next use. Try again."
            raise JobError(
                f"The job store {path} cannot be used: {error}. {advice}", code=DATABASE_FAILED
            ) from error


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
