"""What the work of a job may use: its folder, its tables, its listeners, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pmae_core.events import Event

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.evaluation.parallel import Pool
    from pmae_core.jobs.spec import JobSpec


class FitRunner(Protocol):
    """Does the work of a ``train`` or ``impute`` job in another process or on another machine."""

    def __call__(self, spec: JobSpec, context: JobContext, out: Path) -> dict[str, Any]:
        """Write the files of the result into `out` and return the small result."""
        ...


@dataclass(frozen=True, kw_only=True)
class WorkerStarted(Event):
    """A process has started to work on the job."""

    pid: int
    host: str


@dataclass(frozen=True, kw_only=True)
class PhaseStarted(Event):
    """A job starts another phase of its work.

    ``phase`` is ``"estimate"``, ``"fit"``, ``"impute"``, ``"sample"``, ``"downstream"``,
    ``"conclusions"`` or ``"write"``.
    """

    phase: str


@dataclass(frozen=True, kw_only=True)
class JobContext:
    """What a job sees of its surroundings; it does not see the store.

    Attributes
    ----------
    folder : Path
        The job's own folder; work continues from ``checkpoint/`` and ``tasks/`` in it.
    load_table : callable
        Returns the table of a content digest, if the job's workspace owns it.
    model_path : callable
        Returns the file of the model that a ``train`` job of the workspace saved.
    emit : callable
        Receives every event.
    cancel : callable
        Returns ``True`` when the job should stop.
    task_pool : callable, optional
        Makes the pool that runs the tasks of a comparison; without it they run one by one in this
        process.
    fit_remote : callable, optional
        Does the work of ``train`` and ``impute``; without it this process does.
    expected_seconds : callable
        Returns the estimated seconds of one run of each method, where they are known. The first
        call may take a few seconds, in which methods run briefly.
    """

    folder: Path
    load_table: Callable[[str], pd.DataFrame]
    model_path: Callable[[str], Path]
    emit: Callable[[Event], None]
    cancel: Callable[[], bool]
    task_pool: Callable[[], Pool] | None = None
    fit_remote: FitRunner | None = None
    expected_seconds: Callable[[], Mapping[str, float]] = dict
