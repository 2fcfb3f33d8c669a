"""What the store tells about jobs."""

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
    """Who speaks is no longer (or never was) the one that runs the job."""


@dataclass(frozen=True)
class ProcessId:
    """A process of a machine; its time of creation tells it from a later one with the same pid."""

    pid: int
    created: float
    host: str

    @classmethod
    def current(cls) -> ProcessId:
        """Return the process that calls."""
        import psutil

        return cls(os.getpid(), psutil.Process().create_time(), socket.gethostname())


@dataclass(frozen=True)
class JobProgress:
    """How far a job is: a share from 0 to 1, a sentence, and the seconds it still takes."""

    fraction: float | None = None
    message: str = ""
    eta_seconds: float | None = None


@dataclass(frozen=True)
class Heartbeat:
    """What a worker learns from its heartbeat."""

    cancel_requested: bool
    still_mine: bool


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
    """A job as the store knows it. Times are seconds since 1970 (UTC).

    Attributes
    ----------
    id, workspace, name, kind, engine
        Which job it is, whose, what it is called and what runs it.
    state : JobState
        Where it stands.
    attempt : int
        How often it was started.
    created_at, queued_at, started_at, finished_at, heartbeat_at, cancel_requested_at : float
        When it was submitted, last queued and last started, when it ended, when its worker last
        gave a sign of life, when its end was asked for; None where that has not happened.
    progress : JobProgress, optional
        How far it is.
    error : str, optional
        Why it failed or was interrupted, in a sentence.
    starter, worker : ProcessId, optional
        Who claimed it, and the process that runs it once that has registered.
    estimate, result : dict, optional
        What it was expected to cost; its result in few words, the rest lies in the folder.
    memory_mb : float, optional
        The most memory it was seen to take in this attempt.
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
        """Where its files are."""
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
    """What a clean-up removed, or would remove.

    Attributes
    ----------
    jobs : list of str
        Ids.
    tables : list of str
        Digests.
    leftovers : list of Path
        Files and folders of work that was broken off.
    bytes_freed : int
        Their size on disk.
    """

    jobs: list[str]
    tables: list[str]
    leftovers: list[Path]
    bytes_freed: int
