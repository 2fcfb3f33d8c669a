"""What if missing values differ from the imputed ones: the delta curve of an imputed table."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.impute.completed_tables import CompletedTable
from pmae_core.inference import DeltaCurve, tipping_point
from pmae_core.inference.delta import DEFAULT_DELTAS

# Imputations of a large table are many cells: at most this many are pooled, but at least two.
MOST_CELLS = 2_000_000

Conclusion = tuple[str, ...]


def n_pooled_imputations(completed: CompletedTable) -> int:
    """Return how many imputations are pooled; 0 if the estimate rests on the imputed table."""
    if completed.n_imputations < 2:
        return 0
    return min(completed.n_imputations, max(2, MOST_CELLS // len(completed.frame)))


def delta_curve(
    completed: CompletedTable, column: str, conclusion: Conclusion, null: float
) -> DeltaCurve:
    """Return how a conclusion moves with the imputed cells of a column.

    Raises
    ------
    ScoringError
        If it cannot be estimated; a sentence.
    """
    return _curve(completed.key, column, conclusion, null, completed)


@st.cache_resource(max_entries=32, show_spinner="Shifting the imputed cells …")
def _curve(
    key: tuple[Any, ...],
    column: str,
    conclusion: Conclusion,
    null: float,
    _completed: CompletedTable,
) -> DeltaCurve:
    columns = list(conclusion[1:])
    several = _completed.imputations(columns, n_pooled_imputations(_completed))
    imputed = several or _completed.imputed_frame[columns]
    schema = _completed.schema.only(columns)
    return tipping_point(
        _completed.frame[columns], imputed, column, conclusion, null=null, schema=schema
    )


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
