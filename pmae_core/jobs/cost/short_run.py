"""One short run of a method on a sample: what is measured."""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import pandas as pd
import psutil

from pmae_core.errors import Cancelled, PMAEError
from pmae_core.evaluation.memory import PeakMemory
from pmae_core.events import Event, FitProgress, TrainingStarted
from pmae_core.imputers import BaseImputer
from pmae_core.imputers.work import WorkProfile

# A run that only has to show the speed ends after so many progress events, but not before so
# many seconds: quick methods then reach their end.
ENOUGH_EVENTS = 3
ENOUGH_SECONDS = 0.1

STOPPED = "The estimate was stopped."


class Goal(Enum):
    """When a short run has done enough, if it neither ends nor runs out of time before."""

    LOADED = "its libraries are loaded"
    SPEED = "its speed shows"
    END = "it has ended"


@dataclass(frozen=True, kw_only=True)
class ShortRun:
    """What was measured in a short run of a method.

    Attributes
    ----------
    n_rows, n_columns, n_incomplete : int
        Size of the sample, and how many of its columns have missing cells (all if none has).
    progress : list of (int, float)
        Units of work done, and the seconds since the start at which they were done.
    total : int
        Units in all, as the method announced them; 0 if it announced none.
    unit : str
        What is counted.
    finished : bool
        Whether the run reached its end.
    seconds, impute_seconds : float
        Duration of the run, and of this the imputation: 0 where that was never reached.
    cpu_seconds : float
        Processor time of the thread that did the run, which takes part in all work. It is less
        than `seconds` where other work used the processor, too.
    idle_seconds : float
        For how long cores were idle meanwhile, all together.
    sample_seconds : float
        Duration of one random imputation after the run, not part of `seconds`: 0 where none was
        asked for, or the method draws none.
    memory_mb : float
        By how much the run raised the memory.
    profile : WorkProfile
        What the method declares about its work.
    """

    n_rows: int
    n_columns: int
    n_incomplete: int
    progress: list[tuple[int, float]]
    total: int
    unit: str
    finished: bool
    seconds: float
    impute_seconds: float
    cpu_seconds: float
    idle_seconds: float
    memory_mb: float
    profile: WorkProfile
    sample_seconds: float = 0.0

    @property
    def done(self) -> int:
        """Units done at the end of the run."""
        return self.progress[-1][0] if self.progress else 0

    @property
    def shows_speed(self) -> bool:
        """Whether the run says how fast the method is."""
        return self.finished or self.done > 0

    @property
    def slowdown(self) -> float:
        """By which factor other work on the machine slowed the run down."""
        return max(1.0, self.seconds / max(self.cpu_seconds, 1e-3))

    @property
    def seconds_per_unit(self) -> float:
        """Seconds of a unit, without those before the first event where there are several."""
        (first, begin), (last, end) = self.progress[0], self.progress[-1]
        return (end - begin) / (last - first) if last > first else end / last

    @property
    def setup_seconds(self) -> float:
        """Seconds before the first unit."""
        if self.done == 0:
            return 0.0
        done, seconds = self.progress[0]
        return max(0.0, seconds - done * self.seconds_per_unit)

    @property
    def seconds_to_speed(self) -> float:
        """Seconds after which the speed of the method shows."""
        shown = [seconds for done, seconds in self.progress if done > 0]
        return shown[min(1, len(shown) - 1)] if shown else self.seconds

    def alone(self) -> ShortRun:
        """Return the run as it would have been without other work on the machine."""
        factor = 1 / self.slowdown
        return replace(
            self,
            progress=[(done, factor * seconds) for done, seconds in self.progress],
            seconds=factor * self.seconds,
            impute_seconds=factor * self.impute_seconds,
            sample_seconds=factor * self.sample_seconds,
        )

    def seconds_at(self, done: int) -> float:
        """Return the seconds after which so many units were done."""
        units, seconds = zip(*self.progress, strict=True)
        return float(np.interp(done, units, seconds))


