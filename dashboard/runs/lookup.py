"""Find the runs of a workspace."""

from __future__ import annotations

from collections.abc import Collection

from dashboard.runs.service import store, store_exists
from dashboard.state import session
from pmae_core.errors import JobError
from pmae_core.jobs import JobKind, JobRecord, JobState
from pmae_core.jobs.store import JobListing

ACTIVE = (JobState.QUEUED, JobState.RUNNING)


def records(
    kinds: Collection[JobKind | str] | None = None,
    states: Collection[JobState | str] | None = None,
    limit: int = 50,
) -> list[JobRecord]:
    """Return jobs of this workspace, newest first."""
    return listing(kinds, states, limit).jobs


def listing(
    kinds: Collection[JobKind | str] | None = None,
    states: Collection[JobState | str] | None = None,
    limit: int = 50,
) -> JobListing:
    """Return jobs of this workspace, and beside them those whose record is damaged."""
    if not store_exists():
        return JobListing([], [])
    return store().listing(session.workspace().id, states=states, kinds=kinds, limit=limit)


def record(job_id: str) -> JobRecord | None:
    """Return a job of this workspace; None if there is none (any more)."""
    if not store_exists():
        return None
    try:
        return store().job(job_id, session.workspace().id)
    except JobError:
        return None
