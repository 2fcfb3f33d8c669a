"""Short real runs of one method, and what they tell about a whole one."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import Cancelled, PMAEError
from pmae_core.evaluation.memory import PeakMemory
from pmae_core.events import Event, FitProgress, TrainingStarted
from pmae_core.imputers import BaseImputer, make_imputer
from pmae_core.imputers.masked.base import MaskedAutoencoderImputer
from pmae_core.table import Schema

FIRST_ROWS = 200
FEW_ROWS = 60
FEW_COLUMNS = 4
MOST_LOOKS = 4
# A glance ends when it has told something, but gives quick methods the time to finish.
GLANCE_SECONDS = 0.1
GLANCE_MARKS = 3

# A larger sample is worth a look only if it is much larger.
SMALLEST_STEP = 2.0
# How the time to the first events is taken to grow with the rows when a look is planned.
CAUTIOUS_GROWTH = 1.5
STEEPEST_GROWTH = 2.0

# Methods that may stop before the last unit of work they announce: the share they usually do.
# Only used where the method was not seen to its end on a smaller sample.
USUAL_SHARE = {"hyperimpute": 0.15, "igrm": 0.5, "missforest": 0.5, "tdm": 0.12}
SPREAD_OF_USUAL_SHARE = 2.5

# By which factor an estimate may be wrong either way: the machine's mood always, the others
# where they are needed.
NOISE = 1.3
NOISE_OF_STOPPING = 1.5
NOISE_OF_COLUMNS = 2.0
NOISE_OF_TENFOLD_ROWS = 1.6
# A slow-down by other work that a user should hear of.
WORTH_A_WORD = 1.5

MEGABYTE = 1024 * 1024
# The table itself, its encoding and its filled copy.
COPIES_OF_THE_TABLE = 3

STOPPED = "The estimate was stopped."


@dataclass(frozen=True)
class Guess:
    """Seconds of a whole run, with a range."""

    low: float
    seconds: float
    high: float

    def times(self, factor: float, noise: float = 1.0) -> Guess:
        """Return a multiple that may be wrong by the factor `noise` either way."""
        return Guess(self.low * factor / noise, self.seconds * factor, self.high * factor * noise)


@dataclass(frozen=True, kw_only=True)
class Look:
    """One short run of a method.

    Attributes
    ----------
    n_rows, n_columns, n_with_holes : int
        The sample, and how many of its columns have holes.
    marks : list of (int, float)
        Units done, and the seconds since the start at which they were.
    total : int
        Units in all, as the method announced them; 0 if it announced none.
    unit : str
        What is counted.
    finished : bool
        Whether the run came to its end.
    seconds, filling_seconds : float
        What the run took, and of this the filling, 0 where that was never reached.
    cpu_seconds : float
        What it had of the processor; less than `seconds` where others wanted that, too.
    memory_mb : float
        By how much it raised the memory.
    earliest_end : float or None
        Share of the units after which the method can stop at the earliest, where it tells.
    usual_growth : float
        Power of the rows with which the work grows, where only one sample was seen.
    """

    n_rows: int
    n_columns: int
    n_with_holes: int
    marks: list[tuple[int, float]]
    total: int
    unit: str
    finished: bool
    seconds: float
    filling_seconds: float
    cpu_seconds: float
    memory_mb: float
    earliest_end: float | None
    usual_growth: float

    @property
    def done(self) -> int:
        """Units done in the end."""
        return self.marks[-1][0] if self.marks else 0

    @property
    def tells(self) -> bool:
        """Whether the speed of the method was seen."""
        return self.finished or self.done > 0

    @property
    def busy(self) -> float:
        """By which factor other work on the machine slowed it down."""
        return max(1.0, self.seconds / max(self.cpu_seconds, 1e-3))

    @property
    def unit_seconds(self) -> float:
        """Seconds of a unit, without those before the first mark where there are more."""
        (first, begin), (last, end) = self.marks[0], self.marks[-1]
        return (end - begin) / (last - first) if last > first else end / last

    @property
    def preparation(self) -> float:
        """Seconds before the first unit."""
        if self.done == 0:
            return 0.0
        done, seconds = self.marks[0]
        return max(0.0, seconds - done * self.unit_seconds)

    @property
    def seconds_to_tell(self) -> float:
        """Seconds after which the speed of the method shows."""
        shown = [seconds for done, seconds in self.marks if done > 0]
        return shown[min(1, len(shown) - 1)] if shown else self.seconds

    def seconds_at(self, done: int) -> float:
        """Return the seconds after which so many units were done."""
        units, seconds = zip(*self.marks, strict=True)
        return float(np.interp(done, units, seconds))


class Probe:
    """Looks at one method until enough is known about it.

    Parameters
    ----------
    method : str
        Its name.
    params : mapping
        Its parameters.
    frame : DataFrame
        The whole table.
    schema : Schema
        Roles of its columns.
    cancel : callable
        ``True`` when the user wants to stop.

    Attributes
    ----------
    looks : list of Look
        What was seen.
    error : str or None
        Why a look failed.
    """

    def __init__(
        self,
        method: str,
        params: Mapping[str, Any],
        frame: pd.DataFrame,
        schema: Schema,
        cancel: Callable[[], bool],
    ) -> None:
        self.method = method
        self.params = params
        self.frame = frame
        self.schema = schema
        self.cancel = cancel
        self.looks: list[Look] = []
        self.error: str | None = None
        # The same rows for all methods, and random ones: the first of a file may be special.
        self._order = np.random.default_rng(0).permutation(len(frame))

    # ------------------------------------------------------------ looking

    @property
    def best(self) -> Look | None:
        """The look at the largest sample that tells something."""
        telling = [look for look in self.looks if look.tells]
        return max(telling, key=lambda look: (look.n_columns, look.n_rows, look.done), default=None)

    def warm_up(self) -> None:
        """Load what the method needs, by a run of hardly more than a step."""
        self._run(self._sample(FEW_ROWS), deadline=math.inf, is_warm_up=True)
        self.error = None

    def glance(self, seconds: float) -> None:
        """Look at a small sample, in this time at the most, until something is told."""
        self._look(self._first_sample(), seconds, is_glance=True)

    def look_closer(self, seconds: float) -> None:
        """Look at larger samples while there is time, at a smaller one if nothing was seen."""
        deadline = time.perf_counter() + seconds
        if self.best is None and self.frame.shape[1] > FEW_COLUMNS:
            self._look(self._sample(FEW_ROWS)[self._few_columns()], seconds, is_glance=True)
        for _ in range(MOST_LOOKS):
            remaining = deadline - time.perf_counter()
            n_rows = self._next_rows(remaining)
            if n_rows is None:
                return
            look = self._look(self._sample(n_rows), remaining)
            if look is None or not look.tells:
                return

    def _look(
        self, sample: pd.DataFrame, seconds: float, *, is_glance: bool = False
    ) -> Look | None:
        """Run the method on a sample for some time; None if it failed."""
        if self.cancel():
            raise Cancelled(STOPPED)
        look = self._run(sample, time.perf_counter() + seconds, is_glance=is_glance)
        if look is not None:
            self.looks.append(look)
        return look

    def _next_rows(self, seconds: float) -> int | None:
        """Return how many rows to look at in this time, None if no look is worth it."""
        best, n_rows = self.best, len(self.frame)
        if best is None or seconds <= 0 or best.n_columns < self.frame.shape[1]:
            return None
        if best.usual_growth == 0:
            times = seconds / 2 / max(best.preparation, 1e-3)
        else:
            times = (seconds / 2 / max(best.seconds_to_tell, 1e-3)) ** (1 / CAUTIOUS_GROWTH)
        possible = min(n_rows, int(best.n_rows * times))
        if possible > best.n_rows and possible >= min(n_rows, SMALLEST_STEP * best.n_rows):
            return possible
        # A longer look at the same sample makes the speed surer.
        return None if best.finished or best.seconds > seconds / 2 else best.n_rows

    def _first_sample(self) -> pd.DataFrame:
        is_small = len(self.frame) < SMALLEST_STEP * FIRST_ROWS
        return self.frame if is_small else self._sample(FIRST_ROWS)

    def _sample(self, n_rows: int) -> pd.DataFrame:
        if n_rows >= len(self.frame):
            return self.frame
        return self.frame.iloc[np.sort(self._order[:n_rows])]

    def _few_columns(self) -> list[Any]:
        """Return some columns, half of them with holes where there are so many."""
        holes = self.frame.isna().any()
        with_holes = [name for name in self.frame.columns if holes[name]][: FEW_COLUMNS // 2]
        others = [name for name in self.frame.columns if name not in with_holes]
        chosen = {*with_holes, *others[: FEW_COLUMNS - len(with_holes)]}
        return [name for name in self.frame.columns if name in chosen]

    def _run(
        self,
        sample: pd.DataFrame,
        deadline: float,
        *,
        is_glance: bool = False,
        is_warm_up: bool = False,
    ) -> Look | None:
        """Run the method until it ends or the time is up; None, with the reason, if it fails."""
        try:
            return self._watched_run(sample, deadline, is_glance, is_warm_up)
        except Cancelled:
            raise
        except PMAEError as error:
            self.error = str(error)
        except Exception as error:
            # As in a comparison, a broken method is a row with its reason.
            self.error = f"The method broke: {type(error).__name__}: {error}"
        return None

    def _watched_run(
        self, sample: pd.DataFrame, deadline: float, is_glance: bool, is_warm_up: bool
    ) -> Look:
        watch = _Watch()
        started, cpu = time.perf_counter(), time.process_time()

        def stop() -> bool:
            watch.tick()
            now = time.perf_counter()
            has_told = len(watch.marks) > GLANCE_MARKS and now >= started + GLANCE_SECONDS
            is_warm = is_warm_up and watch.n_asked > 1
            return self.cancel() or now >= deadline or (is_glance and has_told) or is_warm

        imputer = self._imputer_for(sample)
        with warnings.catch_warnings(), PeakMemory() as peak:
            warnings.simplefilter("ignore")
            fitted = _fit_and_impute(imputer, sample, watch, stop)
        if fitted is None and self.cancel():
            raise Cancelled(STOPPED)
        ended = time.perf_counter()
        return Look(
            n_rows=len(sample),
            n_columns=sample.shape[1],
            n_with_holes=_n_with_holes(sample),
            marks=[(done, then - started) for done, then in watch.marks],
            total=watch.total,
            unit=watch.unit,
            finished=fitted is not None,
            seconds=ended - started,
            filling_seconds=0.0 if fitted is None else ended - fitted,
            cpu_seconds=time.process_time() - cpu,
            memory_mb=peak.megabytes or 0.0,
            earliest_end=_earliest_end(imputer, watch.total),
            # A training of so many steps, each of so many rows, does not grow with the table.
            usual_growth=0.0 if getattr(imputer, "settings_", {}).get("steps") else 1.0,
        )

    def _imputer_for(self, sample: pd.DataFrame) -> BaseImputer:
        names = set(sample.columns)
        schema = Schema(tuple(column for column in self.schema if column.name in names))
        params = {**self.params, "schema": schema, "random_state": 0}
        imputer = make_imputer(self.method, **params)
        if isinstance(imputer, MaskedAutoencoderImputer):
            # As many steps as for all rows: more rows may mean more of them.
            imputer.set_params(steps=imputer.settings_for(len(self.frame))["steps"])
        return imputer

    # ------------------------------------------------------------ what the looks tell

    def guess(self) -> Guess | None:
        """Return the seconds of a whole run on the whole table, None if nothing was seen."""
        best = self.best
        if best is None:
            return None
        guess = self._whole_run(best)
        if best.n_columns < self.frame.shape[1]:
            columns = _n_with_holes(self.frame) / best.n_with_holes
            guess = guess.times(columns, NOISE_OF_COLUMNS)
        low, seconds, high = astuple(self._on_all_rows(guess, best).times(1.0, NOISE))
        # Whether the machine stays as busy nobody knows: not at all, somewhat, as it is now.
        return Guess(low / best.busy, seconds / math.sqrt(best.busy), high)

    def memory_mb(self) -> float | None:
        """Return by how much a whole run will raise the memory, None if nothing was seen."""
        best = self.best
        if best is None:
            return None
        seen = best.memory_mb
        other = self._smaller(best)
        if other is not None:
            a_row = (best.memory_mb - other.memory_mb) / (best.n_rows - other.n_rows)
            seen += max(0.0, a_row) * (len(self.frame) - best.n_rows)
        table = float(self.frame.memory_usage(deep=True).sum()) / MEGABYTE
        return max(seen, COPIES_OF_THE_TABLE * table)

    def how(self) -> str:
        """Say in a sentence what the estimate rests on."""
        best = self.best
        if best is None:
            return ""
        done = f"Ran {best.done:,} of at most {best.total:,} {best.unit}s"
        what = "Ran to its end" if best.finished else done
        where = f"{best.n_rows:,} of {len(self.frame):,} rows"
        if best.n_columns < self.frame.shape[1]:
            where += f" and {best.n_columns} of {self.frame.shape[1]} columns"
        elif best.n_rows == len(self.frame):
            where = "the whole table"
        slowed = ""
        if best.busy >= WORTH_A_WORD:
            slowed = f" Other work made it {best.busy:.1f} times slower."
        return f"{what} on {where} in {best.seconds:.2g} s.{slowed}"

    def _whole_run(self, look: Look) -> Guess:
        """Return the seconds of a whole run on the sample of a look."""
        if look.finished:
            return Guess(look.seconds, look.seconds, look.seconds)
        model = self._seen_to_its_end(look)
        if model is not None:
            # So many times slower over the same first units: so many times slower to the end.
            slower = look.seconds_at(look.done) / max(model.seconds_at(look.done), 1e-6)
            seconds = max(look.seconds, model.seconds * slower * look.total / model.total)
            guess = Guess(seconds, seconds, seconds).times(1.0, NOISE_OF_STOPPING)
        else:
            guess = Guess(
                *(
                    look.preparation + share * look.total * look.unit_seconds
                    for share in self._shares(look)
                )
            )
        return Guess(max(guess.low, look.seconds), guess.seconds, guess.high)

    def _seen_to_its_end(self, look: Look) -> Look | None:
        """Return a finished look at a smaller sample that did at least as many units."""
        finished = [
            one
            for one in self.looks
            if one.finished
            and one.n_columns == look.n_columns
            and one.total
            and one.done >= look.done
        ]
        return max(finished, key=lambda one: one.n_rows, default=None)

    def _shares(self, look: Look) -> tuple[float, float, float]:
        """Return which share of its units a method does: at the least, usually, at the most."""
        if look.earliest_end is not None:
            shares = (look.earliest_end, math.sqrt(look.earliest_end), 1.0)
        else:
            usual = USUAL_SHARE.get(self.method, 1.0)
            spread = SPREAD_OF_USUAL_SHARE if usual < 1 else 1.0
            shares = (usual / spread, usual, min(1.0, usual * spread))
        seen = look.done / look.total
        low, share, high = (max(seen, share) for share in shares)
        return low, share, high

    def _on_all_rows(self, guess: Guess, look: Look) -> Guess:
        """Scale a guess for the sample of a look to all rows."""
        times = len(self.frame) / look.n_rows
        if times == 1:
            return guess
        # Reading, encoding and filling grow with the rows, whatever the work does.
        linear = min(look.preparation + look.filling_seconds, guess.seconds)
        work = guess.seconds - linear
        seconds = linear * times + work * times ** self._growth(look)
        noise = NOISE_OF_TENFOLD_ROWS ** math.log10(times)
        return guess.times(seconds / guess.seconds, noise)

    def _growth(self, look: Look) -> float:
        """Return the power of the rows with which the work grows."""
        other = self._smaller(look)
        if other is None:
            return look.usual_growth
        small, large = (self._work(one) for one in (other, look))
        power = math.log(large / small) / math.log(look.n_rows / other.n_rows)
        return min(max(power, 0.0), STEEPEST_GROWTH)

    def _smaller(self, look: Look) -> Look | None:
        """Return the next smaller sample that told something."""
        smaller = [
            one
            for one in self.looks
            if one.tells and one.n_columns == look.n_columns and one.n_rows < look.n_rows
        ]
        return max(smaller, key=lambda one: one.n_rows, default=None)

    def _work(self, look: Look) -> float:
        seconds = self._whole_run(look).seconds - look.preparation - look.filling_seconds
        return max(seconds, 1e-4)


class _Watch:
    """Notes when a method did what, by what it tells and what it asks."""

    def __init__(self) -> None:
        self.total = 0
        self.unit = ""
        self.marks: list[tuple[int, float]] = []
        self._first_step: int | None = None
        self.n_asked = 0

    def __call__(self, event: Event) -> None:
        match event:
            case TrainingStarted():
                self._first_step, self.n_asked = event.first_step, 0
                self.total, self.unit = event.total_steps, "step"
            case FitProgress():
                self.total, self.unit = event.total, event.unit
                self._note(event.done)

    def tick(self) -> None:
        """Count a question whether to stop: a training asks before every step."""
        if self._first_step is not None:
            self._note(self._first_step + self.n_asked)
        self.n_asked += 1

    def _note(self, done: int) -> None:
        self.marks.append((done, time.perf_counter()))


def _fit_and_impute(
    imputer: BaseImputer, sample: pd.DataFrame, watch: _Watch, stop: Callable[[], bool]
) -> float | None:
    """Return when the fit was over, None if it was stopped before the sample was filled."""
    try:
        imputer.fit(sample, callbacks=(watch,), cancel=stop)
        fitted = time.perf_counter()
        imputer.transform(sample)
    except Cancelled:
        return None
    return fitted


def _n_with_holes(frame: pd.DataFrame) -> int:
    """Return how many columns have holes; all if none has, as they are alike then."""
    return int(frame.isna().any().sum()) or frame.shape[1]


def _earliest_end(imputer: Any, total: int) -> float | None:
    """Return after which share of its steps a network that waits for improvement may stop."""
    settings = getattr(imputer, "settings_", {})
    if not total or not settings.get("patience") or not settings.get("validation_share"):
        return None
    return min(1.0, settings["patience"] * settings["validate_every"] / total)
