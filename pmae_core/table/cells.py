"""What the cells of a column hold, whatever dtype holds them."""

from __future__ import annotations

import datetime
import enum
import numbers
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

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
    """Return True where a cell is observed."""
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
    """Return the kind of an object column, from the types of its cells."""
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


def impute_cells(series: pd.Series, missing: np.ndarray, imputed: Any) -> pd.Series:
    """Return the column with `imputed` in its missing cells and all others untouched."""
    is_numpy = isinstance(series.dtype, np.dtype)
    array: Any = series.to_numpy(copy=True) if is_numpy else series.array.copy()
    if str(series.dtype).startswith("dictionary<"):
        # Arrow cannot assign into an empty dictionary, so this column is built anew.
        array = np.array(series.to_numpy(dtype=object))
        imputed = np.asarray(imputed, dtype=object)
    array[missing] = imputed
    # The dtype is named because pandas would guess another one for objects.
    return pd.Series(array, index=series.index, dtype=series.dtype, name=series.name, copy=False)


def as_objects(values: list[Any]) -> np.ndarray:
    """Return values as an array of Python objects, one per value."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def as_cells(values: Any, dtype: Any) -> Any:
    """Return a list or an array of values as an array of a dtype."""
    if pd.api.types.is_object_dtype(dtype):
        return as_objects(values)
    if isinstance(dtype, np.dtype):
        return np.array(values, dtype=dtype)
    return pd.array(values, dtype=dtype)
