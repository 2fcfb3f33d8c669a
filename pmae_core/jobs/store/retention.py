"""Removing old jobs, unused tables and leftovers."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pmae_core.jobs.params import is_job_id
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store.records import GarbageReport
from pmae_core.storage.tables import TableStore

# Anything younger may be about to be used.
GRACE_SECONDS = 3600.0
# A job that has not ended is kept this many times as long as one that has.
PATIENCE = 4

_FINAL = tuple(state.value for state in JobState if state.is_final)
_FINAL_SQL = ", ".join(f"'{state}'" for state in _FINAL)
# Cast, because a column of a damaged record may hold anything.
_LAST_SIGN = "max({})".format(
    ", ".join(
        f"coalesce(CAST({column} AS REAL), 0)"
        for column in ("queued_at", "started_at", "heartbeat_at", "finished_at")
    )
)


@dataclass(frozen=True)
class RetentionLimits:
    """How much is kept; None for no limit."""

    max_age_days: float | None
    max_bytes: int | None
    max_jobs: int | None


def awaited_models(connection: sqlite3.Connection) -> set[str]:
    """Return the training jobs whose models are needed by jobs that have not ended."""
    rows = connection.execute(
        f"SELECT model FROM jobs WHERE model IS NOT NULL AND state NOT IN ({_FINAL_SQL})"
    )
    return {row["model"] for row in rows}


class Collector:
    """One clean-up. Sizes are measured on creation, so that no transaction waits for the disk."""

    def __init__(self, paths: JobPaths, limits: RetentionLimits, now: float) -> None:
        self._paths = paths
        self._tables = TableStore(paths.tables)
        self._limits = limits
        self._now = now
        self._bytes = {
            path: bytes_of(path)
            for folder in (paths.jobs, paths.tables)
            for path in folder.iterdir()
        }

    def forget(self, connection: sqlite3.Connection) -> GarbageReport:
        """Remove outdated rows from the database, and report which files are not needed then."""
        jobs = self._outdated(connection)
        connection.executemany("DELETE FROM jobs WHERE id = ?", [(job_id,) for job_id in jobs])
        known = _known_tables(connection)
        connection.execute(
            "DELETE FROM tables WHERE put_at < ? AND NOT EXISTS ("
            "SELECT 1 FROM job_tables JOIN jobs ON jobs.id = job_tables.job_id "
            "WHERE job_tables.digest = tables.digest AND jobs.workspace = tables.workspace)",
            (self._now - GRACE_SECONDS,),
        )
        tables = sorted(known - _known_tables(connection))
        leftovers = sorted(self._leftovers(connection, {*jobs, *known}))
        freed = [
            *(self._paths.job(job_id) for job_id in jobs),
            *(self._tables.path(digest) for digest in tables),
            *leftovers,
        ]
        n_bytes = sum(self._bytes.get(path) or bytes_of(path) for path in freed)
        return GarbageReport(jobs, tables, leftovers, n_bytes)

    def remove_shared(self, report: GarbageReport) -> None:
        """Remove files that may be needed again soon; call it inside the transaction."""
        for digest in report.tables:
            self._tables.path(digest).unlink(missing_ok=True)
        for path in report.leftovers:
            _remove(path)

    def remove_folders(self, report: GarbageReport) -> None:
        """Remove the folders of the removed jobs; call it after the transaction."""
        for job_id in report.jobs:
            _remove(self._paths.job(job_id))

    def _outdated(self, connection: sqlite3.Connection) -> list[str]:
        """Return the jobs to remove, oldest first."""
        jobs = connection.execute(
            f"SELECT id, state IN ({_FINAL_SQL}) AS ended, {_LAST_SIGN} AS last_sign "
            "FROM jobs ORDER BY last_sign, number"
        ).fetchall()
        awaited = awaited_models(connection)
        usage = _Usage(connection, self._paths, self._bytes, self._now)
        n_ended = sum(job["ended"] for job in jobs)
        going = []
        for job in jobs:
            if not is_job_id(job["id"]):
                continue  # damaged; its owner removes it
            surplus = job["ended"] and self._is_too_much(n_ended, usage.n_bytes)
            if job["id"] not in awaited and (surplus or self._is_old(job)):
                going.append(job["id"])
                n_ended -= job["ended"]
                usage.without(job["id"])
        return going

    def _is_old(self, job: sqlite3.Row) -> bool:
        days = self._limits.max_age_days
        patience = 1 if job["ended"] else PATIENCE
        return days is not None and job["last_sign"] < self._now - patience * days * 86400

    def _is_too_much(self, n_ended: int, n_bytes: int) -> bool:
        too_many = self._limits.max_jobs is not None and n_ended > self._limits.max_jobs
        too_large = self._limits.max_bytes is not None and n_bytes > self._limits.max_bytes
        return too_many or too_large

    def _leftovers(self, connection: sqlite3.Connection, going: set[str]) -> Iterator[Path]:
        """Yield files and folders that belong to no job, or to unfinished work."""
        states = {
            row["id"]: row["state"] for row in connection.execute("SELECT id, state FROM jobs")
        }
        needed = _known_tables(connection) | going
        for path in self._paths.tables.iterdir():
            if path.stem not in needed and self._is_abandoned(path):
                yield path
        for folder in self._paths.jobs.iterdir():
            state = states.get(folder.name)
            if state is None and folder.name not in going and self._is_abandoned(folder):
                yield folder
            elif state in _FINAL and not folder.is_symlink():
                unfinished = (*folder.glob(".*.tmp"), folder / "result.tmp")
                yield from (path for path in unfinished if self._is_abandoned(path))

    def _is_abandoned(self, path: Path) -> bool:
        try:
            return path.lstat().st_mtime < self._now - GRACE_SECONDS
        except FileNotFoundError:
            return False


class _Usage:
    """Bytes on disk that remain as jobs are removed; a table goes with the last of its jobs."""

    def __init__(
        self, connection: sqlite3.Connection, paths: JobPaths, sizes: dict[Path, int], now: float
    ) -> None:
        self._paths = paths
        self._tables = TableStore(paths.tables)
        self._sizes = sizes
        self._tables_of: dict[str, list[str]] = {}
        self._users = Counter(
            row["digest"]
            for row in connection.execute(
                "SELECT digest FROM tables WHERE put_at >= ?", (now - GRACE_SECONDS,)
            )
        )
        for row in connection.execute("SELECT job_id, digest FROM job_tables"):
            self._tables_of.setdefault(row["job_id"], []).append(row["digest"])
            self._users[row["digest"]] += 1
        unused = _known_tables(connection) - set(self._users)
        self.n_bytes = sum(sizes.values()) - sum(map(self._table_bytes, unused))

    def without(self, job_id: str) -> None:
        """Subtract a job, and the tables that only it needs."""
        self.n_bytes -= self._sizes.get(self._paths.job(job_id), 0)
        for digest in self._tables_of.get(job_id, []):
            self._users[digest] -= 1
            if not self._users[digest]:
                self.n_bytes -= self._table_bytes(digest)

    def _table_bytes(self, digest: str) -> int:
        return self._sizes.get(self._tables.path(digest), 0)


def bytes_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder; links are not followed."""
    try:
        if path.is_dir() and not path.is_symlink():
            return sum(bytes_of(inner) for inner in path.iterdir())
        return path.lstat().st_size
    except FileNotFoundError:  # removed just now by another process
        return 0


def _known_tables(connection: sqlite3.Connection) -> set[str]:
    return {row["digest"] for row in connection.execute("SELECT digest FROM tables")}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
