"""Quantities as float64, and numbers as cells of the column's own dtype again."""

from __future__ import annotations

import math
import numbers
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.table.cells import CellKind, as_cells, as_objects, cell_kind, cell_types

# A float64 holds 15 to 17 significant digits; a column with so many decimals has full precision.
_MOST_DECIMALS = 12
# A wrong guess is found on the first cells; only a right one is checked on all of them.
_FIRST_CELLS = 1000


@dataclass(frozen=True)
class NumberCells:
    """Quantities: int, float, Decimal, or text that spells numbers.

    Whole numbers are exact up to 2**53 in size; beyond that they are rounded to the nearest
    float64 (a relative error of about 1e-16).

    Parameters
    ----------
    integer
        All observed values are whole, so imputed ones are rounded.
    written_as
        How an imputed cell is written where the dtype leaves it open (object, text, decimals).
    decimals
        Digits after the point that observed cells have at most, and imputed ones get; None for a
        column of full precision, whose imputed cells are not rounded.
    lower, upper
        Declared limits of imputed cells.
    """

    integer: bool
    written_as: Literal["int", "float", "decimal", "text"]
    decimals: int | None = None
    lower: float | None = None
    upper: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest number that may be imputed, whole ones if all are whole."""
        low = -math.inf if self.lower is None else self.lower
        high = math.inf if self.upper is None else self.upper
        return (np.ceil(low), np.floor(high)) if self.integer else (low, high)

    @classmethod
    def fit(cls, series: pd.Series) -> NumberCells:
        """Learn from the observed cells how numbers are written in a column."""
        values = _to_floats(series)
        finite = values[np.isfinite(values)]
        decimals = _decimals(finite, series.dtype)
        # Infinite and very large numbers have no decimals to count, but may be whole.
        integer = bool(finite.size) and bool((finite == np.rint(finite)).all())
        if cell_kind(series) is CellKind.LABEL:
            return cls(integer, "text", decimals)
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
                return cls(integer, "int", decimals)
        return cls(integer, "float", decimals)

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
        elif self.decimals is not None:
            # Observed values are multiples of this step, so rounding stays inside their range.
            values = np.round(values, self.decimals)
        values = np.clip(values, *self.bounds)
        if dtype.kind in "iu":
            return pd.array(_to_integers(values, dtype.kind), dtype=dtype)
        if self.written_as == "decimal":
            quantum = Decimal(1).scaleb(-(self.decimals or 0))
            return as_cells([Decimal(value).quantize(quantum) for value in values.tolist()], dtype)
        if self.written_as == "text":
            pattern = "{:.0f}" if self.integer else "{:.10g}"
            return as_cells([pattern.format(value) for value in values.tolist()], dtype)
        if is_object and self.written_as == "int":
            return as_objects([int(value) for value in values.tolist()])
        return as_cells(values.tolist() if is_object else values, dtype)

    def to_dict(self) -> dict[str, Any]:
        """Return the translator as JSON-able data."""
        return {"cells": "number", **asdict(self)}


def _decimals(values: np.ndarray, dtype: Any) -> int | None:
    """Return how many decimals finite numbers have at most; None for full precision."""
    if not values.size:
        return None
    float_type = _float_type(dtype)
    # Three bits are kept apart: beyond them every number looks like a rounded one.
    most = 2.0 ** (np.finfo(float_type).nmant - 2) / max(np.abs(values).max(), 1e-290)
    for decimals in range(_MOST_DECIMALS + 1):
        if 10.0**decimals > most:
            return None
        if all(
            (np.round(part, decimals).astype(float_type) == part.astype(float_type)).all()
            for part in (values[:_FIRST_CELLS], values)
        ):
            return decimals
    return None


def _float_type(dtype: Any) -> Any:
    """Return the float type in which a column holds its numbers."""
    numpy_dtype = getattr(dtype, "numpy_dtype", dtype)
    is_float = isinstance(numpy_dtype, np.dtype) and numpy_dtype.kind == "f"
    return numpy_dtype.type if is_float else np.float64


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
    """Return whole float64 numbers as int64 or uint64, clipped to their range."""
    whole = np.int64 if kind == "i" else np.uint64
    limits = np.iinfo(whole)
    # float64 rounds the largest integer up, out of the range: stop one step before it.
    highest = np.nextafter(float(limits.max), 0)
    return np.clip(np.rint(values), float(limits.min), highest).astype(whole)
