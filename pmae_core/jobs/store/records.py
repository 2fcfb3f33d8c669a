"""What the store returns about jobs."""

from __future__ import annotations

import functools
import os
import socket
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.spec import JobSpec, JobState


class StaleClaimError(JobError):
    """The process does not hold the current claim on the job."""


@dataclass(frozen=True)
class ProcessId:
    """A process of a machine; its time of creation differs from a later one's with the same pid."""

    pid: int
    created: float
    host: str

    @classmethod
    def current(cls) -> ProcessId:
        """Return the calling process."""
        import psutil

        return cls(os.getpid(), psutil.Process().create_time(), socket.gethostname())


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job: a share from 0 to 1, a sentence, and the seconds that are left."""

    fraction: float | None = None
    message: str = ""
    eta_seconds: float | None = None


@dataclass(frozen=True)
class Heartbeat:
    """The store's reply to a worker's heartbeat.

    Attributes
    ----------
    cancel_requested : bool
        Whether the user asked the job to stop.
    holds_claim : bool
        Whether the worker still holds the claim; without it, it must exit.
    """

    cancel_requested: bool
    holds_claim: bool


@dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job; ``seq`` counts from 1 within the job."""

    seq: int
    time: float
    attempt: int
    kind: str
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    """A job as it is stored. Times are seconds since 1970 (UTC).

    Attributes
    ----------
    id, workspace, name, kind, engine
        Its id, its owner, what the user calls it, what it does and what runs it.
    state : JobState
        Whether it waits, runs or has ended.
    attempt : int
        How often it was started.
    created_at, queued_at, started_at, finished_at, heartbeat_at, cancel_requested_at : float
        When it was submitted, last queued, last started and ended, when its worker last reported,
        and when a cancellation was requested; None if that has not happened.
    progress : JobProgress, optional
        Its progress.
    error : str, optional
        Why it failed or was interrupted, in a sentence.
    starter, worker : ProcessId, optional
        The process that claimed it, and the process that runs it, once registered.
    estimate, result : dict, optional
        The estimated cost; the small result, whose files are in the folder.
    memory_mb : float, optional
        The peak memory of this attempt.
    token : str, optional
        The claim under which it runs.
    """

    id: str
    workspace: str
    name: str | None
    kind: JobKind
    state: JobState
    engine: str
    attempt: int
    created_at: float
    queued_at: float
    started_at: float | None
    finished_at: float | None
    heartbeat_at: float | None
    cancel_requested_at: float | None
    progress: JobProgress | None
    error: str | None
    starter: ProcessId | None
    worker: ProcessId | None
    estimate: dict[str, Any] | None
    result: dict[str, Any] | None
    memory_mb: float | None
    spec_json: str = field(repr=False)
    token: str | None = field(repr=False)
    paths: JobPaths = field(repr=False, compare=False)

    @functools.cached_property
    def spec(self) -> JobSpec:
        """The job's specification."""
        return JobSpec.from_json(self.spec_json)

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.paths.job(self.id)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON-able data, without the claim's token."""
        hidden = {"token", "paths", "spec_json"}
        plain = {name: value for name, value in vars(self).items() if name not in hidden | {"spec"}}
        for name in ("progress", "starter", "worker"):
            plain[name] = plain[name] and asdict(plain[name])
        return {
            **plain,
            "kind": self.kind.value,
            "state": self.state.value,
            "spec": self.spec.to_dict(),
            "folder": str(self.folder),
        }


@dataclass(frozen=True)
class GarbageReport:
    """What a clean-up removed or would remove.

    Attributes
    ----------
    jobs : list of str
        Ids.
    tables : list of str
        Digests.
    leftovers : list of Path
        Files and folders of unfinished work.
    bytes_freed : int
        Their size on disk.
    workspaces : list of str
        Ids of workspaces whose folders were removed, too.
    """

    jobs: list[str]
    tables: list[str]
    leftovers: list[Path]
    bytes_freed: int
    workspaces: list[str] = field(default_factory=list)
