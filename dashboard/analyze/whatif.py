"""What if missing values differ from the imputed ones: a regression on shifted imputations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.analyze.answers import row_of
from dashboard.analyze.fits import (
    FittedModel,
    ModelRequest,
    imputations,
    needed_columns,
    run_analysis,
)
from dashboard.analyze.scales import EffectScale
from dashboard.impute.completed_tables import CompletedTable
from dashboard.text import code, plain
from pmae_core.errors import AnalysisError, ExpressionError, ScoringError
from pmae_core.expressions import ColumnName, Formula, FunctionCall
from pmae_core.inference import DeltaCurve, shifted
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.words import cell_text, listed

DELTAS = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
# A curve that takes longer waits for a click.
PATIENCE_SECONDS = 30.0
MOST_SLIDERS = 6

Deltas = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class ColumnShift:
    """How the imputed values of a column are shifted.

    Attributes
    ----------
    column : str
        The column.
    kind : {"sd", "factor", "odds"}
        By standard deviations of the observed values; by a factor, where the formula takes the
        logarithm; or the odds of a category.
    unit : float
        What a shift of 1 is: a standard deviation, that of the logarithms, or 1 for log odds.
    category : object
        The category whose odds are shifted.
    """

    column: str
    kind: Literal["sd", "factor", "odds"]
    unit: float
    category: Any = None

    def label(self, delta: float) -> str:
        """Return a shift in short: "+0.5 SD", "+22%" or "odds × 1.6"."""
        if self.kind == "sd":
            return f"{delta:+g} SD" if delta else "0"
        if self.kind == "factor":
            return f"{100 * math.expm1(delta * self.unit):+.0f}%" if delta else "0"
        return f"× {math.exp(delta):.2g}" if delta else "× 1"

    def words(self, delta: float) -> str:
        """Say what a shift means, as Markdown; begins in the middle of a sentence."""
        about = f"the missing values of {code(self.column)}"
        way = "higher" if delta > 0 else "lower"
        if self.kind == "odds":
            odds = f"the odds of {plain(cell_text(self.category))} among {about}"
            return f"{odds} are {math.exp(delta):.2g} times as high as imputed"
        if self.kind == "factor":
            change = f"{abs(100 * math.expm1(delta * self.unit)):.0f}% {way}"
        else:
            change = f"{abs(delta * self.unit):.3g} ({abs(delta):.2g} SD) {way}"
        return f"{about} are {change} than imputed"


def column_shifts(completed: CompletedTable, formula: Formula) -> list[ColumnShift]:
    """Return how the imputed columns of a formula can be shifted, those with the most cells first.

    Parameters
    ----------
    completed : CompletedTable
        The run.
    formula : Formula
        The regression.
    """
    names = {str(name): name for name in completed.frame.columns}
    imputed = {
        name: int(completed.n_imputed[names[name]])
        for name in formula.columns
        if completed.n_imputed[names[name]]
    }
    by_size = sorted(imputed, key=lambda name: -imputed[name])
    found = (_column_shift(completed.frame[names[name]], name, formula) for name in by_size)
    return [one for one in found if one is not None]


def _column_shift(cells: pd.Series, name: str, formula: Formula) -> ColumnShift | None:
    kind = cell_kind(cells)
    if kind in (CellKind.LABEL, CellKind.BOOLEAN):
        return ColumnShift(name, "odds", 1.0, category=cells.mode().iloc[0])
    if kind is not CellKind.NUMBER:
        return None
    numbers = NumberCells.fit(cells).read(cells)
    numbers = numbers[np.isfinite(numbers)]
    is_logged = _is_logged(formula, name) and (numbers > 0).all()
    unit = float(np.std(np.log(numbers) if is_logged else numbers, ddof=1))
    if not unit > 0:
        return None
    return ColumnShift(name, "factor" if is_logged else "sd", unit)


def _is_logged(formula: Formula, name: str) -> bool:
    """Say whether a formula knows a column by its logarithm alone."""
    factors = [formula.outcome, *(factor for term in formula.terms for factor in term.factors)]
    own = [factor for factor in factors if name in factor.columns]
    return all(
        isinstance(factor, FunctionCall)
        and factor.function.startswith("log")
        and factor.argument == ColumnName(name)
        for factor in own
    )


# The regression on shifted imputations


def coefficients_at(
    completed: CompletedTable, fitted: FittedModel, shifts: Mapping[ColumnShift, float]
) -> pd.DataFrame:
    """Return the pooled coefficients on shifted imputations; fitted once, then kept.

    Parameters
    ----------
    completed : CompletedTable
        The run.
    fitted : FittedModel
        The regression on its imputations as they are.
    shifts : mapping of ColumnShift to float
        By how much each column is shifted.

    Raises
    ------
    AnalysisError, ExpressionError, ScoringError
        If it cannot be fitted; a sentence.
    """
    moved = {shift: delta for shift, delta in shifts.items() if delta}
    if not moved:
        return fitted.analysis.table
    deltas = tuple((shift.column, delta) for shift, delta in moved.items())
    request = fitted.request
    asked = (request.formula, request.family, request.errors, request.weights)
    return _coefficients(completed.key, asked, deltas, moved, request, completed)


@st.cache_resource(max_entries=200, show_spinner=False)
def _coefficients(
    key: tuple[Any, ...],
    asked: tuple[Any, ...],
    deltas: Deltas,
    _shifts: Mapping[ColumnShift, float],
    _request: ModelRequest,
    _completed: CompletedTable,
) -> pd.DataFrame:
    tables = imputations(_completed, needed_columns(_completed, _request))
    for shift, delta in _shifts.items():
        tables = [
            _moved(table, _completed.was_imputed, shift, delta, number)
            for number, table in enumerate(tables)
        ]
    return run_analysis(_completed, _request, tables).table


def _moved(
    table: pd.DataFrame, was_imputed: pd.DataFrame, shift: ColumnShift, delta: float, number: int
) -> pd.DataFrame:
    (name,) = [name for name in table.columns if str(name) == shift.column]
    if shift.kind == "odds":
        return shifted(table, was_imputed, name, delta, category=shift.category, seed=number)
    if shift.kind == "sd":
        return shifted(table, was_imputed, name, delta)
    cells = table[name]
    logs = np.log(pd.DataFrame({name: NumberCells.fit(cells).read(cells)}, index=table.index))
    moved = shifted(logs, was_imputed, name, delta)
    result = table.copy()
    result[name] = np.exp(moved[name])
    return result


# The curve


@dataclass(frozen=True, eq=False)
class ShiftCurve:
    """A coefficient against the shift of one column.

    Attributes
    ----------
    curve : DeltaCurve
        Estimates and intervals as they are told, and where the conclusion changes.
    failed : str or None
        Why some shifts have no estimate.
    """

    curve: DeltaCurve
    failed: str | None


def shift_curve(
    completed: CompletedTable,
    fitted: FittedModel,
    name: str,
    varied: ColumnShift,
    others: Mapping[ColumnShift, float],
) -> ShiftCurve:
    """Return a coefficient against the shift of one column, the others shifted as they are set.

    Parameters
    ----------
    completed : CompletedTable
        The run.
    fitted : FittedModel
        The regression.
    name : str
        The coefficient.
    varied : ColumnShift
        The column along the curve.
    others : mapping of ColumnShift to float
        Shifts of other columns.
    """
    rows, failed = [], None
    for delta in DELTAS:
        try:
            table = coefficients_at(completed, fitted, {**others, varied: delta})
        except (AnalysisError, ExpressionError, ScoringError) as error:
            failed = str(error)
        else:
            rows.append({"delta": delta, **_estimate(table, name)})
    return ShiftCurve(_curve(rows, fitted, name, varied), failed)


def _estimate(table: pd.DataFrame, name: str) -> dict[str, Any]:
    row = row_of(table, name)
    return {key: float(row[key]) for key in ("estimate", "low", "high")} | {
        "conclusion": conclusion(row)
    }


def here_sentence(
    completed: CompletedTable, fitted: FittedModel, name: str, shifts: Mapping[ColumnShift, float]
) -> str | None:
    """Say what a coefficient is with the shifts that are set, as Markdown; None without any.

    Raises
    ------
    AnalysisError, ExpressionError, ScoringError
        If it cannot be fitted; a sentence.
    """
    moved = {shift: delta for shift, delta in shifts.items() if delta}
    if not moved:
        return None
    row = row_of(coefficients_at(completed, fitted, moved), name)
    scale = EffectScale.of(fitted)
    estimate, low, high = (scale.text(row[key]) for key in ("estimate", "low", "high"))
    conditions = listed(shift.words(delta) for shift, delta in moved.items())
    return f"If {conditions}, the estimate is {estimate} ({low} to {high})."


def conclusion(row: Mapping[str, Any]) -> str:
    """Say on which side of no association an interval lies, "open" if it includes it."""
    if row["low"] <= 0 <= row["high"]:
        return "open"
    return "above" if row["low"] > 0 else "below"


def _curve(
    rows: Sequence[Mapping[str, Any]], fitted: FittedModel, name: str, varied: ColumnShift
) -> DeltaCurve:
    down = _tipping([row for row in reversed(rows) if row["delta"] <= 0])
    up = _tipping([row for row in rows if row["delta"] >= 0])
    scale = EffectScale.of(fitted)
    table = pd.DataFrame(rows, columns=["delta", "estimate", "low", "high", "conclusion"])
    factor = 100 if scale.kind == "percent" else 1
    for key in ("estimate", "low", "high"):
        table[key] = [factor * scale.value(value) for value in table[key]]
    curve = DeltaCurve(table, scale.null, down, up, "")
    return replace(curve, sentence=_sentence(curve, name, varied))


def _tipping(outwards: Sequence[Mapping[str, Any]]) -> float | None:
    """Return where the conclusion first changes, on a line between neighboring shifts."""
    for near, far in pairwise(outwards):
        if far["conclusion"] != near["conclusion"]:
            side = far["conclusion"] if near["conclusion"] == "open" else near["conclusion"]
            end = "low" if side == "above" else "high"
            share = near[end] / (near[end] - far[end])
            return float(near["delta"] + share * (far["delta"] - near["delta"]))
    return None


def _sentence(curve: DeltaCurve, name: str, varied: ColumnShift) -> str:
    rows = curve.table.set_index("delta")
    if 0.0 not in rows.index:
        return "The regression cannot be fitted with these shifts. Move the sliders back."
    base = rows.loc[0.0, "conclusion"]
    place = f"includes {curve.null:g}" if base == "open" else f"lies {base} {curve.null:g}"
    first = f"**The interval of {code(name)} {place}**"
    if curve.tipping is None:
        ends = " to ".join(varied.label(delta) for delta in (rows.index.min(), rows.index.max()))
        return f"{first} at every shift of {code(varied.column)} from {ends}."
    return f"{first}. This changes if {varied.words(curve.tipping)}."
