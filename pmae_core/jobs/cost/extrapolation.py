"""From short runs of a method to the time and memory of a whole run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from pmae_core.jobs.cost.load import MachineLoad
from pmae_core.jobs.cost.short_run import ShortRun, n_incomplete_columns
from pmae_core.words import count

MEGABYTE = 1024 * 1024
# The table itself, its encoding and its imputed copy.
COPIES_OF_THE_TABLE = 3

STEEPEST_GROWTH = 2.0
# By which factor the usual share of the units that a method does may be wrong either way.
SPREAD_OF_USUAL_SHARE = 2.5

# By which factor an estimate may be wrong either way: because no two runs take the same time,
# and for each way in which the short run was not a whole one.
NOISE = 1.3
NOISE_OF_STOPPING = 1.5
NOISE_OF_COLUMNS = 2.0
NOISE_OF_TENFOLD_ROWS = 1.6

# From this factor on, the user is told that other work slows the machine down.
SLOWDOWN_TO_REPORT = 1.5


@dataclass(frozen=True)
class TimeRange:
    """Seconds of a whole run, with a range."""

    low: float
    seconds: float
    high: float

    def times(self, factor: float, noise: float = 1.0) -> TimeRange:
        """Return a multiple that may be wrong by the factor `noise` either way."""
        return TimeRange(
            self.low * factor / noise, self.seconds * factor, self.high * factor * noise
        )

    def plus(self, seconds: float) -> TimeRange:
        """Return the time with so many seconds more."""
        return TimeRange(self.low + seconds, self.seconds + seconds, self.high + seconds)


def largest_run(runs: Sequence[ShortRun]) -> ShortRun | None:
    """Return the run on the largest sample of those that show the speed, None if none does."""
    usable = [run for run in runs if run.shows_speed]
    return max(usable, key=lambda run: (run.n_columns, run.n_rows, run.done), default=None)


class Extrapolation:
    """What short runs of a method say about a whole run.

    Parameters
    ----------
    runs : sequence of ShortRun
        What was measured.
    frame : DataFrame
        The whole table.
    largest : ShortRun
        The run to extrapolate from, see :func:`largest_run`.
    load : MachineLoad, optional
        How busy the machine is; by default as it was during these runs.
    imputations : int
        How many random imputations follow.

    Attributes
    ----------
    load : MachineLoad
        How busy the machine is. `runs` and `largest` are as on an idle one.
    """

    def __init__(
        self,
        runs: Sequence[ShortRun],
        frame: pd.DataFrame,
        largest: ShortRun,
        *,
        load: MachineLoad | None = None,
        imputations: int = 0,
    ) -> None:
        # Other work slows each run down by another factor, which would look like growth.
        self.runs = [run.alone() for run in runs]
        self.frame = frame
        self.largest = largest.alone()
        self.load = load or MachineLoad.during(runs)
        self._measured = largest
        self._imputations = imputations

    def time_range(self) -> TimeRange:
        """Return the seconds of a whole run on the whole table."""
        run = self.largest
        whole = self._whole_run(run)
        if run.n_columns < self.frame.shape[1]:
            more_columns = n_incomplete_columns(self.frame) / run.n_incomplete
            whole = whole.times(more_columns, NOISE_OF_COLUMNS)
        whole = self._on_all_rows(whole).plus(self._sampling_seconds()).times(1.0, NOISE)
        # At best the other work on the machine stops. The estimate is that it goes on.
        slowdown = self.load.slowdown_of_job
        return TimeRange(whole.low, whole.seconds * slowdown, whole.high * slowdown)

    def memory_mb(self) -> float:
        """Return by how much a whole run will raise the memory."""
        run, smaller = self.largest, self._smaller_run(self.largest)
        measured = run.memory_mb
        if smaller is not None:
            per_row = (run.memory_mb - smaller.memory_mb) / (run.n_rows - smaller.n_rows)
            measured += max(0.0, per_row) * (len(self.frame) - run.n_rows)
        table = float(self.frame.memory_usage(deep=True).sum()) / MEGABYTE
        return max(measured, COPIES_OF_THE_TABLE * table)

    def basis(self) -> str:
        """Say in a sentence what the estimate rests on."""
        run = self._measured
        what = "Ran to its end"
        if not run.finished:
            what = f"Ran {count(run.done)} of at most {count(run.total, run.unit)}"
        where = f"{count(run.n_rows)} of {count(len(self.frame), 'row')}"
        if run.n_columns < self.frame.shape[1]:
            where += f" and {count(run.n_columns)} of {count(self.frame.shape[1], 'column')}"
        elif run.n_rows == len(self.frame):
            where = "the whole table"
        slowed = ""
        if run.slowdown >= SLOWDOWN_TO_REPORT:
            slowed = f" Other work made it {run.slowdown:.1f} times slower."
        return f"{what} on {where} in {run.seconds:.2g} s.{slowed}"

    def _sampling_seconds(self) -> float:
        """Return the seconds of all random imputations of the table, which grow with its cells."""
        timed = [run for run in self.runs if run.sample_seconds > 0]
        if not self._imputations or not timed:
            return 0.0
        run = max(timed, key=lambda one: (one.n_columns, one.n_rows))
        times = len(self.frame) / run.n_rows * n_incomplete_columns(self.frame) / run.n_incomplete
        return self._imputations * run.sample_seconds * times

    def _whole_run(self, run: ShortRun) -> TimeRange:
        """Return the seconds of a whole run on the sample of a short one."""
        if run.finished:
            return TimeRange(run.seconds, run.seconds, run.seconds)
        model = self._finished_run_like(run)
        if model is not None:
            # So many times slower over the same first units: so many times slower to the end.
            slower = run.seconds_at(run.done) / max(model.seconds_at(run.done), 1e-6)
            seconds = max(run.seconds, model.seconds * slower * run.total / model.total)
            whole = TimeRange(seconds, seconds, seconds).times(1.0, NOISE_OF_STOPPING)
        else:
            per_share = run.total * run.seconds_per_unit
            whole = TimeRange(
                *(run.setup_seconds + share * per_share for share in _shares_of_units(run))
            )
        return TimeRange(max(whole.low, run.seconds), whole.seconds, whole.high)

    def _finished_run_like(self, run: ShortRun) -> ShortRun | None:
        """Return a finished run on a smaller sample that did at least as many units."""
        finished = [
            one
            for one in self.runs
            if one.finished
            and one.n_columns == run.n_columns
            and one.total
            and one.done >= run.done
        ]
        return max(finished, key=lambda one: one.n_rows, default=None)

    def _on_all_rows(self, whole: TimeRange) -> TimeRange:
        """Scale the seconds of a whole run on the largest sample to all rows."""
        run = self.largest
        times = len(self.frame) / run.n_rows
        if times == 1:
            return whole
        # Reading, encoding and imputing grow with the rows, whatever the work does.
        linear = min(run.setup_seconds + run.impute_seconds, whole.seconds)
        work = whole.seconds - linear
        seconds = linear * times + work * times ** self._growth(run)
        noise = NOISE_OF_TENFOLD_ROWS ** math.log10(times)
        return whole.times(seconds / whole.seconds, noise)

    def _growth(self, run: ShortRun) -> float:
        """Return the power of the rows with which the work grows."""
        smaller = self._smaller_run(run)
        if smaller is None:
            return run.profile.growth
        small, large = (self._work_seconds(one) for one in (smaller, run))
        power = math.log(large / small) / math.log(run.n_rows / smaller.n_rows)
        return min(max(power, 0.0), STEEPEST_GROWTH)

    def _smaller_run(self, run: ShortRun) -> ShortRun | None:
        """Return the run on the next smaller sample that shows the speed."""
        smaller = [
            one
            for one in self.runs
            if one.shows_speed and one.n_columns == run.n_columns and one.n_rows < run.n_rows
        ]
        return max(smaller, key=lambda one: one.n_rows, default=None)

    def _work_seconds(self, run: ShortRun) -> float:
        seconds = self._whole_run(run).seconds - run.setup_seconds - run.impute_seconds
        return max(seconds, 1e-4)


def _shares_of_units(run: ShortRun) -> tuple[float, float, float]:
    """Return which share of its units a method does: at least, usually, at most."""
    profile = run.profile
    if profile.earliest_end is not None:
        earliest = min(1.0, profile.earliest_end / run.total)
        shares = (earliest, math.sqrt(earliest), 1.0)
    else:
        usual = profile.usual_share
        spread = SPREAD_OF_USUAL_SHARE if usual < 1 else 1.0
        shares = (usual / spread, usual, min(1.0, usual * spread))
    done = run.done / run.total
    low, usual, high = (max(done, share) for share in shares)
    return low, usual, high