class _ProgressRecorder:
    """Records when a method did how many units: by its events, and by its questions to stop."""

    def __init__(self) -> None:
        self.total = 0
        self.unit = ""
        self.progress: list[tuple[int, float]] = []
        self.n_questions = 0
        self._first_step: int | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case TrainingStarted():
                self._first_step, self.n_questions = event.first_step, 0
                self.total, self.unit = event.total_steps, "step"
            case FitProgress():
                self.total, self.unit = event.total, event.unit
                self._record(event.done)

    def count_question(self) -> None:
        """Count a question whether to stop: a training asks before every step."""
        if self._first_step is not None:
            self._record(self._first_step + self.n_questions)
        self.n_questions += 1

    def reached(self, goal: Goal, seconds: float) -> bool:
        """Say whether a run of so many seconds has done enough."""
        if goal is Goal.SPEED:
            return len(self.progress) > ENOUGH_EVENTS and seconds >= ENOUGH_SECONDS
        return goal is Goal.LOADED and self.n_questions > 1

    def _record(self, done: int) -> None:
        self.progress.append((done, time.perf_counter()))


def run_briefly(
    imputer: BaseImputer,
    sample: pd.DataFrame,
    profile: WorkProfile,
    *,
    cancel: Callable[[], bool],
    seconds: float = math.inf,
    goal: Goal = Goal.END,
    samples: bool = False,
) -> ShortRun:
    """Fit a method to a sample and impute it, until the goal is reached or the time is up.

    Parameters
    ----------
    imputer : BaseImputer
        The method.
    sample : DataFrame
        The table to run it on.
    profile : WorkProfile
        What the method declares about its work.
    cancel : callable
        ``True`` when the user wants to stop.
    seconds : float
        Time after which the run is stopped.
    goal : Goal
        When the run has done enough.
    samples : bool
        Whether to time a random imputation, too, if the run reaches its end.

    Raises
    ------
    Cancelled
        If the user asked to stop.
    """
    recorder = _ProgressRecorder()
    started, cpu_started, idle_started = time.perf_counter(), time.thread_time(), idle_seconds()

    def stop() -> bool:
        recorder.count_question()
        elapsed = time.perf_counter() - started
        return cancel() or elapsed >= seconds or recorder.reached(goal, elapsed)

    with warnings.catch_warnings(), PeakMemory() as peak:
        warnings.simplefilter("ignore")
        fitted = _fit_and_impute(imputer, sample, recorder, stop)
    if fitted is None and cancel():
        raise Cancelled(STOPPED)
    ended = time.perf_counter()
    cpu_ended, idle_ended = time.thread_time(), idle_seconds()
    sample_seconds = 0.0
    if samples and fitted is not None:
        sample_seconds = _sample_once(
            imputer, sample, lambda: cancel() or time.perf_counter() - started >= seconds
        )
    return ShortRun(
        n_rows=len(sample),
        n_columns=sample.shape[1],
        n_incomplete=n_incomplete_columns(sample),
        progress=[(done, then - started) for done, then in recorder.progress],
        total=recorder.total,
        unit=recorder.unit,
        finished=fitted is not None,
        seconds=ended - started,
        impute_seconds=0.0 if fitted is None else ended - fitted,
        cpu_seconds=cpu_ended - cpu_started,
        idle_seconds=idle_ended - idle_started,
        memory_mb=peak.megabytes or 0.0,
        profile=profile,
        sample_seconds=sample_seconds,
    )


def _fit_and_impute(
    imputer: BaseImputer,
    sample: pd.DataFrame,
    recorder: _ProgressRecorder,
    stop: Callable[[], bool],
) -> float | None:
    """Return when the fit was over, None if it was stopped before the sample was imputed."""
    try:
        imputer.fit(sample, callbacks=(recorder,), cancel=stop)
        fitted = time.perf_counter()
        imputer.transform(sample)
    except Cancelled:
        return None
    return fitted


def _sample_once(imputer: BaseImputer, sample: pd.DataFrame, stop: Callable[[], bool]) -> float:
    """Return the seconds of one random imputation, 0 for a method that draws none.

    One that is stopped takes at least so long; one that fails is not scored in a comparison.
    """
    if not imputer.draws_samples():
        return 0.0
    started = time.perf_counter()
    with warnings.catch_warnings(), contextlib.suppress(Cancelled, PMAEError):
        warnings.simplefilter("ignore")
        imputer.sample(sample, 1, random_state=0, cancel=stop)
    return time.perf_counter() - started


def idle_seconds() -> float:
    """Return for how many seconds the cores that this process may use were idle so far."""
    per_core = psutil.cpu_times(percpu=True)
    usable = set(range(len(per_core)))
    if hasattr(os, "sched_getaffinity"):
        usable &= os.sched_getaffinity(0)
    return float(sum(per_core[core].idle for core in usable))


def n_incomplete_columns(frame: pd.DataFrame) -> int:
    """Return how many columns have missing cells; all if none has, as they are alike then."""
    return int(frame.isna().any().sum()) or frame.shape[1]
