"""Short runs of one method: which ones are worth their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from pmae_core.errors import Cancelled, PMAEError
from pmae_core.imputers import make_imputer
from pmae_core.jobs.cost.extrapolation import Extrapolation, largest_run
from pmae_core.jobs.cost.load import MachineLoad
from pmae_core.jobs.cost.samples import LEAST_ENLARGEMENT, TableSamples
from pmae_core.jobs.cost.short_run import STOPPED, Goal, ShortRun, run_briefly

MOST_LARGER_RUNS = 4
# How the time until the speed shows is assumed to grow with the rows when a run is planned.
CAUTIOUS_GROWTH = 1.5


class Probe:
    """Runs one method briefly until its cost can be estimated.

    Parameters
    ----------
    method : str
        Its name.
    params : mapping
        Its parameters.
    samples : TableSamples
        The table, and what to run the method on.
    cancel : callable
        ``True`` when the user wants to stop.
    imputations : int
        How many random imputations each run is followed by.

    Attributes
    ----------
    runs : list of ShortRun
        What was measured.
    error : str or None
        Why a run failed.
    """

    def __init__(
        self,
        method: str,
        params: Mapping[str, Any],
        samples: TableSamples,
        cancel: Callable[[], bool],
        imputations: int = 0,
    ) -> None:
        self.method = method
        self.params = params
        self.samples = samples
        self.cancel = cancel
        self.imputations = imputations
        self.runs: list[ShortRun] = []
        self.error: str | None = None

    @property
    def largest_run(self) -> ShortRun | None:
        """The run on the largest sample that shows the speed, if any does."""
        return largest_run(self.runs)

    def extrapolation(self, load: MachineLoad | None = None) -> Extrapolation | None:
        """Return what the runs say about a whole run, None if none showed the speed."""
        largest = self.largest_run
        if largest is None:
            return None
        return Extrapolation(
            self.runs, self.samples.frame, largest, load=load, imputations=self.imputations
        )

    def warm_up(self) -> None:
        """Load what the method needs, by a run of hardly more than a step."""
        self._try(self.samples.tiny(), goal=Goal.LOADED)
        self.error = None

    def run_first(self, seconds: float) -> None:
        """Run on a small sample until the speed shows, for this time at most."""
        self._measure(self.samples.first(), seconds, Goal.SPEED)

    def run_larger(self, seconds: float) -> None:
        """Run on larger samples while there is time; on a smaller one if no speed showed yet."""
        deadline = time.perf_counter() + seconds
        if self.largest_run is None:
            few = self.samples.few_columns()
            if few is not None:
                self._measure(few, seconds, Goal.SPEED)
        for _ in range(MOST_LARGER_RUNS):
            remaining = deadline - time.perf_counter()
            n_rows = self._next_rows(remaining)
            if n_rows is None:
                return
            run = self._measure(self.samples.rows(n_rows), remaining)
            if run is None or not run.shows_speed:
                return

    def _next_rows(self, seconds: float) -> int | None:
        """Return how many rows to run on in this time, None if no run is worth it."""
        largest, frame = self.largest_run, self.samples.frame
        if largest is None or seconds <= 0 or largest.n_columns < frame.shape[1]:
            return None
        if largest.profile.growth == 0:
            times = seconds / 2 / max(largest.setup_seconds, 1e-3)
        else:
            times = (seconds / 2 / max(largest.seconds_to_speed, 1e-3)) ** (1 / CAUTIOUS_GROWTH)
        possible = min(len(frame), int(largest.n_rows * times))
        worthwhile = min(len(frame), LEAST_ENLARGEMENT * largest.n_rows)
        if possible > largest.n_rows and possible >= worthwhile:
            return possible
        # A longer run on the same sample makes the speed more certain.
        return None if largest.finished or largest.seconds > seconds / 2 else largest.n_rows

    def _measure(
        self, sample: pd.DataFrame, seconds: float, goal: Goal = Goal.END
    ) -> ShortRun | None:
        """Run the method on a sample and keep what was measured; None if the run failed."""
        if self.cancel():
            raise Cancelled(STOPPED)
        run = self._try(sample, seconds=seconds, goal=goal)
        if run is not None:
            self.runs.append(run)
        return run

    def _try(self, sample: pd.DataFrame, **limits: Any) -> ShortRun | None:
        """Run the method on a sample; None, with the reason in `error`, if it fails."""
        try:
            params = {**self.params, "schema": self.samples.schema_of(sample), "random_state": 0}
            imputer = make_imputer(self.method, **params)
            profile = imputer.work_profile(len(self.samples.frame))
            if profile.params:
                imputer.set_params(**profile.params)
            return run_briefly(
                imputer, sample, profile, cancel=self.cancel, samples=self.imputations > 0, **limits
            )
        except Cancelled:
            raise
        except PMAEError as error:
            self.error = str(error)
        except Exception as error:
            # As in a comparison, a broken method is a row with its reason.
            self.error = f"The method broke: {type(error).__name__}: {error}"
        return None
