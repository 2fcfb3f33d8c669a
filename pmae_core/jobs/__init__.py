"""Durable background work: specifications, their store, and engines that run them."""

from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.spec import JobKind, JobSpec, JobState, Resources
from pmae_core.jobs.store.store import (
    JobEvent,
    JobRecord,
    JobStore,
    ProcessId,
    Progress,
    StaleClaim,
    Wish,
)
from pmae_core.storage.tables import TableStore

__all__ = [
    "JobEvent",
    "JobKind",
    "JobPaths",
    "JobRecord",
    "JobSpec",
    "JobState",
    "JobStore",
    "ProcessId",
    "Progress",
    "Resources",
    "StaleClaim",
    "TableStore",
    "Wish",
]
