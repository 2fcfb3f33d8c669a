"""The queue of jobs: submitting, claiming, reporting and ending them."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind
from pmae_core.jobs.paths import new_job_id
from pmae_core.jobs.processes import ProcessId
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import rows
from pmae_core.jobs.store.folders import JobLabels, write_documents
from pmae_core.jobs.store.part import DEFAULT_WORKSPACE, StorePart
from pmae_core.jobs.store.records import (
    DamagedJob,
    Heartbeat,
    JobProgress,
    JobRecord,
    StaleClaimError,
)

RESUMABLE = (JobState.INTERRUPTED, JobState.CANCELLED, JobState.FAILED)


class JobQueue(StorePart):
    """What engines and workers do with jobs: queue, claim, report, end, cancel and resume them."""

    def submit(
        self,
        spec: JobSpec,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        engine: str = "local",
        name: str | None = None,
    ) -> JobRecord:
        """Put a job into the queue.

        Parameters
        ----------
        spec : JobSpec
            What to do; it is checked once more, since a document may come from anywhere.
        workspace : str
            The owner of the job.
        engine : str
            What will run it.
        name : str, optional
            What the user calls it.
        """
        rows.check_workspace(workspace)
        rows.check_label(engine, name)
        spec.check()
        job_id = new_job_id()
        labels = JobLabels(workspace=workspace, engine=engine, name=name, created_at=time.time())
        with self._database.writing() as connection:
            _check_inputs(connection, spec, workspace)
            rows.insert_job(connection, job_id, spec, labels)
            rows.append_state(connection, job_id, JobState.QUEUED, "submitted")
            self._make_folder(job_id, spec, labels)
        return self.job(job_id)

    def queue_position(self, job_id: str) -> int | None:
        """Return 1 for the job that its engine starts next, and so on; None if not queued."""
        self.paths.job(job_id)  # refuses a malformed id
        with self._database.reading() as connection:
            own = rows.find_job(connection, job_id)
            if own["state"] != JobState.QUEUED:
                return None
            position = connection.execute(
                "SELECT count(*) FROM jobs WHERE state = ? AND engine = ? "
                "AND (queued_at, number) <= (?, ?)",
                (own["state"], own["engine"], own["queued_at"], own["number"]),
            ).fetchone()[0]
        return int(position)

    # Running

    def claim_next(
        self,
        engine: str,
        *,
        running_limit: int,
        gpu_limit: int,
        owner: ProcessId,
        thread_limit: int | None = None,
    ) -> tuple[JobRecord, str] | None:
        """Claim the oldest queued job of an engine for which there is room.

        Jobs may overtake one that waits for a GPU, but not one that waits for threads: many small
        jobs would keep it waiting forever. A job that wants more threads than there are runs
        alone.

        Parameters
        ----------
        engine : str
            The engine that asks.
        running_limit, gpu_limit, thread_limit : int
            Jobs at a time, and devices and threads for all of them.
        owner : ProcessId
            The process that will start the worker.

        Returns
        -------
        JobRecord and token, or None
            None if no job waits or fits.
        """
        with self._database.writing() as connection:
            row = self._next_row(connection, engine, running_limit, gpu_limit, thread_limit)
            if row is None:
                return None
            token, now = secrets.token_hex(16), time.time()
            connection.execute(
                "UPDATE jobs SET state = ?, attempt = attempt + 1, token = ?, starter = ?, "
                "worker = NULL, started_at = ?, heartbeat_at = ?, finished_at = NULL, "
                "memory_mb = NULL WHERE number = ?",
                (JobState.RUNNING, token, rows.to_text(asdict(owner)), now, now, row["number"]),
            )
            rows.append_state(connection, row["id"], JobState.RUNNING, "started")
            return rows.to_record(rows.find_job(connection, row["id"]), self.paths), token

    def _next_row(
        self,
        connection: sqlite3.Connection,
        engine: str,
        running_limit: int,
        gpu_limit: int,
        thread_limit: int | None,
    ) -> sqlite3.Row | None:
        """Return the row of the job to claim next, if there is room for it.

        Damaged ones are failed, so that they do not stop the queue.
        """
        running, threads, gpus = connection.execute(
            "SELECT count(*), total(threads), total(gpus) FROM jobs WHERE state = ? AND engine = ?",
            (JobState.RUNNING, engine),
        ).fetchone()
        if running >= running_limit:
            return None
        while True:
            row: sqlite3.Row | None = connection.execute(
                "SELECT * FROM jobs WHERE state = ? AND engine = ? AND gpus <= ? "
                "ORDER BY queued_at, number LIMIT 1",
                (JobState.QUEUED, engine, gpu_limit - gpus),
            ).fetchone()
            if row is None:
                return None
            if isinstance(rows.read_row(row, self.paths), JobRecord):
                break
            _fail_damaged(connection, row["number"])
        if thread_limit is None or not running:
            return row
        return row if threads + row["threads"] <= thread_limit else None

    def register_worker(self, job_id: str, token: str, worker: ProcessId) -> bool:
        """Note which process runs the job; False if it must not, and has to exit at once."""
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE jobs SET worker = ?, heartbeat_at = ? "
                "WHERE id = ? AND token = ? AND state = ? AND worker IS NULL",
                (rows.to_text(asdict(worker)), time.time(), job_id, token, JobState.RUNNING),
            )
        return changed.rowcount == 1

    def heartbeat(
        self,
        job_id: str,
        token: str,
        *,
        memory_mb: float | None = None,
        progress: JobProgress | None = None,
    ) -> Heartbeat:
        """Report that the worker is alive, and return whether it should go on."""
        claim = (job_id, token, JobState.RUNNING)
        report = (time.time(), memory_mb, progress and rows.to_text(asdict(progress)))
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET heartbeat_at = ?, "
                "memory_mb = nullif(max(coalesce(memory_mb, 0), coalesce(?, 0)), 0), "
                "progress = coalesce(?, progress) WHERE id = ? AND token = ? AND state = ?",
                (*report, *claim),
            )
            row = connection.execute(
                "SELECT cancel_requested_at FROM jobs WHERE id = ? AND token = ? AND state = ?",
                claim,
            ).fetchone()
        if row is None:
            return Heartbeat(cancel_requested=False, holds_claim=False)
        return Heartbeat(cancel_requested=row["cancel_requested_at"] is not None, holds_claim=True)

    def append_events(
        self, job_id: str, token: str, events: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> None:
        """Append events to a running job; a number in them that is not finite becomes None.

        Raises
        ------
        StaleClaimError
            If the token is not that of the job's current claim.
        """
        texts = [(kind, rows.to_text(data)) for kind, data in events]
        with self._database.writing() as connection:
            if not rows.holds_claim(connection, job_id, token):
                raise StaleClaimError(f"The job {job_id} is no longer run by this process.")
            rows.append_events(connection, job_id, texts)

    def set_estimate(self, job_id: str, estimate: Mapping[str, Any]) -> None:
        """Store the estimated cost of a job, or what it took in the end."""
        text = rows.to_text(estimate)
        with self._database.writing() as connection:
            rows.find_job(connection, job_id)
            connection.execute("UPDATE jobs SET estimate = ? WHERE id = ?", (text, job_id))

    # Ending

    def finish(
        self,
        job_id: str,
        token: str,
        state: JobState,
        *,
        error: str | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> bool:
        """End a running job; False if the token is not that of its current claim."""
        if not JobState(state).is_final:
            raise JobError(f"A job cannot end in the state {state}.")
        return self._end(job_id, token, JobState(state), error=error, result=result)

    def interrupt(self, job_id: str, token: str, why: str) -> bool:
        """Note that the worker of a running job is gone; False if the claim is not current.

        A job whose end was requested before becomes cancelled instead of interrupted.
        """
        return self._end(job_id, token, JobState.INTERRUPTED, error=why)

    def _end(
        self,
        job_id: str,
        token: str,
        state: JobState,
        *,
        error: str | None,
        result: Mapping[str, Any] | None = None,
    ) -> bool:
        result_text = None if result is None else rows.to_text(result)
        with self._database.writing() as connection:
            if not rows.holds_claim(connection, job_id, token):
                return False
            row = rows.find_job(connection, job_id)
            if state is JobState.INTERRUPTED and row["cancel_requested_at"] is not None:
                state = JobState.CANCELLED
            connection.execute(
                "UPDATE jobs SET state = ?, error = ?, result = ?, finished_at = ?, token = NULL "
                "WHERE id = ?",
                (state, error, result_text, time.time(), job_id),
            )
            rows.append_state(connection, job_id, state, error or "")
        return True

    def end_damaged(self) -> None:
        """Fail running jobs whose record is damaged: nobody can tell who runs them."""
        with self._database.writing() as connection:
            for row in connection.execute(
                "SELECT * FROM jobs WHERE state = ?", (JobState.RUNNING,)
            ).fetchall():
                if isinstance(rows.read_row(row, self.paths), DamagedJob):
                    _fail_damaged(connection, row["number"])

    # Cancelling and resuming

    def request_cancel(self, job_id: str) -> JobRecord:
        """Cancel a job that does not run; request a running one to stop."""
        with self._database.writing() as connection:
            state = JobState(rows.find_job(connection, job_id)["state"])
            if state is JobState.RUNNING:
                connection.execute(
                    "UPDATE jobs SET cancel_requested_at = coalesce(cancel_requested_at, ?) "
                    "WHERE id = ?",
                    (time.time(), job_id),
                )
            elif not state.is_final:
                now = time.time()
                connection.execute(
                    "UPDATE jobs SET state = ?, cancel_requested_at = ?, finished_at = ? "
                    "WHERE id = ?",
                    (JobState.CANCELLED, now, now, job_id),
                )
                why = f"requested while {state}"
                rows.append_state(connection, job_id, JobState.CANCELLED, why)
        return self.job(job_id)

    def resume(self, job_id: str) -> JobRecord:
        """Queue a job again that was interrupted, cancelled or failed; its files stay."""
        with self._database.writing() as connection:
            state = JobState(rows.find_job(connection, job_id)["state"])
            if state not in RESUMABLE:
                raise JobError(f"The job {job_id} is {state}; there is nothing to resume.")
            connection.execute(
                "UPDATE jobs SET state = ?, queued_at = ?, finished_at = NULL, error = NULL, "
                "cancel_requested_at = NULL, starter = NULL, worker = NULL WHERE id = ?",
                (JobState.QUEUED, time.time(), job_id),
            )
            rows.append_state(connection, job_id, JobState.QUEUED, f"resumed after {state}")
        return self.job(job_id)

    def _make_folder(self, job_id: str, spec: JobSpec, labels: JobLabels) -> None:
        try:
            folder = self.paths.job(job_id)
            folder.mkdir(mode=0o700)
            write_documents(folder, spec, labels)
        except OSError as error:
            raise JobError(
                f"The folder of the job cannot be made: {error}. "
                "Make room there, or set PMAE_HOME to another folder."
            ) from error


def _check_inputs(connection: sqlite3.Connection, spec: JobSpec, workspace: str) -> None:
    """Refuse tables and models that are not the workspace's."""
    for digest in spec.tables:
        rows.check_owned(connection, digest, workspace)
    if spec.model is not None:
        model = rows.find_job(connection, spec.model, workspace)
        if (model["kind"], model["state"]) != (JobKind.TRAIN, JobState.SUCCEEDED):
            raise JobError(
                f"The job {spec.model} ({model['kind']}, {model['state']}) has no model. "
                "Choose a training job that succeeded."
            )


def _fail_damaged(connection: sqlite3.Connection, number: int) -> None:
    """End a job whose record is damaged; its worker stops at its next report."""
    connection.execute(
        "UPDATE jobs SET state = ?, token = NULL, finished_at = ? WHERE number = ?",
        (JobState.FAILED, time.time(), number),
    )
