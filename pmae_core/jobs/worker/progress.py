"""From the events of a job to what is stored of them: plain data, and the progress of the job."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pmae_core.events import Event
from pmae_core.jobs.spec import JobSpec
from pmae_core.jobs.store import JobProgress
from pmae_core.jobs.worker.answers import answer_words
from pmae_core.jobs.worker.task_times import TaskKey, TaskTimes
from pmae_core.storage.json_values import without_nan
from pmae_core.words import count, duration

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


def phase_weights(spec: JobSpec) -> dict[str, float]:
    """Return how much of a job's time its phases take, in their order.

    After the runs of a comparison, each method is fitted once more per conclusion, and once per
    seed for the downstream task. An imputation costs a small part of the fit.
    """
    params = spec.params
    if spec.kind.compares:
        n_seeds = float(len(params["seeds"]))
        weights = {
            "compare": n_seeds,
            "downstream": n_seeds if params.get("downstream") else 0.0,
            "conclusions": 1.0 if params.get("conclusions") else 0.0,
        }
    else:
        weights = {
            "fit": 0.0 if spec.model is not None else 8.0,
            "impute": 1.0,
            "sample": 0.2 * (params.get("imputations") or 0),
        }
    return {name: weight for name, weight in weights.items() if weight}


# How long members of a blend take beside each other, roughly: that of the network depends on the
# table most.
_STAGE_WEIGHTS = {"gaussian": 0.0, "trees": 1.0, "network": 1.0}


class ProgressTracker:
    """Follows the events of a job and computes its progress.

    Parameters
    ----------
    planned : sequence of (method, seed)
        The tasks of a comparison.
    estimate : mapping, optional
        What the job was expected to cost.
    clock : callable
        Returns the time in seconds.
    phases : mapping of str to float, optional
        How the time is divided among phases, as :func:`phase_weights` has it.
    awaits_estimate : bool
        Whether the job estimates its cost on its way.

    Examples
    --------
    >>> tracker = ProgressTracker()
    >>> tracker.add("FitProgress", {"done": 3, "total": 4, "unit": "round", "eta_seconds": 2.0})
    >>> tracker.progress.fraction, tracker.progress.message
    (0.75, 'round 3 of 4')
    """

    def __init__(
        self,
        planned: Sequence[TaskKey] = (),
        estimate: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        phases: Mapping[str, float] | None = None,
        *,
        awaits_estimate: bool = False,
    ) -> None:
        self._times = TaskTimes(planned, clock)
        self._times.awaits_estimate = awaits_estimate
        self._is_estimating = False
        self._phases = dict(phases or {})
        self._phase = next(iter(self._phases), None)
        for cost in (estimate or {}).get("per_method", ()):
            self._expect(cost)
        self._shown = 0.0
        self._current = JobProgress(fraction=None, message="Starting", eta_seconds=None)
        self._answer: str | None = None
        self._damage: str | None = None
        self._fit = FitStages()
        self._fits: dict[tuple[str, int], FitStages] = {}
        self._tasks: dict[tuple[str, int], JobProgress | None] = {}
        self._n_done = self._n_tasks = 0

    def add(self, kind: str, data: Mapping[str, Any]) -> None:
        """Take one event into account, as :func:`describe_event` gives it."""
        if kind == "PhaseStarted":
            message = _PHASES.get(data["phase"], data["phase"])
            if data["phase"] in self._phases:
                self._phase = data["phase"]
            self._n_done = self._n_tasks = 0  # its tasks are done
            self._is_estimating = data["phase"] == "estimate"
            self._answer = None
            self._current = JobProgress(fraction=None, message=message, eta_seconds=None)
            self._fit = FitStages()
        elif kind == "AnswerImproved":
            self._fit.add(kind, data)
            after = duration(data["seconds"])
            self._answer = f"Answer ready after {after} ({answer_words(data)})"
        elif kind == "DamageFound":
            self._damage = data["sentence"].removesuffix(".")
        elif kind == "MethodProbed":
            self._expect(data["cost"])
        elif kind == "TaskStarted":
            key = data["method"], data["seed"]
            self._tasks[key] = None
            self._fits[key] = FitStages()
            self._times.start(key)
            if self._is_estimating:  # the estimate has ended, with or without a result
                self._times.awaits_estimate = self._is_estimating = False
        elif kind == "TaskProgress":
            inner, key = data["progress"], (data["method"], data["seed"])
            part = self._fits.setdefault(key, FitStages()).add(inner["event"], inner)
            if part is not None:
                self._tasks[key] = part
        elif kind == "TaskFinished":
            key = data["result"]["method"], data["result"]["seed"]
            self._tasks.pop(key, None)
            self._times.finish(key, from_disk=bool(data["from_disk"]))
            self._n_done, self._n_tasks = data["n_done"], data["n_tasks"]
        else:
            self._current = self._fit.add(kind, data) or self._current

    def _expect(self, cost: Mapping[str, Any]) -> None:
        if cost.get("seconds") is not None:
            self._times.expected[cost["method"]] = cost["seconds"]

    @property
    def progress(self) -> JobProgress:
        """The current progress of the job; its fraction never falls within one run."""
        found = self._in_whole_job(self._progress())
        if found.fraction is not None:
            self._shown = max(self._shown, found.fraction)
        message = "; ".join(filter(None, [self._damage, found.message]))
        return replace(found, fraction=self._shown or None, message=message)

    def _in_whole_job(self, part: JobProgress) -> JobProgress:
        """Return the progress of the job, given that of its current phase."""
        if self._phase is None or part.fraction is None:
            return part
        names, weights = list(self._phases), list(self._phases.values())
        at = names.index(self._phase)
        later = sum(weights[at + 1 :])
        fraction = (sum(weights[:at]) + weights[at] * part.fraction) / sum(weights)
        eta = part.eta_seconds
        if eta is not None and later and part.fraction < 1:
            eta += later / weights[at] * eta / (1 - part.fraction)
        return replace(part, fraction=fraction, eta_seconds=eta)

    def _progress(self) -> JobProgress:
        if not self._n_tasks and not self._tasks:
            if self._answer is None:
                return self._current
            return replace(self._current, message=f"{self._answer}; {self._current.message}")
        running = [
            f"{_title(method)} (seed {seed})" + (f": {part.message}" if part else "")
            for (method, seed), part in self._tasks.items()
        ]
        counted = [f"{self._n_done} of {self._n_tasks} done"] if self._n_tasks else []
        shares = {key: part.fraction or 0.0 for key, part in self._tasks.items() if part}
        fraction, remaining = self._times.share_and_remaining(shares)
        return JobProgress(
            fraction=fraction, message="; ".join([*counted, *running]), eta_seconds=remaining
        )


class FitStages:
    """Follows one fit, whose members may be fitted one after the other.

    An answer of a blend says which members are still to come: the progress of trees alone would
    promise an end that the network then puts off.

    Examples
    --------
    >>> stages = FitStages()
    >>> stages.add("AnswerImproved", {"members": ["gaussian"], "to_come": ["trees", "network"]})
    >>> stages.add("FitProgress", {"done": 1, "total": 2, "unit": "tree", "eta_seconds": 3.0})
    JobProgress(fraction=0.25, message='tree 1 of 2', eta_seconds=9.0)
    """

    def __init__(self) -> None:
        self._before, self._current, self._later = 0.0, 1.0, 0.0

    def add(self, kind: str, data: Mapping[str, Any]) -> JobProgress | None:
        """Take one event into account; return the progress of the whole fit if it says it."""
        if kind == "AnswerImproved":
            to_come = [_STAGE_WEIGHTS.get(name, 1.0) for name in data.get("to_come", ())]
            self._before = sum(_STAGE_WEIGHTS.get(name, 1.0) for name in data["members"])
            self._current, self._later = (to_come or [0.0])[0], sum(to_come[1:])
            return None
        part = _event_progress(kind, data)
        if part is None or part.fraction is None or not self._current:
            return part
        total = self._before + self._current + self._later
        fraction = (self._before + self._current * part.fraction) / total
        return replace(part, fraction=fraction, eta_seconds=self._time_left(part))

    def _time_left(self, part: JobProgress) -> float | None:
        if part.eta_seconds is None or part.fraction is None or not self._later:
            return part.eta_seconds
        if part.fraction >= 1:
            return None  # the next member tells
        whole_stage = part.eta_seconds / (1 - part.fraction)
        return part.eta_seconds + self._later / self._current * whole_stage


@functools.cache
def _title(method: str) -> str:
    """Return what people call a method; its name if it is not registered, as labels are."""
    from pmae_core.imputers import list_imputers  # slow to import, and not every job compares

    return {info.name: info.title for info in list_imputers()}.get(method, method)


def _event_progress(kind: str, data: Mapping[str, Any]) -> JobProgress | None:
    if kind == "TrainingProgress":
        done, total, unit = data["step"], data["total_steps"], "step"
    elif kind == "FitProgress":
        done, total, unit = data["done"], data["total"], data["unit"]
    else:
        return None
    return JobProgress(
        fraction=done / max(total, 1),
        message=f"{unit} {count(int(done))} of {count(int(total))}",
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
