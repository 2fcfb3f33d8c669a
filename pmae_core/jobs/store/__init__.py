"""The store of jobs: the queue that engines and workers use, and the archive that people read."""

from pmae_core.jobs.processes import ProcessId
from pmae_core.jobs.store.archive import JobArchive
from pmae_core.jobs.store.queue import RESUMABLE, JobQueue
from pmae_core.jobs.store.records import (
    GarbageReport,
    Heartbeat,
    JobEvent,
    JobProgress,
    JobRecord,
    StaleClaimError,
)
from pmae_core.jobs.store.store import JobStore
from pmae_core.jobs.store.tables import JobTables

__all__ = [
    "RESUMABLE",
    "GarbageReport",
    "Heartbeat",
    "JobArchive",
    "JobEvent",
    "JobProgress",
    "JobQueue",
    "JobRecord",
    "JobStore",
    "JobTables",
    "ProcessId",
    "StaleClaimError",
]
