"""From the events of a job to what is stored of them: plain data, and the progress of the job."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pmae_core.events import Event
from pmae_core.jobs.store import JobProgress
from pmae_core.jobs.worker.answers import answer_words
from pmae_core.storage.json_values import without_nan
from pmae_core.words import duration

# Large parts of a task's result, which are in the job's folder.
_LARGE = ("points", "gains", "per_column", "traceback")
_PHASES = {
    "estimate": "Estimating the cost",
    "fit": "Training",
    "impute": "Imputing missing values",
    "sample": "Drawing further imputations",
    "downstream": "Predicting the target from each imputed table",
    "conclusions": "Drawing conclusions from each imputed table",
    "write": "Writing the result",
}


def describe_event(event: Event) -> tuple[str, dict[str, Any]]:
    """Return an event's kind and its content as small JSON-able data.

    Examples
    --------
    >>> from pmae_core.events import FitProgress
    >>> describe_event(FitProgress(done=1, total=4, unit="round", eta_seconds=float("nan")))
    ('FitProgress', {'done': 1, 'total': 4, 'unit': 'round', 'eta_seconds': None})
    """
    return type(event).__name__, _small_fields(event)


def progress_key(kind: str, data: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the key under which only the newest event counts; None if every event counts."""
    if kind in ("TrainingProgress", "FitProgress"):
        return (kind,)
    if kind == "TaskProgress":
        return kind, data["method"], data["seed"], data["progress"]["event"]
    return None


class ProgressTracker:
    """Follows the events of a job and computes its progress.

    Examples
    --------
    >>> tracker = ProgressTracker()
    >>> tracker.add("FitProgress", {"done": 3, "total": 4, "unit": "round", "eta_seconds": 2.0})
    >>> tracker.progress.fraction, tracker.progress.message
    (0.75, 'round 3 of 4')
    """

    def __init__(self) -> None:
        self._current = JobProgress(fraction=None, message="Starting", eta_seconds=None)
        self._answer: str | None = None
        self._tasks: dict[tuple[str, int], JobProgress | None] = {}
        self._n_done = self._n_tasks = self._n_from_disk = 0
        self._started = time.monotonic()

    def add(self, kind: str, data: Mapping[str, Any]) -> None:
        """Take one event into account, as :func:`describe_event` gives it."""
        if kind == "PhaseStarted":
            message = _PHASES.get(data["phase"], data["phase"])
            self._n_done = self._n_tasks = self._n_from_disk = 0  # its tasks are done
            self._answer = None
            self._current = JobProgress(fraction=None, message=message, eta_seconds=None)
        elif kind == "AnswerImproved":
            after = duration(data["seconds"])
            self._answer = f"Answer ready after {after} ({answer_words(data)})"
        elif kind == "TaskStarted":
            self._tasks[data["method"], data["seed"]] = None
        elif kind == "TaskProgress":
            inner = data["progress"]
            part = _event_progress(inner["event"], inner)
            if part is not None:
                self._tasks[data["method"], data["seed"]] = part
        elif kind == "TaskFinished":
            self._tasks.pop((data["result"]["method"], data["result"]["seed"]), None)
            self._n_done, self._n_tasks = data["n_done"], data["n_tasks"]
            self._n_from_disk += bool(data["from_disk"])
        else:
            self._current = _event_progress(kind, data) or self._current

    @property
    def progress(self) -> JobProgress:
        """The current progress of the job."""
        if not self._n_tasks and not self._tasks:
            if self._answer is None:
                return self._current
            return replace(self._current, message=f"{self._answer}; {self._current.message}")
        running = [
            f"{method} (seed {seed})" + (f": {part.message}" if part else "")
            for (method, seed), part in self._tasks.items()
        ]
        if not self._n_tasks:
            return JobProgress(fraction=None, message="; ".join(running), eta_seconds=None)
        begun = sum(part.fraction or 0.0 for part in self._tasks.values() if part is not None)
        done = min(self._n_done + begun, self._n_tasks)
        done_here = done - self._n_from_disk
        elapsed = time.monotonic() - self._started
        return JobProgress(
            fraction=done / self._n_tasks,
            message="; ".join([f"{self._n_done} of {self._n_tasks} done", *running]),
            eta_seconds=elapsed / done_here * (self._n_tasks - done) if done_here > 0 else None,
        )


def _event_progress(kind: str, data: Mapping[str, Any]) -> JobProgress | None:
    if kind == "TrainingProgress":
        done, total, unit = data["step"], data["total_steps"], "step"
    elif kind == "FitProgress":
        done, total, unit = data["done"], data["total"], data["unit"]
    else:
        return None
    return JobProgress(
        fraction=done / max(total, 1),
        message=f"{unit} {done} of {total}",
        eta_seconds=data["eta_seconds"],
    )


def _small_fields(value: Any) -> dict[str, Any]:
    """Return the fields of an event as plain data; events inside of it name their kind."""
    found = {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if field.name not in _LARGE
    }
    for name, inner in found.items():
        if is_dataclass(inner):
            kind = {"event": type(inner).__name__} if isinstance(inner, Event) else {}
            found[name] = {**kind, **_small_fields(inner)}
    plain: dict[str, Any] = without_nan(found)
    return plain
