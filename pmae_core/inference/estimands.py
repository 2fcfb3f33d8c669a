"""What can be estimated from a table: means, correlations and slopes, with their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.table import Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.roles import CODED_ROLES
from pmae_core.words import count, listed

FloatArray = npt.NDArray[np.float64]

_COLUMNS_OF = {
    "mean": "one column",
    "correlation": "two columns",
    "slope": "an outcome and a predictor",
}


@dataclass(frozen=True)
class Estimand:
    """A quantity to estimate from a table.

    Attributes
    ----------
    kind : {"mean", "correlation", "slope"}
        What is estimated.
    columns : tuple
        The columns it is about; for a slope the outcome, the predictor and any controls.
    """

    kind: Literal["mean", "correlation", "slope"]
    columns: tuple[Any, ...]

    @classmethod
    def read(cls, spec: Any) -> Estimand:
        """Return the estimand that a tuple like ``("mean", "age")`` names."""
        if not isinstance(spec, tuple | list) or not spec or spec[0] not in _COLUMNS_OF:
            raise ScoringError(
                f"{spec!r} is not an estimand. Write ('mean', column), ('correlation', a, b) or "
                "('slope', outcome, predictor, *controls)."
            )
        kind, *columns = spec
        fits = {"mean": len(columns) == 1, "correlation": len(columns) == 2}
        if not fits.get(kind, len(columns) >= 2):
            raise ScoringError(
                f"A {kind} needs {_COLUMNS_OF[kind]}, not {count(len(columns), 'column')}."
            )
        if len(set(columns)) < len(columns):
            raise ScoringError(f"A {kind} needs different columns, but one is named twice.")
        return cls(kind, tuple(columns))

    @property
    def label(self) -> str:
        """The estimand in words."""
        first, *others = map(str, self.columns)
        if self.kind == "mean":
            return f"mean of {first}"
        if self.kind == "correlation":
            return f"correlation of {first} and {others[0]}"
        predictor, *controls = others
        given = f" given {listed(controls, most=len(controls))}" if controls else ""
        return f"slope of {first} on {predictor}{given}"

    def check_columns(self, frame: pd.DataFrame) -> None:
        """Raise a ScoringError if the table lacks a column of the estimand."""
        absent = [name for name in self.columns if name not in frame.columns]
        if absent:
            raise ScoringError(f"The table has no column {listed(absent, last='or')}.")


def read_estimands(specs: Sequence[Any], frame: pd.DataFrame) -> list[Estimand]:
    """Return the estimands that one tuple, or a sequence of them, names.

    Parameters
    ----------
    specs : tuple or sequence of tuples
        As :meth:`Estimand.read` reads them.
    frame : DataFrame
        The table that must have their columns.
    """
    is_one = len(specs) > 0 and isinstance(specs[0], str)
    asked = [Estimand.read(spec) for spec in ([specs] if is_one else specs)]
    if not asked:
        raise ScoringError("Name at least one estimand.")
    for estimand in asked:
        estimand.check_columns(frame)
    return asked


@dataclass(frozen=True)
class Estimate:
    """An estimate from one table, on the scale on which it is about normal.

    Attributes
    ----------
    value, variance : float
        The estimate and its squared standard error; of a correlation those of Fisher's z.
    df : float
        Degrees of freedom.
    n_rows : int
        Rows of the table.
    """

    value: float
    variance: float
    df: float
    n_rows: int


@dataclass(frozen=True)
class NumberReader:
    """Reads columns as numbers, in the same way from every table.

    Attributes
    ----------
    schema : Schema
        Roles of the columns.
    tables : tuple of DataFrame
        The tables whose labels are the categories of a control.
    """

    schema: Schema
    tables: tuple[pd.DataFrame, ...]

    def numbers(self, table: pd.DataFrame, name: Any) -> FloatArray:
        """Return a column of numbers or booleans, in which nothing may be missing."""
        kind = cell_kind(table[name])
        if kind is CellKind.BOOLEAN:
            column = table[name].astype("boolean")
        elif kind is CellKind.NUMBER:
            column = pd.to_numeric(table[name])
        else:
            raise ScoringError(f"Column {name!r} holds {kind}s, but numbers are needed here.")
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isfinite(numbers).all():
            raise ScoringError(f"Column {name!r} has missing or infinite values.")
        return numbers

    def controls(self, table: pd.DataFrame, name: Any) -> FloatArray:
        """Return a column as features: itself, or 0/1 columns for all categories but the first."""
        is_label = cell_kind(table[name]) is CellKind.LABEL
        if not is_label and self.schema.role(name) not in CODED_ROLES:
            return self.numbers(table, name)[:, None]
        if table[name].isna().any():
            raise ScoringError(f"Column {name!r} has missing values.")
        labels = sorted({str(one) for own in self.tables for one in own[name].dropna()})
        return np.equal.outer(table[name].astype(str).to_numpy(), labels[1:]).astype(np.float64)


def estimate(estimand: Estimand, table: pd.DataFrame, reader: NumberReader) -> Estimate:
    """Estimate from one table in which the columns of the estimand are complete.

    Parameters
    ----------
    estimand : Estimand
        What to estimate.
    table : DataFrame
        From what.
    reader : NumberReader
        Reads the columns as numbers.
    """
    first, *others = estimand.columns
    y = reader.numbers(table, first)
    if estimand.kind == "mean":
        return _mean(y)
    x = reader.numbers(table, others[0])
    if estimand.kind == "correlation":
        return _correlation(y, x)
    controls = [reader.controls(table, name) for name in others[1:]]
    return _slope(y, np.column_stack([x, np.ones(len(x)), *controls]))


def _mean(x: FloatArray) -> Estimate:
    n = len(x)
    if n < 2:
        raise ScoringError(
            f"A mean with its standard error needs at least 2 rows, but there {_are(n)}."
        )
    return Estimate(float(x.mean()), float(x.var(ddof=1) / n), n - 1, n)


def _correlation(x: FloatArray, y: FloatArray) -> Estimate:
    n = len(x)
    if n < 4:
        raise ScoringError(
            f"A correlation with its standard error needs at least 4 rows, but there {_are(n)}."
        )
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise ScoringError("A constant column has no correlation.")
    nearly_one = 1 - 1e-12
    r = np.clip(np.corrcoef(x, y)[0, 1], -nearly_one, nearly_one)
    # The variance of Fisher's z is known, so there are no degrees of freedom to count.
    return Estimate(float(np.arctanh(r)), 1 / (n - 3), math.inf, n)


def _slope(y: FloatArray, design: FloatArray) -> Estimate:
    n, n_coefficients = design.shape
    df = n - n_coefficients
    if df < 1:
        raise ScoringError(
            f"A regression with {n_coefficients} coefficients needs more rows than that, but "
            f"there {_are(n)}."
        )
    if np.linalg.matrix_rank(design) < n_coefficients:
        raise ScoringError(
            "The predictor and the controls are collinear, so the slope is not defined. Remove "
            "a control."
        )
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual_variance = np.sum((y - design @ coefficients) ** 2) / df
    # From the triangular factor, which keeps the digits that X'X would lose.
    factor = np.linalg.inv(np.linalg.qr(design, mode="r"))
    return Estimate(
        float(coefficients[0]), float(residual_variance * np.sum(factor[0] ** 2)), df, n
    )


def _are(n: int) -> str:
    return f"{'is' if n == 1 else 'are'} {n}"
