"""The store of jobs: the queue that engines and workers use, and the archive that people read."""

from pmae_core.jobs.processes import ProcessId
from pmae_core.jobs.store.archive import JobArchive
from pmae_core.jobs.store.queue import RESUMABLE, JobQueue
from pmae_core.jobs.store.records import (
    DAMAGED_EVENT,
    DamagedJob,
    GarbageReport,
    Heartbeat,
    JobEvent,
    JobListing,
    JobProgress,
    JobRecord,
    StaleClaimError,
)
from pmae_core.jobs.store.recovery import Restoration
from pmae_core.jobs.store.store import JobStore
from pmae_core.jobs.store.tables import JobTables

__all__ = [
    "DAMAGED_EVENT",
    "RESUMABLE",
    "DamagedJob",
    "GarbageReport",
    "Heartbeat",
    "JobArchive",
    "JobEvent",
    "JobListing",
    "JobProgress",
    "JobQueue",
    "JobRecord",
    "JobStore",
    "JobTables",
    "ProcessId",
    "Restoration",
    "StaleClaimError",
]
