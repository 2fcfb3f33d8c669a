"""What the cells of a column hold, and how they become numbers and come back.

Two translators: `NumberCells` for quantities, `TimeCells` for dates and durations. Both turn a
column into float64 (NaN where nothing usable is seen) and write numbers back as cells of
the column's own dtype.
"""

from __future__ import annotations

import datetime
import enum
import math
import numbers
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.storage.json_values import is_json_value


class CellKind(enum.StrEnum):
    """What the observed cells of a column are, whatever dtype holds them."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    DURATION = "duration"
    LABEL = "label"
    OTHER = "other"


def observed_cells(series: pd.Series) -> np.ndarray:
    """Return True where a cell is seen."""
    return series.notna().to_numpy()


def cell_types(series: pd.Series) -> set[type]:
    """Return the Python types of the observed cells (of the categories for a category column)."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return set(map(type, series.dtype.categories))
    values = series.to_numpy(dtype=object)[observed_cells(series)]
    return set(map(type, values))


def cell_kind(series: pd.Series) -> CellKind:
    """Return what the cells of a column are.

    Examples
    --------
    >>> cell_kind(pd.Series([1.5, None])), cell_kind(pd.Series([True, None], dtype=object))
    (<CellKind.NUMBER: 'number'>, <CellKind.BOOLEAN: 'boolean'>)
    """
    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype | pd.PeriodDtype | pd.IntervalDtype):
        return CellKind.OTHER
    if isinstance(dtype, pd.CategoricalDtype):
        saved = all(map(is_json_value, dtype.categories))
        return CellKind.LABEL if saved else CellKind.OTHER
    if pd.api.types.is_bool_dtype(dtype):
        return CellKind.BOOLEAN
    if pd.api.types.is_complex_dtype(dtype):
        return CellKind.OTHER
    if pd.api.types.is_numeric_dtype(dtype):
        return CellKind.NUMBER
    kinds_of_dtype = {"M": CellKind.DATETIME, "m": CellKind.DURATION, "U": CellKind.LABEL}
    if dtype.kind in kinds_of_dtype:
        return kinds_of_dtype[dtype.kind]
    if isinstance(dtype, pd.StringDtype):
        return CellKind.LABEL
    return _kind_of_objects(series)


def _kind_of_objects(series: pd.Series) -> CellKind:
    """Return the kind of a column whose dtype says nothing, from the types of its cells."""
    types = cell_types(series)

    def all_are(*bases: type) -> bool:
        return bool(types) and all(issubclass(kind, bases) for kind in types)

    if all_are(bool, np.bool_):
        return CellKind.BOOLEAN
    if all_are(numbers.Real, Decimal) and not any(
        issubclass(kind, bool | np.bool_) for kind in types
    ):
        return CellKind.NUMBER
    if all_are(datetime.datetime) or types == {datetime.date}:
        # Cells in several time zones have no common clock; they stay labels.
        return CellKind.DATETIME if _parses_as_times(series) else CellKind.LABEL
    if all_are(datetime.timedelta):
        return CellKind.DURATION
    labels = (str, numbers.Real, np.bool_, Decimal, datetime.date, datetime.timedelta, pd.Interval)
    return CellKind.LABEL if not types or all_are(*labels) else CellKind.OTHER


def _parses_as_times(series: pd.Series) -> bool:
    try:
        pd.to_datetime(series)
    except (ValueError, TypeError):
        return False
    return True


def fill_cells(series: pd.Series, missing: np.ndarray, filled: Any) -> pd.Series:
    """Return the column with `filled` in its missing cells and all others untouched."""
    is_numpy = isinstance(series.dtype, np.dtype)
    array: Any = series.to_numpy(copy=True) if is_numpy else series.array.copy()
    if str(series.dtype).startswith("dictionary<"):
        # Arrow cannot assign into an empty dictionary, so this column is built anew.
        array = np.array(series.to_numpy(dtype=object))
        filled = np.asarray(filled, dtype=object)
    array[missing] = filled
    # The dtype is named because pandas would guess another one for objects.
    return pd.Series(array, index=series.index, dtype=series.dtype, name=series.name, copy=False)


