"""Submit runs on the open table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.runs import quotas
from dashboard.runs.lookup import ACTIVE
from dashboard.runs.service import engine, store, store_exists
from dashboard.state import session
from dashboard.state.table_state import OpenTable
from pmae_core.errors import DamagedFileError, JobError
from pmae_core.jobs import JobKind, JobRecord, JobSpec, Resources
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import Schema
from pmae_core.words import shorten

MOST_UNFINISHED = 50

ORIGINS = "origins"


def submit(
    kind: JobKind | str,
    params: Mapping[str, Any],
    *,
    name: str,
    seed: int = 0,
    resources: Resources | None = None,
    frame: pd.DataFrame | None = None,
    schema: Schema | None = None,
    estimate: Mapping[str, Any] | None = None,
) -> JobRecord:
    """Hand in a job on the open table.

    Parameters
    ----------
    kind, params, seed
        As :meth:`JobSpec.make` takes them. Other tables in `params` go through `put_table`.
    name
        What to call it, in words: "PMAE on penguins, seed 0". Too long a name is shortened.
    resources
        What it takes of the machine; the engine's default where not given.
    frame, schema
        Another table than the open one.
    estimate
        What it is expected to cost, if that is known; else the job begins by estimating it.

    Raises
    ------
    JobError
        If it cannot be done as asked; a sentence.
    """
    check_room()
    spec = make_spec(kind, params, seed=seed, resources=resources, frame=frame, schema=schema)
    own = session.workspace()
    record = engine().submit(spec, own.id, job_name(name))
    if estimate is not None:
        store().set_estimate(record.id, estimate)
    return record


def make_spec(
    kind: JobKind | str,
    params: Mapping[str, Any],
    *,
    seed: int = 0,
    resources: Resources | None = None,
    frame: pd.DataFrame | None = None,
    schema: Schema | None = None,
) -> JobSpec:
    """Return the document of a job on the open table, which is put into the store."""
    if frame is None:
        table = session.open_table()
        schema = schema or table.schema
        own = session.workspace()
        try:
            digest = store().copy_table(own.tables, own.store_content(table), own.id)
        except DamagedFileError:  # the file of the workspace; the table in memory repairs it
            digest = store().copy_table(own.tables, own.restore_content(table), own.id)
        _keep_origin(digest, table)
    else:
        digest = put_table(frame)
    return JobSpec.make(
        kind,
        params=params,
        table=digest,
        schema=schema,
        seed=seed,
        resources=resources or engine().default_resources(),
    )


def put_table(frame: pd.DataFrame) -> str:
    """Keep a table for jobs of this workspace and return its digest."""
    return store().put_table(frame, session.workspace().id)


@dataclass(frozen=True)
class Origin:
    """Where the table of a job came from: jobs know its content alone."""

    name: str = "a table"
    sentinels: tuple[Any, ...] = ()


def origin(digest: str) -> Origin:
    """Return where the table of a job came from, as far as it is known."""
    kept = session.workspace().get(ORIGINS).get(digest)
    if not isinstance(kept, dict):
        return Origin()
    return Origin(kept["name"], tuple(map(from_json_value, kept["sentinels"])))


def _keep_origin(digest: str, table: OpenTable) -> None:
    values = [to_json_value(value) for some in table.sentinels.values() for value in some]
    kept = {"name": table.name, "sentinels": list({str(value): value for value in values}.values())}
    own = session.workspace()
    if own.get(ORIGINS).get(digest) != kept:
        own.update(ORIGINS, **{digest: kept})


def check_room() -> None:
    """Refuse a job of a workspace that has very many unfinished ones, or reached a limit."""
    own = session.workspace()
    quotas.check_run(own)
    if store_exists() and store().count(own.id, states=ACTIVE) >= MOST_UNFINISHED:
        raise JobError(
            f"You already have {MOST_UNFINISHED} unfinished runs. "
            "Wait until some of them end, or cancel them, before you start another one."
        )


def job_name(words: str) -> str:
    """Return a name that the store takes: one line, not too long, nothing invisible.

    Examples
    --------
    >>> job_name("PMAE on  my\\ntable")
    'PMAE on my table'
    """
    visible = "".join(sign if sign.isprintable() else " " for sign in words)
    return shorten(visible, 120) or "A run"
