"""How likely each cell is to stay observed, given the data: scores and intercepts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

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
        if categorical:
            self.codes, categories = pd.factorize(_hashable(column))
            self.n_categories = len(categories)
        else:
            self.scores = _normal_scores(column)

    def random_effect(self, rng: np.random.Generator) -> FloatArray:
        """Return the contribution to each row's score under freshly drawn weights."""
        if not self.categorical:
            return rng.standard_normal() * self.scores
        present = self.codes >= 0
        effect = rng.standard_normal(self.n_categories)[self.codes]
        return np.where(present, effect - effect[present].mean(), 0.0)


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


def random_score(
    predictors: Mapping[Any, Predictor], used: Collection[Any], rng: np.random.Generator
) -> FloatArray:
    """Return a random linear score of the rows with mean 0 and standard deviation 1.

    Weights are drawn for all predictors, whether used or not, so that the weights of one seed
    are the same whatever is used.
    """
    effects = {name: predictor.random_effect(rng) for name, predictor in predictors.items()}
    total = np.sum([effects[name] for name in used], axis=0)
    spread = total.std()
    if not spread > 1e-12:
        raise AmputationError(
            f"The columns that missingness should depend on do not vary: {listed(used, most=10)}.",
            advice="Use MCAR, or other columns.",
        )
    return (total - total.mean()) / spread


def observed_probability(score: FloatArray, proportion: float) -> FloatArray:
    """Return ``sigmoid(score + b)`` with b solved so that its mean is `proportion`."""
    if proportion in (0.0, 1.0):
        return np.full_like(score, proportion)
    without_score = np.log(proportion / (1.0 - proportion))
    # If all rows had the highest (lowest) score, this b would be too low (high): a bracket.
    intercept = brentq(
        lambda b: expit(score + b).mean() - proportion,
        without_score - score.max() - 1e-6,
        without_score - score.min() + 1e-6,
    )
    return expit(score + intercept)
