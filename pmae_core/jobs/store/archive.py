"""The archive of jobs: finding them, their events, and removing them."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Collection, Iterable

from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind, is_job_id
from pmae_core.jobs.processes import ProcessId
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store import retention, rows
from pmae_core.jobs.store.copies import erase_from_copies
from pmae_core.jobs.store.part import StorePart
from pmae_core.jobs.store.records import (
    DamagedJob,
    GarbageReport,
    JobEvent,
    JobListing,
    JobRecord,
)
from pmae_core.jobs.store.recovery import Restoration, restorations
from pmae_core.storage.digests import is_digest
from pmae_core.storage.disk import bytes_of
from pmae_core.storage.tables import TableStore

_PREFIX = re.compile("[0-9a-f]{1,32}")


class JobArchive(StorePart):
    """What people do with jobs: list, find, follow and remove them."""

    def find(self, prefix: str, workspace: str | None = None) -> JobRecord:
        """Return the one job whose id begins with a prefix."""
        if not _PREFIX.fullmatch(prefix):
            raise JobError(
                f"{prefix!r} is not the beginning of a job id. Use 1 to 32 characters of 0-9a-f."
            )
        where, values = rows.condition(workspace)
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT * FROM jobs WHERE {where} AND id >= ? AND id < ? LIMIT 2",
                (*values, prefix, prefix + "g"),
            ).fetchall()
        if not found:
            raise JobError(f"There is no job whose id begins with {prefix}.")
        if len(found) > 1:
            raise JobError(
                f"More than one job has an id that begins with {prefix}. Give more characters."
            )
        return rows.to_record(found[0], self.paths)

    def jobs(
        self,
        workspace: str | None = None,
        states: Iterable[JobState | str] | None = None,
        kinds: Iterable[JobKind | str] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[JobRecord]:
        """Return jobs, newest first; of every workspace, state and kind unless given.

        Jobs whose record is damaged are left out, see :meth:`listing`.
        """
        return self.listing(workspace, states, kinds, limit, offset).jobs

    def listing(
        self,
        workspace: str | None = None,
        states: Iterable[JobState | str] | None = None,
        kinds: Iterable[JobKind | str] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> JobListing:
        """Return jobs, and beside them those whose record is damaged."""
        where, values = rows.condition(workspace, states, kinds)
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT * FROM jobs WHERE number IN ("
                f"SELECT number FROM jobs INDEXED BY jobs_listed WHERE {where} "
                "ORDER BY number DESC LIMIT ? OFFSET ?) ORDER BY number DESC",
                (*values, limit, offset),
            ).fetchall()
        read = [rows.read_row(row, self.paths) for row in found]
        return JobListing(
            jobs=[one for one in read if isinstance(one, JobRecord)],
            damaged=[one for one in read if isinstance(one, DamagedJob)],
        )

    def count(
        self,
        workspace: str | None = None,
        states: Iterable[JobState | str] | None = None,
        kinds: Iterable[JobKind | str] | None = None,
    ) -> int:
        """Return the number of jobs; of every workspace, state and kind unless given."""
        where, values = rows.condition(workspace, states, kinds)
        with self._database.reading() as connection:
            query = f"SELECT count(*) FROM jobs INDEXED BY jobs_listed WHERE {where}"
            return int(connection.execute(query, values).fetchone()[0])

    def events(self, job_id: str, after: int = 0, limit: int | None = None) -> list[JobEvent]:
        """Return the events of a job after the one with the number `after`, in order.

        One whose data cannot be read is of the kind "damaged".
        """
        self.paths.job(job_id)  # refuses a malformed id
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT seq, time, attempt, kind, data FROM events "
                "WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?",
                (job_id, after, -1 if limit is None else limit),
            ).fetchall()
        return [rows.to_event(row) for row in found]

    def delete(self, job_id: str) -> None:
        """Remove a job with all its files; not while it runs or a waiting job needs its model."""
        folder = self.paths.job(job_id)
        with self._database.writing() as connection:
            if rows.find_job(connection, job_id)["state"] == JobState.RUNNING:
                raise JobError(f"The job {job_id} is running. Cancel it first.")
            if job_id in retention.awaited_models(connection):
                raise JobError(
                    f"The model of the job {job_id} is needed by a job that has not ended. "
                    "Cancel that job or let it end first."
                )
            connection.execute("DELETE FROM jobs WHERE id = ?", (job_id,))
        shutil.rmtree(folder, ignore_errors=True)

    def delete_damaged(self, number: int, workspace: str | None = None) -> None:
        """Remove a job whose record is damaged, with all its files; not one that can be read."""
        where, values = rows.condition(workspace)
        with self._database.writing() as connection:
            query = f"SELECT * FROM jobs WHERE {where} AND number = ?"
            row = connection.execute(query, (*values, number)).fetchone()
            if row is None:
                return  # removed in another tab
            job = rows.read_row(row, self.paths)
            if isinstance(job, JobRecord):
                raise JobError(f"The record of the job {job.id} is not damaged.")
            connection.execute("DELETE FROM jobs WHERE number = ?", (number,))
        if job.id is not None:
            shutil.rmtree(self.paths.job(job.id), ignore_errors=True)

    def restorations(self) -> list[Restoration]:
        """Return how the database was restored after damage, the newest first."""
        return restorations(self.paths)

    # Clean-ups

    def collect_garbage(
        self,
        *,
        max_age_days: float | None = None,
        max_bytes: int | None = None,
        max_jobs: int | None = None,
        unused_workspaces: Collection[str] = (),
        unused_days: float = 0.0,
        now: float | None = None,
        dry_run: bool = False,
    ) -> GarbageReport:
        """Remove old jobs, tables that no job needs, and leftovers of broken work.

        Jobs that succeeded, failed or were cancelled are removed, the oldest first. Others are
        removed only after four times the age without a sign of life. Without a limit no job is
        removed.

        Parameters
        ----------
        max_age_days : float, optional
            Remove jobs that ended longer ago.
        max_bytes : int, optional
            Remove jobs until folders and tables together take no more.
        max_jobs : int, optional
            Remove jobs until at most so many of those that ended are left.
        unused_workspaces : collection of str, optional
            Remove all jobs and tables of these workspaces, except of those that put a table or
            had a sign of life of a job within `unused_days`.
        unused_days : float, default 0
            For how many days they were not used.
        now : float, optional
            The time to count from; the clock's by default.
        dry_run : bool, default False
            Only report what would be removed.
        """
        limits = retention.RetentionLimits(max_age_days, max_bytes, max_jobs)
        unused = retention.UnusedWorkspaces(unused_workspaces, unused_days)
        now = time.time() if now is None else now
        collector = retention.Collector(self.paths, limits, unused, now)
        with self._database.writing() as connection:
            connection.execute("SAVEPOINT before")
            report = collector.forget(connection)
            if dry_run:
                connection.execute("ROLLBACK TO before")
            else:
                collector.remove_shared(report)
        if not dry_run:
            collector.remove_folders(report)
        return report

    def last_uses(self, days: float, now: float | None = None) -> dict[str, float]:
        """Return when each workspace last put a table, or a job of it gave a sign of life.

        One with a job that waits or runs is in use now, unless that job has been silent for four
        times so many days.
        """
        now = time.time() if now is None else now
        with self._database.reading() as connection:
            return retention.last_uses(connection, days, now)

    def forget_workspace(self, workspace: str) -> tuple[GarbageReport, list[ProcessId]]:
        """Remove all jobs and tables of a workspace from the store, whatever their state.

        The folders of the jobs stay, since a worker may still write there until it notices that
        it lost its claim: end it, then remove them, as
        :meth:`~pmae_core.jobs.engines.Engine.remove_workspace` does.

        Returns
        -------
        GarbageReport, list of ProcessId
            Which jobs, and which tables that nobody else owns; and the workers of jobs that ran.
        """
        with self._database.writing() as connection:
            running = connection.execute(
                "SELECT worker FROM jobs WHERE workspace = ? AND state = ? AND worker IS NOT NULL",
                (workspace, JobState.RUNNING),
            )
            workers = [worker for row in running if (worker := _process(row["worker"]))]
            known = retention.known_tables(connection)
            ids = retention.forget_workspaces(connection, [workspace])
            files = TableStore(self.paths.tables)
            tables = sorted(known - retention.known_tables(connection))
            n_bytes = sum(bytes_of(files.path(digest)) for digest in tables)
            for digest in tables:
                files.path(digest).unlink(missing_ok=True)
        return GarbageReport(ids, tables, [], n_bytes), workers

    def bytes_of_workspace(self, workspace: str) -> int:
        """Return how much the jobs and tables of a workspace take on disk.

        A table that others own, too, counts in full.
        """
        with self._database.reading() as connection:
            jobs = connection.execute("SELECT id FROM jobs WHERE workspace = ?", (workspace,))
            ids = [row["id"] for row in jobs if is_job_id(row["id"])]
            tables = connection.execute(
                "SELECT digest FROM tables WHERE workspace = ?", (workspace,)
            )
            digests = [row["digest"] for row in tables if is_digest(row["digest"])]
        files = TableStore(self.paths.tables)
        paths = (*map(self.paths.job, ids), *map(files.path, digests))
        return sum(map(bytes_of, paths))

    def erase_traces(self, workspace: str) -> None:
        """Leave nothing of a forgotten workspace: not in the database's file, log or backups.

        Raises
        ------
        JobError
            If other processes use the database all the time.
        """
        erase_from_copies(self.home, workspace)
        self.compact()

    def compact(self) -> None:
        """Write the database anew, without the room that removed jobs took.

        Raises
        ------
        JobError
            If other processes use it all the time.
        """
        self._database.compact()

    def is_sparse(self) -> bool:
        """Return whether much of the database's file is unused, so that compacting it pays."""
        return self._database.unused_share() > retention.MOST_UNUSED


def _process(text: str) -> ProcessId | None:
    """Return a process as it was noted; None if that is damaged."""
    try:
        return ProcessId.from_dict(dict(json.loads(text)))
    except (TypeError, ValueError):
        return None
