"""The columns of a table as numbers or labels, whatever dtype holds them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import TableError
from pmae_core.missingness.patterns import BoolArray, FloatArray, IntArray
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.roles import Role
from pmae_core.table.schema import Schema
from pmae_core.table.time_cells import TimeCells

_ANY_NUMBERS = NumberCells(integer=False, written_as="float")


def read_numbers(series: pd.Series, role: Role) -> FloatArray:
    """Return a numerical or datetime column as float64, NaN where missing or infinite.

    Times count from the first observed one.
    """
    if not _holds_times(series, role):
        return _ANY_NUMBERS.read(series)
    return TimeCells.fit(series).read(series)


def number_words(series: pd.Series, role: Role) -> Callable[[float], str]:
    """Return how a number of `read_numbers` is written for people."""
    if not _holds_times(series, role) or not series.notna().any():
        return _few_digits
    cells = TimeCells.fit(series)
    like = series.dropna().iloc[:1]

    def words(number: float) -> str:
        return str(cells.write(np.array([number]), like)[0]).removesuffix(" 00:00:00")

    return words


def _few_digits(number: float) -> str:
    if number != 0 and not 1e-4 <= abs(number) < 1e12:
        return f"{number:.3g}"
    digits = max(4, len(f"{abs(number):.0f}"))
    return np.format_float_positional(number, digits, fractional=False, trim="-")


def read_labels(series: pd.Series) -> tuple[np.ndarray, list[Any]]:
    """Return the code of each cell's label (-1 where missing) and the labels."""
    codes, labels = pd.factorize(series, use_na_sentinel=True)
    return codes, list(labels)


def chi_squared_bound(degrees_of_freedom: int, *, n_comparisons: int = 1) -> float:
    """Return what the largest of some chi-squared numbers exceeds at most once in twenty times."""
    # Imported here so that a page that compares nothing does not wait for it.
    from scipy.special import chdtri

    return float(chdtri(degrees_of_freedom, 0.05 / n_comparisons))


def missing_rows(df: pd.DataFrame, column: Hashable) -> BoolArray:
    """Return True where a column is missing, refusing columns without both kinds of rows."""
    if column not in df.columns:
        raise TableError(f"There is no column {column!r} in the table.")
    missing = df[column].isna().to_numpy()
    if not missing.any():
        raise TableError(f"Column {column!r} has no missing cells, so there is nothing to compare.")
    if missing.all():
        raise TableError(
            f"Column {column!r} has no observed cells, so there is nothing to compare."
        )
    return missing


def places_of(names: pd.Index, columns: Iterable[Hashable] | None = None) -> IntArray:
    """Return at which places of a table some columns (all, if not given) stand."""
    if columns is None:
        return np.arange(len(names))
    wanted = list(columns)
    places = names.get_indexer(pd.Index(wanted, dtype=object))
    if (places < 0).any():
        unknown = ", ".join(repr(wanted[i]) for i in np.flatnonzero(places < 0))
        raise TableError(f"The table has no column {unknown}.")
    return places.astype(np.int64)


def schema_of(df: pd.DataFrame, schema: Schema | None) -> Schema:
    """Return the schema, inferred if there is none."""
    return Schema.infer(df) if schema is None else schema


def _holds_times(series: pd.Series, role: Role) -> bool:
    return role is Role.DATETIME or cell_kind(series) is CellKind.DURATION


def has_meaningful_mean(series: pd.Series, role: Role) -> bool:
    """Say whether the mean of a column means anything to people.

    That of a date would be a number of days since the first one.
    """
    return role is Role.NUMERICAL and series.dtype.kind != "m"
