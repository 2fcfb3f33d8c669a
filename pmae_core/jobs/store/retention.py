"""Removing old jobs, unused tables and leftovers."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pmae_core.jobs.params import is_job_id
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store.records import GarbageReport
from pmae_core.storage.disk import bytes_of, remove_path
from pmae_core.storage.tables import TableStore

# Anything younger may be about to be used.
GRACE_SECONDS = 3600.0
# A job that has not ended is kept this many times as long as one that has.
PATIENCE = 4
# The share of the database's file that may be unused before it is worth writing it anew.
MOST_UNUSED = 0.25

_FINAL = tuple(state.value for state in JobState if state.is_final)
_FINAL_SQL = ", ".join(f"'{state}'" for state in _FINAL)
_ACTIVE_SQL = f"'{JobState.QUEUED.value}', '{JobState.RUNNING.value}'"
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

    max_age_days: float | None = None
    max_bytes: int | None = None
    max_jobs: int | None = None


@dataclass(frozen=True)
class UnusedWorkspaces:
    """Workspaces that go with all their jobs and tables, unless a job uses one of them again.

    Attributes
    ----------
    ids : collection of str
        Their names.
    days : float
        For how many days they were not used.
    """

    ids: Collection[str] = ()
    days: float = 0.0


def awaited_models(connection: sqlite3.Connection) -> set[str]:
    """Return the training jobs whose models are needed by jobs that have not ended."""
    rows = connection.execute(
        f"SELECT model FROM jobs WHERE model IS NOT NULL AND state NOT IN ({_FINAL_SQL})"
    )
    return {row["model"] for row in rows}


def last_uses(connection: sqlite3.Connection, days: float, now: float) -> dict[str, float]:
    """Return when each workspace last put a table, or a job of it gave a sign of life.

    One with a job that waits or runs is in use now, unless that job is silent for four times the
    days after which a workspace goes.
    """
    jobs = connection.execute(
        f"SELECT workspace, max(CASE WHEN state IN ({_ACTIVE_SQL}) "
        f"THEN min(?, {_LAST_SIGN} + ?) ELSE {_LAST_SIGN} END) FROM jobs GROUP BY workspace",
        (now, (PATIENCE - 1) * days * 86400),
    )
    tables = connection.execute(
        "SELECT workspace, max(CAST(put_at AS REAL)) FROM tables GROUP BY workspace"
    )
    uses: dict[str, float] = {}
    for workspace, used_at in (*jobs, *tables):
        uses[workspace] = max(float(used_at), uses.get(workspace, 0.0))
    return uses


def forget_workspaces(connection: sqlite3.Connection, workspaces: Iterable[str]) -> list[str]:
    """Remove the rows of all jobs and tables of some workspaces; return the ids of the jobs.

    An id that is damaged names no folder and is left out.
    """
    jobs: list[str] = []
    for workspace in workspaces:
        owned = connection.execute("SELECT id FROM jobs WHERE workspace = ?", (workspace,))
        jobs.extend(row["id"] for row in owned if is_job_id(row["id"]))
        connection.execute("DELETE FROM jobs WHERE workspace = ?", (workspace,))
        connection.execute("DELETE FROM tables WHERE workspace = ?", (workspace,))
    return jobs


def known_tables(connection: sqlite3.Connection) -> set[str]:
    """Return the tables that any workspace owns."""
    return {row["digest"] for row in connection.execute("SELECT digest FROM tables")}


class Collector:
    """One clean-up. The disk is searched on creation, so that no transaction waits for it."""

    def __init__(
        self, paths: JobPaths, limits: RetentionLimits, unused: UnusedWorkspaces, now: float
    ) -> None:
        self._paths = paths
        self._tables = TableStore(paths.tables)
        self._limits = limits
        self._unused = unused
        self._now = now
        self._bytes = self._measured() if limits.max_bytes is not None else {}
        self._abandoned = self._find_abandoned()

    def forget(self, connection: sqlite3.Connection) -> GarbageReport:
        """Remove outdated rows from the database, and report which files are not needed then."""
        known = known_tables(connection)
        jobs = forget_workspaces(connection, self._still_unused(connection))
        outdated = self._outdated(connection)
        connection.executemany("DELETE FROM jobs WHERE id = ?", [(job_id,) for job_id in outdated])
        jobs += outdated
        connection.execute(
            "DELETE FROM tables WHERE put_at < ? AND NOT EXISTS ("
            "SELECT 1 FROM job_tables JOIN jobs ON jobs.id = job_tables.job_id "
            "WHERE job_tables.digest = tables.digest AND jobs.workspace = tables.workspace)",
            (self._now - GRACE_SECONDS,),
        )
        tables = sorted(known - known_tables(connection))
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
            remove_path(path)

    def remove_folders(self, report: GarbageReport) -> None:
        """Remove the folders of the removed jobs; call it after the transaction."""
        for job_id in report.jobs:
            remove_path(self._paths.job(job_id))

    def _measured(self) -> dict[Path, int]:
        folders = (self._paths.jobs, self._paths.tables)
        return {path: bytes_of(path) for folder in folders for path in folder.iterdir()}

    def _still_unused(self, connection: sqlite3.Connection) -> list[str]:
        """Return the workspaces to remove: those that no job used since they were chosen."""
        days = self._unused.days
        used = last_uses(connection, days, self._now)
        since = self._now - days * 86400
        return [one for one in self._unused.ids if used.get(one, 0.0) < since]

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

    def _find_abandoned(self) -> list[Path]:
        """Return files and folders that nobody can be writing, and that may belong to no job."""
        unfinished = (
            path
            for folder in self._paths.jobs.iterdir()
            if not folder.is_symlink()
            for path in (*folder.glob(".*.tmp"), folder / "result.tmp")
        )
        candidates = (*self._paths.tables.iterdir(), *self._paths.jobs.iterdir(), *unfinished)
        return [path for path in candidates if self._is_abandoned(path)]

    def _leftovers(self, connection: sqlite3.Connection, going: set[str]) -> Iterator[Path]:
        """Yield those of the abandoned files that belong to no job, or to unfinished work."""
        states = {
            row["id"]: row["state"] for row in connection.execute("SELECT id, state FROM jobs")
        }
        needed = known_tables(connection) | going
        for path in self._abandoned:
            if path.parent == self._paths.tables:
                is_leftover = path.stem not in needed
            elif path.parent == self._paths.jobs:
                is_leftover = path.name not in states and path.name not in going
            else:
                is_leftover = states.get(path.parent.name) in _FINAL
            if is_leftover:
                yield path

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
        unused = known_tables(connection) - set(self._users)
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
