"""What the store returns about jobs."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pmae_core.errors import JobError
from pmae_core.jobs.params import JobKind
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.processes import ProcessId
from pmae_core.jobs.spec import JobSpec, JobState

DAMAGED_EVENT = "damaged"  # kind of an event whose data cannot be read


class StaleClaimError(JobError):
    """The process does not hold the current claim on the job."""


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


@functools.lru_cache(maxsize=512)
def read_spec(text: str) -> JobSpec:
    """Return the specification of a job's row, whose schema can be read, too.

    Listings read many, and the same ones again and again.

    Raises
    ------
    JobError, SchemaError
        If it is damaged, or of a release that this one cannot read.
    """
    spec = JobSpec.from_json(text)
    spec.read_schema()
    return spec


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
        return read_spec(self.spec_json)

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
class DamagedJob:
    """A job whose record cannot be read.

    Attributes
    ----------
    number : int
        By which :meth:`JobArchive.delete_damaged` finds it; the id may be damaged, too.
    id, name : str, optional
        As far as they can be read.
    created_at : float, optional
        When it was submitted, if that can be read.
    why : str
        What is damaged, in a sentence.
    """

    number: int
    id: str | None
    name: str | None
    created_at: float | None
    why: str


@dataclass(frozen=True)
class JobListing:
    """Jobs that were asked for: those that can be read, and those that cannot; newest first."""

    jobs: list[JobRecord]
    damaged: list[DamagedJob]


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
