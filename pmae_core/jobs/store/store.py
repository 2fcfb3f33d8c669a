"""The store of jobs: a SQLite file for what they are, a folder a job for what they give."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind
from pmae_core.jobs.paths import JobPaths, new_job_id
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import retention
from pmae_core.jobs.store.database import Database
from pmae_core.jobs.store.records import (
    GarbageReport,
    Heartbeat,
    JobEvent,
    JobProgress,
    JobRecord,
    ProcessId,
    StaleClaimError,
)
from pmae_core.storage.files import write_whole
from pmae_core.storage.home import pmae_home
from pmae_core.storage.json_values import without_nan
from pmae_core.storage.tables import TableStore

WORKSPACE = "local"
MAX_NAME = 200

__all__ = [
    "WORKSPACE",
    "GarbageReport",
    "Heartbeat",
    "JobEvent",
    "JobProgress",
    "JobRecord",
    "JobStore",
    "ProcessId",
    "StaleClaimError",
]

_WORKSPACE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ENGINE = re.compile(r"[a-z][a-z0-9-]{0,31}")
_RESUMABLE = (JobState.INTERRUPTED, JobState.CANCELLED, JobState.FAILED)


class JobStore:
    """All jobs of a home. Several processes and threads may use it at once.

    Parameters
    ----------
    home : path, optional
        The folder; :func:`pmae_core.storage.home.pmae_home` by default.

    Raises
    ------
    JobError
        If the folder cannot be used, or is of a newer release. Every other method, too, raises
        it with a sentence where something cannot be done.

    Notes
    -----
    A *workspace* is an opaque name for whose jobs and tables these are. A job can use only the
    tables and models of its own workspace.

    Who runs a job holds its *token*, made anew by each claim. Whatever a worker writes is
    refused once its token is not the job's current one, so that a job which was given up
    and started again never has two voices.
    """

    def __init__(self, home: str | Path | None = None) -> None:
        self.paths = JobPaths(pmae_home() if home is None else home)
        self.paths.make()
        self._tables = TableStore(self.paths)
        self._database = Database(self.paths.database)

    @property
    def home(self) -> Path:
        """The folder of the store."""
        return self.paths.home

    def close(self) -> None:
        """Close this thread's connection; the next use opens one again."""
        self._database.close()

    # Tables

    def put_table(self, frame: pd.DataFrame, workspace: str = WORKSPACE) -> str:
        """Keep a table and return its digest; the same content is kept once for all."""
        _check_workspace(workspace)
        encoded = self._tables.encode(frame)
        with self._database.writing() as connection:
            # First the name, then the file: a clean-up in between sees that it is wanted.
            connection.execute(
                "INSERT INTO tables (digest, workspace, put_at) VALUES (?, ?, ?) "
                "ON CONFLICT (digest, workspace) DO UPDATE SET put_at = excluded.put_at",
                (encoded.digest, workspace, time.time()),
            )
        self._tables.write(encoded)
        return encoded.digest

    def get_table(self, digest: str, workspace: str = WORKSPACE) -> pd.DataFrame:
        """Return a table that this workspace has put."""
        with self._database.reading() as connection:
            _check_owned(connection, digest, workspace)
        return self._tables.get(digest)

    # Submitting and looking

    def submit(
        self,
        spec: JobSpec,
        workspace: str = WORKSPACE,
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
            Whose job it is.
        engine : str
            What will run it.
        name : str, optional
            What the user calls it.
        """
        _check_workspace(workspace)
        _check_label(engine, name)
        spec.check()
        job_id, text, now = new_job_id(), spec.to_json(), time.time()
        with self._database.writing() as connection:
            self._check_inputs(connection, spec, workspace)
            connection.execute(
                "INSERT INTO jobs (id, workspace, name, kind, state, engine, threads, gpus, "
                "model, created_at, queued_at, spec) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    job_id,
                    workspace,
                    name,
                    spec.kind,
                    JobState.QUEUED,
                    engine,
                    spec.resources.threads,
                    spec.resources.gpus,
                    spec.model,
                    now,
                    now,
                    text,
                ),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO job_tables (digest, job_id) VALUES (?, ?)",
                [(digest, job_id) for digest in spec.tables],
            )
            _note_state(connection, job_id, JobState.QUEUED, "submitted")
            self._make_folder(job_id, text)
        return self.job(job_id)

    def job(self, job_id: str, workspace: str | None = None) -> JobRecord:
        """Return a job; with a workspace, only if it is that workspace's."""
        self.paths.job(job_id)
        with self._database.reading() as connection:
            return self._record(_job_row(connection, job_id, workspace))

    def find(self, prefix: str, workspace: str | None = None) -> JobRecord:
        """Return the one job whose id begins like this."""
        if not re.fullmatch("[0-9a-f]{1,32}", prefix):
            raise JobError(f"{prefix!r} is no beginning of a job's id: those are of 0-9a-f.")
        where, values = _filter(workspace, None, None)
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT * FROM jobs WHERE {where} AND id >= ? AND id < ? LIMIT 2",
                (*values, prefix, prefix + "g"),
            ).fetchall()
        if len(rows) != 1:
            found = "More than one job begins" if rows else "There is no job that begins"
            raise JobError(f"{found} with {prefix}.")
        return self._record(rows[0])

    def jobs(
        self,
        workspace: str | None = None,
        states: Iterable[JobState | str] | None = None,
        kinds: Iterable[JobKind | str] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[JobRecord]:
        """Return jobs, newest first; of all workspaces, states and kinds where none is given."""
        where, values = _filter(workspace, states, kinds)
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM jobs WHERE number IN ("
                f"SELECT number FROM jobs INDEXED BY jobs_listed WHERE {where} "
                "ORDER BY number DESC LIMIT ? OFFSET ?) ORDER BY number DESC",
                (*values, limit, offset),
            ).fetchall()
        return [self._record(row) for row in rows]

    def count(
        self,
        workspace: str | None = None,
        states: Iterable[JobState | str] | None = None,
        kinds: Iterable[JobKind | str] | None = None,
    ) -> int:
        """Return how many jobs there are; of all workspaces, states and kinds where not given."""
        where, values = _filter(workspace, states, kinds)
        with self._database.reading() as connection:
            query = f"SELECT count(*) FROM jobs INDEXED BY jobs_listed WHERE {where}"
            return int(connection.execute(query, values).fetchone()[0])

    def queue_position(self, job_id: str) -> int | None:
        """Return 1 for the job that its engine starts next, and so on; None if not queued."""
        self.paths.job(job_id)
        with self._database.reading() as connection:
            own = _job_row(connection, job_id)
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
        """Take the oldest queued job of an engine for which there is room.

        A job that waits for a GPU lets others pass; one that waits for threads does not, or many
        small ones would keep it waiting for ever. One that wants more threads than there are
        runs alone.

        Parameters
        ----------
        engine : str
            Whose jobs.
        running_limit, gpu_limit, thread_limit : int
            Jobs at a time, and devices and threads for all of them.
        owner : ProcessId
            The process that will start the worker.

        Returns
        -------
        JobRecord and token, or None
            None where nothing waits or fits.
        """
        with self._database.writing() as connection:
            row = _next_row(connection, engine, running_limit, gpu_limit, thread_limit)
            if row is None:
                return None
            token, now = secrets.token_hex(16), time.time()
            connection.execute(
                "UPDATE jobs SET state = ?, attempt = attempt + 1, token = ?, starter = ?, "
                "worker = NULL, started_at = ?, heartbeat_at = ?, finished_at = NULL, "
                "memory_mb = NULL WHERE number = ?",
                (JobState.RUNNING, token, _text(asdict(owner)), now, now, row["number"]),
            )
            _note_state(connection, row["id"], JobState.RUNNING, "started")
            return self._record(_job_row(connection, row["id"])), token

    def register_worker(self, job_id: str, token: str, pid: int, created: float, host: str) -> bool:
        """Say which process runs the job; False if it must not, and has to exit at once."""
        worker = _text(asdict(ProcessId(pid, created, host)))
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE jobs SET worker = ?, heartbeat_at = ? "
                "WHERE id = ? AND token = ? AND state = ? AND worker IS NULL",
                (worker, time.time(), job_id, token, JobState.RUNNING),
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
        """Give a sign of life, and learn what is wished."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET heartbeat_at = ?, "
                "memory_mb = nullif(max(coalesce(memory_mb, 0), coalesce(?, 0)), 0), "
                "progress = coalesce(?, progress) WHERE id = ? AND token = ? AND state = ?",
                (
                    time.time(),
                    memory_mb,
                    progress and _text(asdict(progress)),
                    job_id,
                    token,
                    JobState.RUNNING,
                ),
            )
            row = connection.execute(
                "SELECT cancel_requested_at FROM jobs WHERE id = ? AND token = ? AND state = ?",
                (job_id, token, JobState.RUNNING),
            ).fetchone()
        if row is None:
            return Heartbeat(cancel_requested=False, still_mine=False)
        return Heartbeat(cancel_requested=row["cancel_requested_at"] is not None, still_mine=True)

    def append_events(
        self, job_id: str, token: str, events: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> None:
        """Add to what happened; a figure in it that is not finite becomes None.

        Raises
        ------
        StaleClaimError
            If the token is not that of the job's current claim.
        """
        texts = [(kind, _text(data)) for kind, data in events]
        with self._database.writing() as connection:
            if not _is_current(connection, job_id, token):
                raise StaleClaimError(f"The job {job_id} is no longer run by this process.")
            _append(connection, job_id, texts)

    def events(self, job_id: str, after: int = 0, limit: int | None = None) -> list[JobEvent]:
        """Return what happened to a job since the event with the number `after`, in order."""
        self.paths.job(job_id)
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT seq, time, attempt, kind, data FROM events "
                "WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?",
                (job_id, after, -1 if limit is None else limit),
            ).fetchall()
        return [
            JobEvent(row["seq"], row["time"], row["attempt"], row["kind"], json.loads(row["data"]))
            for row in rows
        ]

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
        """Note that the worker of a running job is gone; False if the claim was another.

        A job whose end was asked for before is cancelled with that.
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
        result_text = None if result is None else _text(result)
        with self._database.writing() as connection:
            if not _is_current(connection, job_id, token):
                return False
            row = _job_row(connection, job_id)
            if state is JobState.INTERRUPTED and row["cancel_requested_at"] is not None:
                state = JobState.CANCELLED
            connection.execute(
                "UPDATE jobs SET state = ?, error = ?, result = ?, finished_at = ?, token = NULL "
                "WHERE id = ?",
                (state, error, result_text, time.time(), job_id),
            )
            _note_state(connection, job_id, state, error or "")
        return True

    # Changing one's mind

    def request_cancel(self, job_id: str) -> JobRecord:
        """Ask a job to stop: one that does not run is cancelled at once, a running one asked."""
        with self._database.writing() as connection:
            state = JobState(_job_row(connection, job_id)["state"])
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
                _note_state(connection, job_id, JobState.CANCELLED, f"asked for while {state}")
        return self.job(job_id)

    def resume(self, job_id: str) -> JobRecord:
        """Queue a job again that was interrupted, cancelled or failed; its files stay."""
        with self._database.writing() as connection:
            state = JobState(_job_row(connection, job_id)["state"])
            if state not in _RESUMABLE:
                raise JobError(f"The job {job_id} is {state}; there is nothing to resume.")
            connection.execute(
                "UPDATE jobs SET state = ?, queued_at = ?, finished_at = NULL, error = NULL, "
                "cancel_requested_at = NULL, starter = NULL, worker = NULL WHERE id = ?",
                (JobState.QUEUED, time.time(), job_id),
            )
            _note_state(connection, job_id, JobState.QUEUED, f"resumed after {state}")
        return self.job(job_id)

    def set_estimate(self, job_id: str, estimate: Mapping[str, Any]) -> None:
        """Note what the job was expected to cost, or did."""
        text = _text(estimate)
        with self._database.writing() as connection:
            _job_row(connection, job_id)
            connection.execute("UPDATE jobs SET estimate = ? WHERE id = ?", (text, job_id))

    def delete(self, job_id: str) -> None:
        """Remove a job with all its files; not one that runs or whose model is waited for."""
        folder = self.paths.job(job_id)
        with self._database.writing() as connection:
            if _job_row(connection, job_id)["state"] == JobState.RUNNING:
                raise JobError(f"The job {job_id} is running; cancel it first.")
            if job_id in retention.awaited_models(connection):
                raise JobError(f"The model of the job {job_id} is wanted by a job to come.")
            connection.execute("DELETE FROM jobs WHERE id = ?", (job_id,))
        shutil.rmtree(folder, ignore_errors=True)

    def collect_garbage(
        self,
        *,
        max_age_days: float | None = None,
        max_bytes: int | None = None,
        max_jobs: int | None = None,
        now: float | None = None,
        dry_run: bool = False,
    ) -> GarbageReport:
        """Remove old jobs, tables that nobody needs, and what broken work left behind.

        Jobs that succeeded, failed or were cancelled go, the oldest first. Others go only after
        four times the age without a sign of life. Without any limit no job goes.

        Parameters
        ----------
        max_age_days : float, optional
            Jobs that ended before go.
        max_bytes : int, optional
            Jobs go until folders and tables together take no more.
        max_jobs : int, optional
            Jobs go until no more of those that ended are left.
        now : float, optional
            The time to count from; that of the clock by default.
        dry_run : bool, default False
            Only say what would go.
        """
        limits = retention.RetentionLimits(max_age_days, max_bytes, max_jobs)
        collector = retention.Collector(self.paths, limits, time.time() if now is None else now)
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

    def _check_inputs(self, connection: sqlite3.Connection, spec: JobSpec, workspace: str) -> None:
        for digest in spec.tables:
            _check_owned(connection, digest, workspace)
        if spec.model is not None:
            model = _job_row(connection, spec.model, workspace)
            if (model["kind"], model["state"]) != (JobKind.TRAIN, JobState.SUCCEEDED):
                raise JobError(
                    f"The job {spec.model} ({model['kind']}, {model['state']}) has no model; "
                    "name a training job that succeeded."
                )

    def _make_folder(self, job_id: str, spec_text: str) -> None:
        try:
            folder = self.paths.job(job_id)
            folder.mkdir(mode=0o700)
            write_whole(folder / "spec.json", spec_text + "\n")
        except OSError as error:
            raise JobError(f"The folder of a job cannot be made: {error}.") from error

    def _record(self, row: sqlite3.Row) -> JobRecord:
        same = (
            "id", "workspace", "name", "engine", "attempt", "created_at", "queued_at",
            "started_at", "finished_at", "heartbeat_at", "cancel_requested_at", "error",
            "memory_mb", "token",
        )  # fmt: skip
        progress, starter, worker, estimate, result = (
            None if row[name] is None else json.loads(row[name])
            for name in ("progress", "starter", "worker", "estimate", "result")
        )
        return JobRecord(
            **{name: row[name] for name in same},
            kind=JobKind(row["kind"]),
            state=JobState(row["state"]),
            progress=progress and JobProgress(**progress),
            starter=starter and ProcessId(**starter),
            worker=worker and ProcessId(**worker),
            estimate=estimate,
            result=result,
            spec_json=row["spec"],
            paths=self.paths,
        )


def _check_workspace(workspace: str) -> None:
    if not isinstance(workspace, str) or not _WORKSPACE.fullmatch(workspace):
        raise JobError(
            f"{workspace!r} is no name of a workspace: those have 1 to 64 of A-Z a-z 0-9 _ -."
        )


def _check_label(engine: str, name: str | None) -> None:
    if not _ENGINE.fullmatch(engine):
        raise JobError(f"{engine!r} is no name of an engine.")
    if name is not None and not (0 < len(name) <= MAX_NAME and name.isprintable()):
        raise JobError(f"A job's name has 1 to {MAX_NAME} characters and no line breaks.")


def _check_owned(connection: sqlite3.Connection, digest: str, workspace: str) -> None:
    _check_workspace(workspace)
    owned = connection.execute(
        "SELECT 1 FROM tables WHERE digest = ? AND workspace = ?", (digest, workspace)
    ).fetchone()
    if owned is None:
        raise JobError(f"This workspace has no table {digest}.")


def _job_row(
    connection: sqlite3.Connection, job_id: str, workspace: str | None = None
) -> sqlite3.Row:
    where, values = _filter(workspace, None, None)
    query = f"SELECT * FROM jobs WHERE {where} AND id = ?"
    row: sqlite3.Row | None = connection.execute(query, (*values, job_id)).fetchone()
    if row is None:
        # Whether another workspace has it is none of the caller's business.
        raise JobError(f"There is no job {job_id}.")
    return row


def _filter(
    workspace: str | None,
    states: Iterable[JobState | str] | None,
    kinds: Iterable[JobKind | str] | None,
) -> tuple[str, list[str]]:
    """Return a condition in SQL with its values."""
    conditions: list[str] = ["1"]
    values: list[str] = []
    if workspace is not None:
        _check_workspace(workspace)
        conditions.append("workspace = ?")
        values.append(workspace)
    for column, members, wanted in (("state", JobState, states), ("kind", JobKind, kinds)):
        if wanted is not None:
            chosen = [_member_value(members, value) for value in wanted]
            conditions.append(f"{column} IN ({', '.join('?' * len(chosen))})")
            values.extend(chosen)
    return " AND ".join(conditions), values


def _member_value(members: type[JobState] | type[JobKind], value: str) -> str:
    try:
        return members(value).value
    except ValueError:
        raise JobError(f"{value!r} is none of: {', '.join(members)}.") from None


def _next_row(
    connection: sqlite3.Connection,
    engine: str,
    running_limit: int,
    gpu_limit: int,
    thread_limit: int | None,
) -> sqlite3.Row | None:
    running, threads, gpus = connection.execute(
        "SELECT count(*), total(threads), total(gpus) FROM jobs WHERE state = ? AND engine = ?",
        (JobState.RUNNING, engine),
    ).fetchone()
    if running >= running_limit:
        return None
    row: sqlite3.Row | None = connection.execute(
        "SELECT number, id, threads FROM jobs WHERE state = ? AND engine = ? AND gpus <= ? "
        "ORDER BY queued_at, number LIMIT 1",
        (JobState.QUEUED, engine, gpu_limit - gpus),
    ).fetchone()
    if row is None or thread_limit is None or not running:
        return row
    return row if threads + row["threads"] <= thread_limit else None


def _is_current(connection: sqlite3.Connection, job_id: str, token: str) -> bool:
    row = connection.execute(
        "SELECT 1 FROM jobs WHERE id = ? AND token = ? AND state = ?",
        (job_id, token, JobState.RUNNING),
    ).fetchone()
    return row is not None


def _note_state(connection: sqlite3.Connection, job_id: str, state: JobState, why: str) -> None:
    _append(connection, job_id, [("state", _text({"state": state.value, "why": why}))])


def _append(connection: sqlite3.Connection, job_id: str, events: Sequence[tuple[str, str]]) -> None:
    last, attempt = connection.execute(
        "SELECT (SELECT coalesce(max(seq), 0) FROM events WHERE job_id = id), attempt "
        "FROM jobs WHERE id = ?",
        (job_id,),
    ).fetchone()
    now = time.time()
    connection.executemany(
        "INSERT INTO events (job_id, seq, time, attempt, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (job_id, seq, now, attempt, kind, text)
            for seq, (kind, text) in enumerate(events, start=last + 1)
        ],
    )


def _text(data: Mapping[str, Any]) -> str:
    """Return data as JSON text; a number that is not finite becomes null."""
    try:
        return json.dumps(without_nan(data), allow_nan=False)
    except TypeError as error:
        raise JobError(f"This cannot be kept as JSON: {error}.") from error
