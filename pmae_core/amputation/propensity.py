"""How likely each cell is to stay observed, given the data: scores and intercepts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from pmae_core.errors import AmputationError
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.words import listed

FloatArray = npt.NDArray[np.float64]


class Predictor:
    """A column as the score of rows uses it.

    A numerical column or a date contributes one N(0, 1) weight times its normal scores, a
    categorical column one N(0, 1) weight for each category, less their mean. A missing cell
    contributes nothing.
    """

    def __init__(self, column: pd.Series, *, categorical: bool) -> None:
        self.categorical = categorical
        self.categories = pd.Index([])
        if categorical:
            self.codes, self.categories = pd.factorize(_hashable(column))
            counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.categories))
            self._shares = counts / len(self.codes)
        else:
            self.scores = _normal_scores(column)
            self._spread = float(self.scores.std())

    def of_rows(self, rows: npt.NDArray[Any]) -> Self:
        """Return the same column in some of the rows, with the scores that they have."""
        part = copy(self)
        if self.categorical:
            part.codes = self.codes[rows]
        else:
            part.scores = self.scores[rows]
        return part

    def random_weights(self, rng: np.random.Generator) -> FloatArray:
        """Return fresh weights: a single one, or one per category with mean 0 over the rows."""
        if not self.categorical:
            return rng.standard_normal(1)
        weights = rng.standard_normal(len(self.categories))
        return weights - weights[self.codes[self.codes >= 0]].mean()

    def effect(self, weights: FloatArray) -> FloatArray:
        """Return the contribution to each row's score under these weights."""
        if not self.categorical:
            return weights[0] * self.scores
        return np.where(self.codes >= 0, weights[self.codes], 0.0)

    def weight(self, weights: FloatArray) -> float:
        """Return how strongly the column drives missingness: see :class:`AmputationRule`.

        It is the standard deviation of the effect, with the sign of missingness if it has one.
        """
        if not self.categorical:
            return -float(weights[0]) * self._spread
        mean, squares = float(self._shares @ weights), float(self._shares @ weights**2)
        return max(squares - mean**2, 0.0) ** 0.5


def _hashable(column: pd.Series) -> pd.Series:
    try:
        pd.factorize(column)
    except TypeError:
        # Lists and the like have no hash; their text distinguishes them.
        return column.map(repr, na_action="ignore")
    return column


def _normal_scores(column: pd.Series) -> FloatArray:
    """Return standard-normal scores of the ranks, so that no outlier dominates the score."""
    if cell_kind(column) is CellKind.LABEL:
        column = pd.Series(NumberCells.fit(column).read(column))  # text that spells numbers
    ranks = column.rank().to_numpy(dtype=np.float64, na_value=np.nan)
    return np.nan_to_num(ndtri((ranks - 0.5) / column.count()))


@dataclass(frozen=True, eq=False)
class Score:
    """A weighted sum of columns over the rows of a table, with mean 0 and standard deviation 1.

    Attributes
    ----------
    values : float array
        The score of each row.
    weights : mapping of name to float array
        Of each column in the sum: see :meth:`Predictor.effect`.
    spread : float
        The standard deviation of the sum, which divides it.
    """

    values: FloatArray
    weights: Mapping[Any, FloatArray]
    spread: float

    @classmethod
    def constant(cls, n_rows: int) -> Score:
        """Return the score that depends on nothing."""
        return cls(np.zeros(n_rows), {}, 1.0)

    @classmethod
    def random(
        cls,
        predictors: Mapping[Any, Predictor],
        used: Collection[Any],
        rng: np.random.Generator,
    ) -> Score:
        """Return a score with random weights.

        Weights are drawn for all predictors, whether used or not, so that the weights of one seed
        are the same whatever is used.
        """
        drawn = {name: predictor.random_weights(rng) for name, predictor in predictors.items()}
        weights = {name: drawn[name] for name in used}
        total = np.sum([predictors[name].effect(w) for name, w in weights.items()], axis=0)
        spread = float(total.std())
        if not spread > 1e-12:
            raise AmputationError(
                "The columns that missingness should depend on do not vary: "
                f"{listed(used, most=10)}.",
                advice="Use MCAR, or other columns.",
            )
        return cls((total - total.mean()) / spread, weights, spread)

    def of_rows(self, rows: npt.NDArray[Any]) -> Score:
        """Return the same score in some of the rows."""
        return replace(self, values=self.values[rows])


def observed_probability(score: FloatArray, proportion: float) -> FloatArray:
    """Return ``sigmoid(score + b)`` with b solved so that its mean is `proportion`."""
    return expit(score + solved_intercept(score, proportion))


def solved_intercept(score: FloatArray, proportion: float) -> float:
    """Return the b with which the mean of ``sigmoid(score + b)`` is `proportion`."""
    if proportion in (0.0, 1.0):
        return np.inf if proportion else -np.inf
    without_score = np.log(proportion / (1.0 - proportion))
    # If all rows had the highest (lowest) score, this b would be too low (high): a bracket.
    return float(
        brentq(
            lambda b: expit(score + b).mean() - proportion,
            without_score - score.max() - 1e-6,
            without_score - score.min() + 1e-6,
        )
    )
