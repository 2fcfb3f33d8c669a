"""Which columns decide whether cells are missing, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from pmae_core.amputation.patterns import Name
from pmae_core.amputation.propensity import Predictor, Score

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AmputationRule:
    """The rule by which :func:`ampute` removes cells.

    The log-odds that row i misses column j are ``-(score_ij + b_j)``. The score is a weighted sum
    of the driving columns, with a standard deviation of 1.

    Attributes
    ----------
    drivers : mapping of name to Predictor
        The columns that missingness depends on, as the scores use them; none under MCAR.
    scores : mapping of name to Score
        Of each column that loses cells. Nested missing values share one score.
    intercepts : mapping of name to float
        ``b_j`` of each column that loses cells.
    coupling : {"nested", "independent"}
        Whether the cells of one row share one random number.
    present : DataFrame of bool
        Which cells of the columns that lose cells have a value to lose.
    may_be_dropped : bool array
        The rows that leave the table if they lose all these cells.

    Examples
    --------
    >>> from pmae_core.amputation import ampute
    >>> rng = np.random.default_rng(0)
    >>> df = pd.DataFrame(rng.normal(size=(200, 3)), columns=["age", "bmi", "chol"])
    >>> ampute(df, "monotone", "MAR", columns=["bmi", "chol"], seed=1).rule.weights
         bmi  chol
    age -1.0  -1.0
    """

    drivers: Mapping[Name, Predictor]
    scores: Mapping[Name, Score]
    intercepts: Mapping[Name, float]
    coupling: str
    present: pd.DataFrame
    may_be_dropped: BoolArray

    @cached_property
    def weights(self) -> pd.DataFrame:
        """How strongly each column (row) drives the missing values of another (column).

        The weight of a number or date is the change in the log-odds of being missing if it is
        higher by one standard deviation (of the normal scores of its ranks): positive if high
        values are missing more often. Categories have no direction: their weight is the standard
        deviation of what they add to the log-odds, and never negative.
        """
        weights = [
            [
                driver.weight(score.weights[name]) / score.spread if name in score.weights else 0.0
                for score in self.scores.values()
            ]
            for name, driver in self.drivers.items()
        ]
        shape = (len(self.drivers), len(self.scores))
        return pd.DataFrame(
            np.reshape(weights, shape), index=list(self.drivers), columns=list(self.scores)
        )

    def category_weights(self, driver: Name, column: Name) -> pd.Series:
        """Return what each category of a driver adds to the log-odds of missing `column`."""
        score = self.scores[column]
        added = -score.weights[driver] / score.spread
        return pd.Series(added, index=self.drivers[driver].categories)

    def contribution(self, driver: Name, column: Name) -> FloatArray:
        """Return what a driving column adds to each row's log-odds of missing `column`."""
        score = self.scores[column]
        if driver not in score.weights:
            return np.zeros_like(score.values)
        return -self.drivers[driver].effect(score.weights[driver]) / score.spread

    def p_observed(self, column: Name, *, given: tuple[Name, int] | None = None) -> FloatArray:
        """Return the probability of each row to keep its value of `column`.

        Parameters
        ----------
        column : name
            A column that loses cells.
        given : (name, int), optional
            A driving column and the position of a row: the probability that each row would have
            with this row's value of the driving column, and all its other values unchanged.
        """
        score = self.scores[column].values
        if given is not None:
            driver, row = given
            own = self.contribution(driver, column)
            score = score + own - own[row]
        return expit(score + self.intercepts[column])

    def p_kept(self, *, given: tuple[Name, int] | None = None) -> FloatArray:
        """Return the probability of each row to keep a cell, and so to stay in the table."""
        if not self.may_be_dropped.any():
            return np.ones(len(self.may_be_dropped))
        observed = np.column_stack([self.p_observed(name, given=given) for name in self.scores])
        observed = np.where(self.present, observed, 0.0)
        if self.coupling == "nested":
            kept = observed.max(axis=1)
        else:
            kept = 1.0 - np.prod(1.0 - observed, axis=1)
        return np.where(self.may_be_dropped, kept, 1.0)

    def chance_missing(self, column: Name, *, given: tuple[Name, int] | None = None) -> FloatArray:
        """Return the probability of each row to miss `column`, given that it stays in the table.

        Parameters
        ----------
        column, given
            As in :meth:`p_observed`.
        """
        # A row that keeps this cell stays, so both happen as often as the first.
        return 1.0 - self.p_observed(column, given=given) / self.p_kept(given=given)

    def of_rows(self, rows: npt.NDArray[Any]) -> AmputationRule:
        """Return the same rule for some of the rows: a mask or positions."""
        return replace(
            self,
            drivers={name: driver.of_rows(rows) for name, driver in self.drivers.items()},
            scores={name: score.of_rows(rows) for name, score in self.scores.items()},
            present=self.present[rows] if rows.dtype == bool else self.present.iloc[rows],
            may_be_dropped=self.may_be_dropped[rows],
        )
