"""A fit under way: its seed, its callbacks, its cancellation and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pmae_core.errors import Cancelled
from pmae_core.events import Callback, Event, FitProgress


@dataclass(frozen=True, kw_only=True)
class FitRun:
    """What a method gets for one fit, besides the table.

    Attributes
    ----------
    seed : int
        All randomness of the fit comes from it.
    callbacks : sequence of callables
        Each gets every progress event.
    cancel : callable
        ``True`` when the user wants to stop.
    checkpoint_dir : path, optional
        Where methods that train keep a checkpoint and resume from one.
    """

    seed: int
    callbacks: Sequence[Callback]
    cancel: Callable[[], bool]
    checkpoint_dir: Path | None

    def check(self) -> None:
        """Raise :class:`~pmae_core.errors.Cancelled` if the user asked to stop."""
        if self.cancel():
            raise Cancelled("The fit was cancelled.")

    def emit(self, event: Event) -> None:
        """Notify every callback of an event."""
        for callback in self.callbacks:
            callback(event)

    def progress(self, total: int, unit: str, *, every: int = 1) -> ProgressMeter:
        """Return a counter of units of work that notifies this run's callbacks."""
        return ProgressMeter(total, unit, self.callbacks, self.cancel, every=every)


class ProgressMeter:
    """Counts units of work, notifies the callbacks, and stops when the user asks.

    Parameters
    ----------
    total : int
        Units of work; an upper bound where the method may stop earlier.
    unit : str
        What is counted, for example ``"round"``.
    callbacks : sequence of callables
        Each gets a :class:`~pmae_core.events.FitProgress` per unit.
    cancel : callable
        ``True`` when the user wants to stop.
    every : int
        Units between two events.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        callbacks: Sequence[Callback],
        cancel: Callable[[], bool],
        *,
        every: int = 1,
    ) -> None:
        self.total = total
        self.unit = unit
        self.callbacks = callbacks
        self.cancel = cancel
        self.every = every
        self.done = 0
        self.started = time.perf_counter()

    def check(self) -> None:
        """Raise :class:`~pmae_core.errors.Cancelled` if the user asked to stop."""
        if self.cancel():
            raise Cancelled(f"Cancelled after {self.done} of {self.total} {self.unit}s.")

    def advance(self, units: int = 1) -> None:
        """Count units as done, notify the callbacks, and stop if the user asked to."""
        before = self.done
        self.done += units
        if self.done // self.every > before // self.every or self.done == self.total:
            elapsed = time.perf_counter() - self.started
            event = FitProgress(
                done=self.done,
                total=self.total,
                unit=self.unit,
                eta_seconds=elapsed / self.done * (self.total - self.done),
            )
            for callback in self.callbacks:
                callback(event)
        self.check()
