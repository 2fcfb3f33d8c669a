"""Durable background work: specifications of jobs, their store, and engines that run them."""

from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.spec import JobKind, JobSpec, JobState, Resources
from pmae_core.jobs.store import (
    Heartbeat,
    JobEvent,
    JobProgress,
    JobRecord,
    JobStore,
    ProcessId,
    StaleClaimError,
)

__all__ = [
    "Heartbeat",
    "JobEvent",
    "JobKind",
    "JobPaths",
    "JobProgress",
    "JobRecord",
    "JobSpec",
    "JobState",
    "JobStore",
    "ProcessId",
    "Resources",
    "StaleClaimError",
]
