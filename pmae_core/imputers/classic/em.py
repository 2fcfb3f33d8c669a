"""Expectation maximization with one multivariate Gaussian."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from pmae_core.gaussian import GaussianModel
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked.linear_draws import LinearDraws
from pmae_core.imputers.parameters import Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Schema, scalar_values, values_from_scalars


@register_imputer(
    name="em",
    title="Expectation maximization",
    explanation="Fits one multivariate normal distribution to all columns, and imputes each "
    "missing cell with the value that the rest of its row makes most likely.",
    citation="Dempster, Laird and Rubin: Maximum likelihood from incomplete data via the EM "
    "algorithm. Journal of the Royal Statistical Society B, 1977.",
    draws_samples=True,
    is_proper=True,
    limits="Imputes along linear relations only; random imputations of numbers also follow simple "
    "curves and interactions. The time per round grows with the number of missing "
    "patterns and the cube of their size: fine up to a few hundred columns.",
    is_quick=True,
)
class EMImputer(BaseImputer):
    """Impute with conditional means of a Gaussian that is fitted by expectation maximization.

    Categories are numbers in [0, 1] here and are rounded to the nearest code in the end, as in
    the paper. New rows are imputed from the fitted Gaussian. ``sample`` fits a second Gaussian, of
    ranks and of categories with a coordinate of their own, and draws the columns one after the
    other; numbers are corrected for squares and products of other columns that the Gaussian cannot
    follow. Every imputation has other coefficients, so that the spread of imputations includes
    what is uncertain about the Gaussian itself.

    Parameters
    ----------
    max_iter : int, default 25
        Most rounds.
    tol : float, default 1e-6
        Stop when mean and covariance (of columns scaled to [0, 1]) change by less.
    ridge : float, default 1e-6
        Share of each column's variance that is added to it, so that columns which determine each
        other cause no singular matrix.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of random imputations.

    Attributes
    ----------
    model_ : GaussianModel
        The fitted Gaussian on columns scaled to [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [1.5, np.nan]])
    >>> EMImputer().fit_transform(table)[4].round(2).tolist()
    [1.5, 3.0]
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "max_iter": [Integer(least=1)],
        "tol": [Number(least=0)],
        "ridge": [Number(least=0)],
    }

    def __init__(
        self,
        *,
        max_iter: int = 25,
        tol: float = 1e-6,
        ridge: float = 1e-6,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.ridge = ridge
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        self._fitted_table, self._seed = encoded, run.seed
        self._draws: LinearDraws | None = None
        progress = run.progress(self.max_iter, "round")
        progress.check()
        self.model_ = GaussianModel.fit(
            scalar_values(encoded),
            encoded.observed,
            max_iter=self.max_iter,
            tol=self.tol,
            ridge=self.ridge,
            advance=progress.advance,
            check=progress.check,
        )

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        imputed = self.model_.conditional_mean(scalar_values(encoded), encoded.observed)
        return values_from_scalars(imputed, encoded.columns)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        if self._draws is None:
            self._draws = LinearDraws.fit(self._fitted_table, self._seed)
        return self._draws.draw(encoded, n, rng)
