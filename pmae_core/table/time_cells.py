"""Dates, times and durations as counts of steps, and steps as cells again."""

from __future__ import annotations

import datetime
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.table.cells import (
    CellKind,
    as_cells,
    as_objects,
    cell_kind,
    cell_types,
    observed_cells,
)

_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _steps_in_ticks(ticks_per_second: int) -> list[int]:
    """Return the length of a day, an hour, ... down to one tick, all in ticks."""
    coarse = [seconds * ticks_per_second for seconds in (86400, 3600, 60, 1)]
    return coarse + [ticks for ticks in (10**6, 10**3, 1) if ticks < ticks_per_second]


@dataclass(frozen=True)
class TimeCells:
    """Dates, times and durations as a count of steps since the first observed one.

    The step is the coarsest of day, hour, minute, second, milli-, micro- and nanosecond that
    divides all observed distances, so a column of days is imputed with days.

    Parameters
    ----------
    duration
        True for durations, False for points in time.
    first, last
        The observed range in ticks of `resolution`.
    step
        Ticks in one step.
    resolution
        The pandas unit ("s", "ms", "us", "ns") that holds all observed values exactly.
    time_zone
        Name of the time zone, None without one.
    wall_clock
        Distances are what the clock on the wall shows (local midnights stay midnights when the
        clocks change), not the time that really went by.
    written_as
        Type of the imputed cells of an object column.
    """

    duration: bool
    first: int
    last: int
    step: int
    resolution: str
    time_zone: str | None
    wall_clock: bool
    written_as: Literal["timestamp", "datetime", "date"]

    @classmethod
    def fit(cls, series: pd.Series) -> TimeCells:
        """Learn range and step from the observed cells."""
        stamps = _to_stamps(series)
        written_as = _type_of_times(series)
        cells = cls._fit_stamps(stamps, False, written_as)
        if cells.time_zone is None:
            return cells
        local = cls._fit_stamps(stamps, True, written_as)
        return local if local._step_seconds > cells._step_seconds else cells

    @classmethod
    def _fit_stamps(cls, stamps: Any, wall_clock: bool, written_as: Any) -> TimeCells:
        duration = isinstance(stamps, pd.TimedeltaIndex)
        zone = None if duration or stamps.tz is None else str(stamps.tz)
        ticks = _ticks(_naive(stamps, wall_clock)[stamps.notna()])
        if not ticks.size:
            return cls(duration, 0, 0, 1, "s", zone, wall_clock, written_as)
        first = ticks.min()
        # Read as unsigned, a difference that overflows int64 is right again.
        distance = int(np.gcd.reduce((ticks - first).astype(np.uint64)))
        finest = _TICKS_PER_SECOND[stamps.unit]
        resolution, ticks_per_second = next(
            (unit, size)
            for unit, size in _TICKS_PER_SECOND.items()
            if size == finest or math.gcd(distance, int(first)) % (finest // size) == 0
        )
        shrink = finest // ticks_per_second
        steps = _steps_in_ticks(ticks_per_second)
        step = next(step for step in steps if distance // shrink % step == 0)
        return cls(
            duration=duration,
            first=int(first) // shrink,
            last=int(ticks.max()) // shrink,
            step=step,
            resolution=resolution,
            time_zone=zone,
            wall_clock=wall_clock,
            written_as=written_as,
        )

    @property
    def _step_seconds(self) -> float:
        return self.step / _TICKS_PER_SECOND[self.resolution]

    def read(self, series: pd.Series) -> np.ndarray:
        """Return the column as float64 steps since the first observed value, NaN if missing."""
        if not observed_cells(series).any():
            return np.full(len(series), np.nan)
        stamps = _to_stamps(series)
        is_aware = getattr(stamps, "tz", None) is not None
        is_duration = isinstance(stamps, pd.TimedeltaIndex)
        if is_duration != self.duration or is_aware != (self.time_zone is not None):
            raise SchemaError(
                f"Column {series.name!r} ({series.dtype}) holds another kind of time than in the "
                "table that was learned: durations instead of dates, or another use of time zones."
            )
        ticks = _ticks(_naive(stamps, self.wall_clock).as_unit(self.resolution))
        steps = (np.clip(ticks, self.first, self.last) - self.first).astype(np.uint64) / self.step
        steps[stamps.isna()] = np.nan
        return steps

    def write(self, values: np.ndarray, like: pd.Series) -> Any:
        """Return steps as cells of the dtype of a column."""
        steps = np.rint(np.clip(values, 0, None)).astype(np.uint64) * np.uint64(self.step)
        ticks = steps.view(np.int64) + self.first
        dtype: Any = like.dtype
        if self.duration:
            durations = pd.TimedeltaIndex(ticks.view(f"timedelta64[{self.resolution}]"))
            if dtype.kind == "m" and isinstance(dtype, np.dtype):
                return durations.astype(dtype).to_numpy()
            return as_cells(durations.to_pytimedelta().tolist(), dtype)
        stamps = pd.DatetimeIndex(ticks.view(f"datetime64[{self.resolution}]"))
        if self.time_zone is not None and self.wall_clock:
            stamps = stamps.tz_localize(
                self.time_zone,
                ambiguous=np.ones(len(stamps), dtype=bool),
                nonexistent="shift_forward",
            )
        elif self.time_zone is not None:
            stamps = stamps.tz_localize("UTC").tz_convert(self.time_zone)
        return self._stamps_as_cells(stamps, dtype)

    def _stamps_as_cells(self, stamps: pd.DatetimeIndex, dtype: Any) -> Any:
        if isinstance(dtype, pd.ArrowDtype):
            is_date = str(dtype.pyarrow_dtype).startswith("date")
            return as_cells(list(stamps.date if is_date else stamps), dtype)
        if not pd.api.types.is_object_dtype(dtype):
            return stamps.astype(dtype)
        if self.written_as == "date":
            return as_objects(list(stamps.date))
        is_timestamp = self.written_as == "timestamp"
        return as_objects(list(stamps) if is_timestamp else list(stamps.to_pydatetime()))

    def to_dict(self) -> dict[str, Any]:
        """Return the translator as JSON-able data."""
        return {"cells": "time", **asdict(self)}


def _to_stamps(series: pd.Series) -> Any:
    """Return a column of times as a DatetimeIndex or TimedeltaIndex."""
    kind = cell_kind(series)
    try:
        if kind is CellKind.DURATION:
            if isinstance(series.dtype, pd.ArrowDtype):
                unit = series.dtype.pyarrow_dtype.unit
                series = series.astype(np.dtype(f"timedelta64[{unit}]"))
            return pd.TimedeltaIndex(pd.to_timedelta(series))
        if kind is CellKind.DATETIME or not observed_cells(series).any():
            return pd.DatetimeIndex(pd.to_datetime(series))
    except (ValueError, TypeError, OverflowError) as error:
        raise SchemaError(f"Column {series.name!r} cannot be read as times: {error}.") from None
    raise SchemaError(
        f"Column {series.name!r} ({series.dtype}) does not hold dates or times. "
        "Convert it with pandas.to_datetime or give it another role."
    )


def _type_of_times(series: pd.Series) -> str:
    types = cell_types(series) if series.dtype == "object" else set()
    if types == {datetime.date}:
        return "date"
    return "datetime" if types and pd.Timestamp not in types else "timestamp"


def _naive(stamps: Any, wall_clock: bool) -> Any:
    """Return times without their time zone: as the clock on the wall shows them, or as in UTC."""
    if getattr(stamps, "tz", None) is None:
        return stamps
    return stamps.tz_localize(None) if wall_clock else stamps.tz_convert(None)


def _ticks(stamps: Any) -> np.ndarray:
    return stamps.to_numpy().view(np.int64)