def _as_object_array(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def as_cells(values: Any, dtype: Any) -> Any:
    """Return a list or an array of values as an array of a dtype."""
    if pd.api.types.is_object_dtype(dtype):
        return _as_object_array(values)
    if isinstance(dtype, np.dtype):
        return np.array(values, dtype=dtype)
    return pd.array(values, dtype=dtype)


@dataclass(frozen=True)
class NumberCells:
    """Quantities: int, float, Decimal, or text that spells numbers.

    Whole numbers are exact up to 2**53 in size; beyond that they are rounded to the nearest
    float64 (a relative error of about 1e-16).

    Parameters
    ----------
    integer
        All observed values are whole, so filled ones are rounded.
    written_as
        How a filled cell is written where the dtype leaves it open (object, text, decimals).
    decimals
        Digits after the point of filled Decimal cells.
    """

    integer: bool
    written_as: Literal["int", "float", "decimal", "text"]
    decimals: int = 0

    @classmethod
    def fit(cls, series: pd.Series) -> NumberCells:
        """Learn from the observed cells how numbers are written in a column."""
        values = _to_floats(series)
        finite = values[np.isfinite(values)]
        integer = bool(finite.size) and bool((finite == np.rint(finite)).all())
        kind = cell_kind(series)
        if kind is CellKind.LABEL:
            return cls(integer, "text")
        if series.dtype.kind == "O":
            types = cell_types(series)
            if Decimal in types and not any(issubclass(one, float) for one in types):
                exponents = [
                    int(cell.as_tuple().exponent)
                    for cell in series.dropna().unique()
                    if isinstance(cell, Decimal) and cell.is_finite()
                ]
                return cls(integer, "decimal", max(0, -min(exponents, default=0)))
            if types and all(issubclass(one, numbers.Integral) for one in types):
                return cls(integer, "int")
        return cls(integer, "float")

    def read(self, series: pd.Series) -> np.ndarray:
        """Return the column as float64, NaN where missing or infinite."""
        values = _to_floats(series)
        values[~np.isfinite(values)] = np.nan
        return values

    def write(self, values: np.ndarray, like: pd.Series) -> Any:
        """Return numbers as cells of the dtype of a column."""
        dtype: Any = like.dtype
        is_object = pd.api.types.is_object_dtype(dtype)
        if self.integer:
            values = np.rint(values)
        if dtype.kind in "iu":
            return pd.array(_to_integers(values, dtype.kind), dtype=dtype)
        if self.written_as == "decimal":
            quantum = Decimal(1).scaleb(-self.decimals)
            return as_cells([Decimal(value).quantize(quantum) for value in values.tolist()], dtype)
        if self.written_as == "text":
            pattern = "{:.0f}" if self.integer else "{:.10g}"
            return as_cells([pattern.format(value) for value in values.tolist()], dtype)
        if is_object and self.written_as == "int":
            return _as_object_array([int(value) for value in values.tolist()])
        return as_cells(values.tolist() if is_object else values, dtype)

    def to_dict(self) -> dict[str, Any]:
        """Return the translator as JSON-able data."""
        return {"cells": "number", **asdict(self)}


def _to_floats(series: pd.Series) -> np.ndarray:
    """Return a column of numbers as a new float64 array with NaN for missing cells."""
    kind = cell_kind(series)
    if isinstance(series.dtype, pd.CategoricalDtype) or kind not in (
        CellKind.NUMBER,
        CellKind.LABEL,
    ):
        raise SchemaError(
            f"Column {series.name!r} ({series.dtype}) does not hold plain numbers. "
            "Convert it with astype(float) or give it another role."
        )
    try:
        if kind is CellKind.LABEL:
            series = pd.to_numeric(series.astype(object))
        return np.array(series.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise SchemaError(
            f"Column {series.name!r} cannot be numerical: not all of its values are numbers "
            f"({error}). Give it the role categorical, or declare such values missing."
        ) from None


def _to_integers(values: np.ndarray, kind: str) -> np.ndarray:
    """Return whole float64 numbers as int64 or uint64, kept inside their range."""
    whole = np.int64 if kind == "i" else np.uint64
    limits = np.iinfo(whole)
    # float64 rounds the largest integer up, out of the range: stop one step before it.
    highest = np.nextafter(float(limits.max), 0)
    return np.clip(np.rint(values), float(limits.min), highest).astype(whole)


_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _steps_in_ticks(ticks_per_second: int) -> list[int]:
    """Return the length of a day, an hour, ... down to one tick, all in ticks."""
    coarse = [seconds * ticks_per_second for seconds in (86400, 3600, 60, 1)]
    return coarse + [ticks for ticks in (10**6, 10**3, 1) if ticks < ticks_per_second]


@dataclass(frozen=True)
class TimeCells:
    """Dates, times and durations as a count of steps since the first observed one.

    The step is the coarsest of day, hour, minute, second, milli-, micro- and nanosecond that
    divides all observed distances, so a column of days is filled with days.

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
        Type of the filled cells of an object column.
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
        on_the_wall = cls._fit_stamps(stamps, True, written_as)
        return on_the_wall if on_the_wall._step_seconds > cells._step_seconds else cells

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
                f"Column {series.name!r} ({series.dtype}) holds another kind of time than the "
                "table that was learned (durations, or with and without a time zone)."
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
            return _as_object_array(list(stamps.date))
        is_timestamp = self.written_as == "timestamp"
        return _as_object_array(list(stamps) if is_timestamp else list(stamps.to_pydatetime()))

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


def cells_from_dict(data: dict[str, Any]) -> NumberCells | TimeCells:
    """Return the translator that `to_dict` wrote."""
    content = {key: value for key, value in data.items() if key != "cells"}
    return NumberCells(**content) if data["cells"] == "number" else TimeCells(**content)
