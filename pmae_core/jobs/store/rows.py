"""Rows of the database: checks before they are written, queries that several parts share."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Json, ValidationError

from pmae_core.documents import collected
from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind, is_job_id
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.processes import ProcessId
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store.folders import JobLabels
from pmae_core.jobs.store.records import (
    DAMAGED_EVENT,
    DamagedJob,
    JobEvent,
    JobProgress,
    JobRecord,
    read_spec,
)
from pmae_core.storage.json_values import without_nan
from pmae_core.words import listed

MAX_NAME = 200

_WORKSPACE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ENGINE = re.compile(r"[a-z][a-z0-9-]{0,31}")


# Checks


def check_workspace(workspace: str) -> None:
    """Refuse a malformed name of a workspace."""
    if not isinstance(workspace, str) or not _WORKSPACE.fullmatch(workspace):
        raise JobError(
            f"{workspace!r} is not the name of a workspace. "
            "Use 1 to 64 characters of A-Z, a-z, 0-9, _ and -."
        )


def check_label(engine: str, name: str | None) -> None:
    """Refuse a malformed name of an engine or a job."""
    if not _ENGINE.fullmatch(engine):
        raise JobError(f"{engine!r} is not the name of an engine. Use local or ray.")
    if name is not None and not (0 < len(name) <= MAX_NAME and name.isprintable()):
        raise JobError(f"A job's name has 1 to {MAX_NAME} characters and no line breaks.")


def check_owned(connection: sqlite3.Connection, digest: str, workspace: str) -> None:
    """Refuse a table that is not the workspace's."""
    check_workspace(workspace)
    owned = connection.execute(
        "SELECT 1 FROM tables WHERE digest = ? AND workspace = ?", (digest, workspace)
    ).fetchone()
    if owned is None:
        raise JobError(f"This workspace has no table {digest}. Put the table into it first.")


# Jobs


def find_job(
    connection: sqlite3.Connection, job_id: str, workspace: str | None = None
) -> sqlite3.Row:
    """Return the row of a job; with a workspace, only if it belongs to that workspace."""
    where, values = condition(workspace)
    query = f"SELECT * FROM jobs WHERE {where} AND id = ?"
    row: sqlite3.Row | None = connection.execute(query, (*values, job_id)).fetchone()
    if row is None:
        # The same sentence whether or not another workspace has it.
        raise JobError(f"There is no job {job_id}.")
    return row


def condition(
    workspace: str | None,
    states: Iterable[JobState | str] | None = None,
    kinds: Iterable[JobKind | str] | None = None,
) -> tuple[str, list[str]]:
    """Return a condition in SQL with its values."""
    conditions: list[str] = ["1"]
    values: list[str] = []
    if workspace is not None:
        check_workspace(workspace)
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
        choices = listed(members, most=len(members), last="or")
        raise JobError(f"{value!r} is unknown. Choose {choices}.") from None


class _Result(BaseModel):
    """What lists of runs read of a result; there is more in it."""

    model_config = ConfigDict(strict=True)

    n_imputed: int | None = None
    n_imputations: int = 0
    training: dict[str, Any] | None = None
    still_missing: dict[str, Any] | None = None
    shares: dict[str, Any] | None = None
    notes: list[str] = []
    files: list[str] = []


def _result(content: dict[str, Any]) -> dict[str, Any]:
    _Result.model_validate(content)
    return content


def _spec(text: str) -> str:
    with collected():
        read_spec(text)
    return text


def _job_id(text: str) -> str:
    if not is_job_id(text):
        raise ValueError("not a job id")
    return text


_COLUMN_WORDS = {
    "spec": "specification",
    "attempt": "number of attempts",
    "threads": "number of threads",
    "gpus": "number of GPUs",
    "created_at": "time of submission",
    "queued_at": "time of queuing",
    "started_at": "time of starting",
    "finished_at": "time of ending",
    "heartbeat_at": "last report",
    "cancel_requested_at": "time of cancellation",
    "memory_mb": "memory",
}


_Process = Annotated[dict[str, Any], AfterValidator(ProcessId.from_dict)]


