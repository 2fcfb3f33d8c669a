"""What a job's work may touch: its folder, its tables, its listeners, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pmae_core.events import Event

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.evaluation.parallel import Pool
    from pmae_core.jobs.spec import JobSpec


class FitRunner(Protocol):
    """Does the work of a ``train`` or ``impute`` job in another place."""

    def __call__(self, spec: JobSpec, context: JobContext, out: Path) -> dict[str, Any]:
        """Write the result's files into `out` and return the small result."""
        ...


@dataclass(frozen=True, kw_only=True)
class WorkerStarted(Event):
    """A process has taken up the job."""

    pid: int
    host: str


@dataclass(frozen=True, kw_only=True)
class PhaseStarted(Event):
    """A job goes on to another part of its work.

    ``phase`` is ``"estimate"``, ``"fit"``, ``"fill"``, ``"draw"``, ``"downstream"``,
    ``"conclusions"`` or ``"write"``.
    """

    phase: str


@dataclass(frozen=True, kw_only=True)
class JobContext:
    """The world as a job sees it; the store stays outside.

    Attributes
    ----------
    folder : Path
        The job's own folder; what is in ``checkpoint/`` and ``tasks/`` is taken up again.
    load_table : callable
        Gives the table of a content digest, if the job's workspace owns it.
    model_path : callable
        Gives the file of the model that a ``train`` job of the workspace saved.
    emit : callable
        Hears every event.
    cancel : callable
        ``True`` when the job should stop.
    task_pool : callable, optional
        Makes what runs the tasks of a comparison; without it they run here, one by one.
    fit_remote : callable, optional
        Does the work of ``train`` and ``impute``; without it that happens here.
    """

    folder: Path
    load_table: Callable[[str], pd.DataFrame]
    model_path: Callable[[str], Path]
    emit: Callable[[Event], None]
    cancel: Callable[[], bool]
    task_pool: Callable[[], Pool] | None = None
    fit_remote: FitRunner | None = None
