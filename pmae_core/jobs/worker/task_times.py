"""How long the tasks of a comparison take: what was estimated, corrected by what was measured."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

TaskKey = tuple[str, int]

# With a smaller share of a task done, its own speed does not tell yet how long it takes.
TELLING_SHARE = 0.1


class TaskTimes:
    """Seconds of the tasks of a comparison, each weighted by its method.

    Parameters
    ----------
    planned : sequence of (method, seed)
        All tasks.
    clock : callable
        Returns the time in seconds.

    Attributes
    ----------
    expected : dict of str to float
        Estimated seconds of one run of each method, where they are known.
    awaits_estimate : bool
        Whether estimates are still to come. Until then nothing is said about tasks of unknown
        length: the quick methods run first, and tell nothing about the slow ones.
    """

    def __init__(
        self, planned: Sequence[TaskKey] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.expected: dict[str, float] = {}
        self.awaits_estimate = False
        self._planned = dict.fromkeys(planned)
        self._clock = clock
        self._started: dict[TaskKey, float] = {}
        self._done: dict[TaskKey, float | None] = {}

    def start(self, key: TaskKey) -> None:
        """Note that a task starts."""
        self._planned[key] = None
        self._started[key] = self._clock()

    def finish(self, key: TaskKey, *, from_disk: bool) -> None:
        """Note that a task has its result; one that was read from disk says nothing on time."""
        self._planned[key] = None
        started = self._started.pop(key, None)
        is_timed = started is not None and not from_disk
        self._done[key] = self._clock() - started if is_timed and started is not None else None

    def share_and_remaining(
        self, shares: Mapping[TaskKey, float]
    ) -> tuple[float | None, float | None]:
        """Return the share of the work that is done, and the seconds that the rest will take.

        Parameters
        ----------
        shares : mapping
            Which share of each running task is done.
        """
        seconds = {key: self._seconds(key, shares.get(key, 0.0)) for key in self._planned}
        known = {key: value for key, value in seconds.items() if value is not None}
        if not known or (self.awaits_estimate and len(known) < len(seconds)):
            return None, None
        typical = sum(known.values()) / len(known)
        total = done = 0.0
        for key, own in seconds.items():
            weight = typical if own is None else own
            share = 1.0 if key in self._done else shares.get(key, 0.0)
            total += weight
            done += weight * share
        at_once = max(1, len(self._started))
        return (done / total if total > 0 else None), (total - done) / at_once

    def _seconds(self, key: TaskKey, share: float) -> float | None:
        """Return how long a task takes: measured, by its speed so far, or as its method does."""
        measured = self._done.get(key)
        if measured is not None:
            return measured
        usual = self._method_seconds(key[0])
        if key not in self._started:
            return usual
        elapsed = self._clock() - self._started[key]
        if share >= TELLING_SHARE:
            return elapsed / share
        return None if usual is None else max(usual, elapsed)

    def _method_seconds(self, method: str) -> float | None:
        """Return what a method took, or else its estimate, scaled as others missed theirs."""
        measured = [s for (name, _), s in self._done.items() if name == method and s is not None]
        if measured:
            return sum(measured) / len(measured)
        estimate = self.expected.get(method)
        return None if estimate is None else estimate * self._excess()

    def _excess(self) -> float:
        """Return by which factor finished methods took longer than estimated.

        It is their median, and one more method that took as long as estimated: a single estimate
        may be wrong by a factor of 50, which says nothing about the others.
        """
        of_method: dict[str, list[float]] = {}
        for (method, _), seconds in self._done.items():
            if seconds and self.expected.get(method):
                of_method.setdefault(method, []).append(seconds / self.expected[method])
        logs = [math.log(sum(ratios) / len(ratios)) for ratios in of_method.values()]
        return math.exp(statistics.median([0.0, *logs]))


def seconds_left(
    left: Sequence[str], evaluated: Mapping[str, float], run_seconds: Mapping[str, float]
) -> float:
    """Forecast the seconds of the methods that are left.

    Parameters
    ----------
    left : sequence of str
        Methods.
    evaluated : mapping of method to float
        How long the others took that were evaluated.
    run_seconds : mapping of method to float
        How long a run of each took; all are alike without.

    Examples
    --------
    >>> seconds_left(["em"], {"naive": 4.0}, {"naive": 2.0, "em": 30.0})
    60.0
    """
    usual = sum(run_seconds.values()) / max(1, len(run_seconds)) or 1.0
    done = sum(run_seconds.get(method, usual) for method in evaluated)
    pace = sum(evaluated.values()) / done if done else 1.0
    return pace * sum(run_seconds.get(method, usual) for method in left)
