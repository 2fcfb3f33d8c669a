"""Find the runs of a workspace."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dashboard.runs.service import store, store_exists
from dashboard.state import session
from pmae_core.errors import JobError
from pmae_core.jobs import JobKind, JobRecord, JobState
from pmae_core.words import count

ACTIVE = (JobState.QUEUED, JobState.RUNNING)


def records(
    kinds: Collection[JobKind | str] | None = None,
    states: Collection[JobState | str] | None = None,
    limit: int = 50,
) -> list[JobRecord]:
    """Return jobs of this workspace, newest first."""
    if not store_exists():
        return []
    return store().jobs(session.workspace().id, states=states, kinds=kinds, limit=limit)


def record(job_id: str) -> JobRecord | None:
    """Return a job of this workspace; None if there is none (any more)."""
    if not store_exists():
        return None
    try:
        return store().job(job_id, session.workspace().id)
    except JobError:
        return None


@dataclass(frozen=True)
class JobCounts:
    """How many jobs of a workspace are not finished."""

    running: int = 0
    queued: int = 0

    def __bool__(self) -> bool:
        return bool(self.running or self.queued)

    def sentence(self) -> str:
        """Return them in words."""
        parts = {"running": self.running, "waiting": self.queued}
        return ", ".join(f"{count(n, 'job')} {word}" for word, n in parts.items() if n)


def unfinished(workspace_id: str) -> JobCounts:
    """Count the jobs that wait or run; without a store there are none."""
    if not store_exists():
        return JobCounts()
    return JobCounts(
        running=store().count(workspace_id, states=[JobState.RUNNING]),
        queued=store().count(workspace_id, states=[JobState.QUEUED]),
    )
