"""What if the missing ones are different: the delta curve of a filling."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.impute.completed_tables import CompletedTable
from pmae_core.inference import DeltaCurve, tipping_point
from pmae_core.inference.delta import DEFAULT_DELTAS

# Draws of a large table are many cells: so many are pooled at most, but two if there are two.
MOST_CELLS = 2_000_000

Conclusion = tuple[str, ...]


def pooled_draws(completed: CompletedTable) -> int:
    """Return how many draws the estimate is pooled from; 0 if it rests on the filled table."""
    if completed.n_draws < 2:
        return 0
    return min(completed.n_draws, max(2, MOST_CELLS // len(completed.frame)))


def delta_curve(
    completed: CompletedTable, column: str, conclusion: Conclusion, null: float
) -> DeltaCurve:
    """Return how a conclusion moves with the filled cells of a column.

    Raises
    ------
    ScoringError
        If it cannot be estimated; a sentence.
    """
    return _curve(completed.key, column, conclusion, null, completed)


@st.cache_resource(max_entries=32, show_spinner="Moving the filled cells …")
def _curve(
    key: tuple[Any, ...],
    column: str,
    conclusion: Conclusion,
    null: float,
    _completed: CompletedTable,
) -> DeltaCurve:
    columns = list(conclusion[1:])
    draws = _completed.draws(columns, pooled_draws(_completed))
    frame, filled = _completed.frame[columns], draws or _completed.filled[columns]
    schema = _completed.schema.only(columns)
    return tipping_point(frame, filled, column, conclusion, null=null, schema=schema)


def at_delta(curve: DeltaCurve, delta: float) -> pd.Series:
    """Return the row of the curve nearest to a shift."""
    nearest = (curve.table["delta"] - delta).abs().idxmin()
    return curve.table.loc[nearest]


def sensible_null(completed: CompletedTable, conclusion: Conclusion) -> float:
    """Return what to compare an estimate with: the observed mean for a mean, else 0."""
    kind, column, *_ = conclusion
    if kind != "mean":
        return 0.0
    return float(f"{pd.to_numeric(completed.frame[column]).mean():.3g}")


SMALLEST, LARGEST = min(DEFAULT_DELTAS), max(DEFAULT_DELTAS)
STEP = round(DEFAULT_DELTAS[1] - DEFAULT_DELTAS[0], 6)
