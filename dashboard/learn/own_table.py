"""Two columns of a reader's table for a lesson: which pairs a line can be fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.table import Role, Schema
from pmae_core.table.number_cells import NumberCells

FEWEST_ROWS = 100
"""Rows in which both columns must be observed."""
FEWEST_VALUES = 5
"""Distinct values that a column must have: fewer are codes rather than measurements."""
MOST_ROWS = 2_000
"""Complete rows that a lesson uses; a random sample of more."""

_MOST_ROWS_READ = 20_000  # of the table: enough to find pairs, and quick with 90 columns
_COMMONEST = 0.5  # a column of mostly one value may be constant in the rows that remain
_NEARLY_COPIES = 0.95  # correlation above which one column is a copy of the other
_SAMPLE_SEED = 0  # the same rows for everyone and every seed of the lesson


@dataclass(frozen=True, eq=False)
class OwnColumns:
    """The numerical columns of a table, and which of them can be paired.

    Attributes
    ----------
    numbers
        The columns as numbers, named by text.
    correlations
        Of each pair; NaN where a line cannot be fitted.
    """

    numbers: pd.DataFrame
    correlations: pd.DataFrame

    def outcomes(self) -> list[str]:
        """Return the columns that have a predictor."""
        usable = self.correlations.notna().any()
        return list(usable.index[usable])

    def predictors(self, outcome: str) -> list[str]:
        """Return the columns that can be the predictor of an outcome."""
        return list(self.correlations[outcome].dropna().index)

    def first_outcome(self) -> str:
        """Return the outcome of the clearest relation; there must be a pair."""
        return str(self._clearness().max().idxmax())

    def first_predictor(self, outcome: str) -> str:
        """Return the predictor that is most clearly related to an outcome."""
        return str(self._clearness()[outcome].idxmax())

    def _clearness(self) -> pd.DataFrame:
        """Return how clear each relation is; copies of a column come last."""
        strength = self.correlations.abs()
        return strength.where(strength < _NEARLY_COPIES, strength - 1)

    def rows(self, predictor: str, outcome: str) -> pd.DataFrame:
        """Return the rows in which both columns are observed, predictor first."""
        return sampled(self.numbers[[predictor, outcome]].dropna(), MOST_ROWS)


def own_columns(frame: pd.DataFrame, schema: Schema) -> OwnColumns:
    """Return the numerical columns of a table and their pairs.

    A column is usable if it has at least `FEWEST_VALUES` distinct values, none of which takes up
    more than half of its observed cells. A pair is usable if both columns are observed in at least
    `FEWEST_ROWS` rows and neither is constant there.
    """
    rows = sampled(frame, _MOST_ROWS_READ)
    read = {name: _numbers(rows[name]) for name in schema.names(Role.NUMERICAL)}
    numbers = pd.DataFrame(
        {str(name): values for name, values in read.items() if _is_spread_out(values)}
    )
    correlations = numbers.corr(min_periods=FEWEST_ROWS)
    with_itself = np.eye(len(correlations), dtype=bool)
    return OwnColumns(numbers, correlations.mask(with_itself))


def only_pair(rows: pd.DataFrame) -> OwnColumns:
    """Return the two columns of rows that somebody chose, as the only pair there is."""
    with_itself = np.eye(len(rows.columns), dtype=bool)
    return OwnColumns(rows, rows.corr().mask(with_itself))


def sampled(rows: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the rows, numbered anew; a random sample of them if there are too many."""
    if len(rows) > most:
        chosen = np.random.default_rng(_SAMPLE_SEED).choice(len(rows), most, replace=False)
        rows = rows.iloc[np.sort(chosen)]
    return rows.reset_index(drop=True)


def _numbers(column: pd.Series) -> Any:
    return NumberCells.fit(column).read(column)


def _is_spread_out(values: np.ndarray) -> bool:
    _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return len(counts) >= FEWEST_VALUES and counts.max() <= _COMMONEST * counts.sum()
