"""Rows of the database: checks before they are written, queries that several parts share."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.processes import ProcessId
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store.records import JobProgress, JobRecord
from pmae_core.storage.json_values import without_nan
from pmae_core.words import listed

MAX_NAME = 200

_WORKSPACE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ENGINE = re.compile(r"[a-z][a-z0-9-]{0,31}")
_SAME_IN_RECORD = (
    *("id", "workspace", "name", "engine", "attempt", "error", "memory_mb", "token"),
    *("created_at", "queued_at", "started_at", "finished_at", "heartbeat_at"),
    "cancel_requested_at",
)


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


def to_record(row: sqlite3.Row, paths: JobPaths) -> JobRecord:
    """Return the record of a row."""
    progress, starter, worker, estimate, result = (
        None if row[name] is None else json.loads(row[name])
        for name in ("progress", "starter", "worker", "estimate", "result")
    )
    return JobRecord(
        **{name: row[name] for name in _SAME_IN_RECORD},
        kind=JobKind(row["kind"]),
        state=JobState(row["state"]),
        progress=progress and JobProgress(**progress),
        starter=starter and ProcessId.from_dict(starter),
        worker=worker and ProcessId.from_dict(worker),
        estimate=estimate,
        result=result,
        spec_json=row["spec"],
        paths=paths,
    )


def holds_claim(connection: sqlite3.Connection, job_id: str, token: str) -> bool:
    """Return whether a token is that of the current claim of a running job."""
    row = connection.execute(
        "SELECT 1 FROM jobs WHERE id = ? AND token = ? AND state = ?",
        (job_id, token, JobState.RUNNING),
    ).fetchone()
    return row is not None


# Events


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
