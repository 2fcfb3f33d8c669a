"""The jobs of this user: their store, their engine, and finding one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord, JobStore
    from pmae_core.jobs.engines import Engine
    from pmae_core.jobs.store import DamagedJob

WORKSPACE = "local"
POLL_SECONDS = 0.5
_SHORT_ID = 8

JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id, or its beginning.")]


def open_store() -> JobStore:
    """Return the store of jobs."""
    from pmae_core.jobs import JobStore

    return JobStore()


def engine_of(store: JobStore, name: str | None = None) -> Engine:
    """Return the engine of this name, or else the one that the environment names."""
    from pmae_core.jobs.engines import make_engine

    return make_engine(store, name)


def refresh(store: JobStore, engine: str | None = None) -> None:
    """Let an engine note which jobs have ended, and start those that can start."""
    engine_of(store, engine).supervise()


def find_job(store: JobStore, job_id: str) -> JobRecord:
    """Return a job in its current state."""
    record = store.find(job_id, WORKSPACE)
    refresh(store, record.engine)
    return store.job(record.id, WORKSPACE)


def short_id(record: JobRecord | DamagedJob) -> str:
    """Return the beginning of an id, which is enough to find the job; nothing for a damaged one."""
    return (record.id or "")[:_SHORT_ID]