class _Row(BaseModel):
    """A row of the table of jobs, as far as records are made of it; other columns are ignored."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    id: Annotated[str, AfterValidator(_job_id)]
    workspace: str
    name: str | None
    kind: Annotated[JobKind, Field(strict=False)]
    state: Annotated[JobState, Field(strict=False)]
    engine: str
    threads: int
    gpus: int
    attempt: int
    token: str | None
    created_at: float
    queued_at: float
    started_at: float | None
    finished_at: float | None
    heartbeat_at: float | None
    cancel_requested_at: float | None
    memory_mb: float | None
    starter: Json[_Process] | None
    worker: Json[_Process] | None
    progress: Json[JobProgress] | None
    error: str | None
    estimate: Json[dict[str, Any]] | None
    result: Json[Annotated[dict[str, Any], AfterValidator(_result)]] | None
    spec: Annotated[str, AfterValidator(_spec)]


def to_record(row: sqlite3.Row, paths: JobPaths) -> JobRecord:
    """Return the record of a row.

    Raises
    ------
    JobError
        If the row is damaged.
    """
    read = read_row(row, paths)
    if isinstance(read, DamagedJob):
        raise JobError(f"The record of the job {read.id} is damaged. {read.why}")
    return read


def read_row(row: sqlite3.Row, paths: JobPaths) -> JobRecord | DamagedJob:
    """Return the record of a row, or what can be told of a damaged one."""
    stored = dict(row)
    for column, value in stored.items():
        if isinstance(value, str) and not _is_unicode(value):
            return _damaged(row, column)
    try:
        values = dict(vars(_Row.model_validate(stored)))
    except ValidationError as error:
        return _damaged(row, str(error.errors(include_url=False)[0]["loc"][0]))
    not_in_record = {name: values.pop(name) for name in ("threads", "gpus", "spec")}
    return JobRecord(**values, spec_json=not_in_record["spec"], paths=paths)


def _is_unicode(text: str) -> bool:
    """Return whether a text has no bytes in it that were not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _damaged(row: sqlite3.Row, column: str) -> DamagedJob:
    job_id, name, created_at = row["id"], row["name"], row["created_at"]
    is_time = isinstance(created_at, float) and math.isfinite(created_at)
    return DamagedJob(
        number=row["number"],
        id=job_id if is_job_id(job_id) else None,
        name=name if isinstance(name, str) and name.isprintable() else None,
        created_at=created_at if is_time else None,
        why=f"Its {_COLUMN_WORDS.get(column, column)} cannot be read.",
    )


def insert_job(
    connection: sqlite3.Connection, job_id: str, spec: JobSpec, labels: JobLabels
) -> None:
    """Insert a queued job and the tables that it reads."""
    values = {
        "id": job_id,
        "workspace": labels.workspace,
        "name": labels.name,
        "kind": spec.kind,
        "state": JobState.QUEUED,
        "engine": labels.engine,
        "threads": spec.resources.threads,
        "gpus": spec.resources.gpus,
        "model": spec.model,
        "created_at": labels.created_at,
        "queued_at": labels.created_at,
        "spec": spec.to_json(),
    }
    names, places = ", ".join(values), ", ".join(f":{name}" for name in values)
    connection.execute(f"INSERT INTO jobs ({names}) VALUES ({places})", values)
    connection.executemany(
        "INSERT OR IGNORE INTO job_tables (digest, job_id) VALUES (?, ?)",
        [(digest, job_id) for digest in spec.tables],
    )


def own_table(connection: sqlite3.Connection, digest: str, workspace: str) -> None:
    """Note that a table is a workspace's, from now on."""
    connection.execute(
        "INSERT INTO tables (digest, workspace, put_at) VALUES (?, ?, ?) "
        "ON CONFLICT (digest, workspace) DO UPDATE SET put_at = excluded.put_at",
        (digest, workspace, time.time()),
    )


def holds_claim(connection: sqlite3.Connection, job_id: str, token: str) -> bool:
    """Return whether a token is that of the current claim of a running job."""
    row = connection.execute(
        "SELECT 1 FROM jobs WHERE id = ? AND token = ? AND state = ?",
        (job_id, token, JobState.RUNNING),
    ).fetchone()
    return row is not None


# Events


def to_event(row: sqlite3.Row) -> JobEvent:
    """Return the event of a row; one that cannot be read is of the kind "damaged"."""
    try:
        data = json.loads(row["data"])
        if not isinstance(data, dict) or not isinstance(row["kind"], str):
            raise TypeError("not an event")
    except (ValueError, TypeError, RecursionError):
        return JobEvent(row["seq"], row["time"], row["attempt"], DAMAGED_EVENT, {})
    return JobEvent(row["seq"], row["time"], row["attempt"], row["kind"], data)


def append_state(connection: sqlite3.Connection, job_id: str, state: JobState, why: str) -> None:
    """Append the event that a job changed its state."""
    append_events(connection, job_id, [("state", to_text({"state": state.value, "why": why}))])


def append_events(
    connection: sqlite3.Connection, job_id: str, events: Sequence[tuple[str, str]]
) -> None:
    """Append events, each a kind and a JSON text."""
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


def to_text(data: Mapping[str, Any]) -> str:
    """Return data as JSON text; a number that is not finite becomes null."""
    try:
        return json.dumps(without_nan(data), allow_nan=False)
    except TypeError as error:
        raise JobError(f"This cannot be stored as JSON: {error}.") from error
