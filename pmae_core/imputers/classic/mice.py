"""MICE: chained Bayesian linear regressions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import BayesianRidge

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic._common import check_two_columns, scalars_with_nan
from pmae_core.imputers.parameters import Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.table import EncodedTable, Schema, values_from_scalars


@register_imputer(
    name="mice",
    title="MICE (Bayesian ridge)",
    explanation="Predicts each column from all others by linear regression, round after round, "
    "until the imputed cells settle.",
    citation="van Buuren and Groothuis-Oudshoorn: mice: Multivariate imputation by chained "
    "equations in R. Journal of Statistical Software, 2011.",
    draws_samples=True,
    limits="Finds linear relations only; time grows with rows and with the cube of the columns "
    "(set n_nearest_features for more than a hundred).",
)
class MICEImputer(BaseImputer):
    """Impute by chained equations: scikit-learn's ``IterativeImputer`` with ``BayesianRidge``.

    Works on min-max values. Categories are numbers in [0, 1] and are rounded to the nearest code
    in the end. New rows are imputed by the fitted chain. ``sample`` fits a second chain, in which
    every round draws from the posterior predictive distribution instead of taking its mean, and
    imputes the table with it ``n`` times; drawn values are kept inside the observed range.

    Parameters
    ----------
    max_iter : int, default 10
        Most rounds.
    tol : float, default 1e-3
        Stop when no cell changes by a larger share of the largest value.
    n_nearest_features : int, optional
        Predict each column from so many others, chosen by their correlation with it; from all
        where not given.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of the draws and of the choice of nearest features.

    Attributes
    ----------
    n_rounds_ : int
        Rounds until the imputed cells settled; ``max_iter`` where they did not.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(12.0)
    >>> table = np.column_stack([x, 2 * x])
    >>> table[5, 1] = np.nan
    >>> MICEImputer().fit_transform(table)[5, 1].round(2)
    np.float64(10.0)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "max_iter": [Integer(least=1)],
        "tol": [Number(least=0)],
        "n_nearest_features": [Integer(least=1), None],
    }

    def __init__(
        self,
        *,
        max_iter: int = 10,
        tol: float = 1e-3,
        n_nearest_features: int | None = None,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.n_nearest_features = n_nearest_features
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        check_two_columns(encoded, "MICE")
        progress = run.progress(self.max_iter * len(encoded.columns), "regression")
        progress.check()
        self._fitted_values = scalars_with_nan(encoded)
        self._chain = self._new_chain(run.seed, progress)
        with warnings.catch_warnings():
            # n_rounds_ shows whether the last allowed round was reached.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._chain.fit(self._fitted_values)
        self.n_rounds_ = int(self._chain.n_iter_)

    def _new_chain(
        self, seed: int, progress: ProgressMeter | None = None, **options: Any
    ) -> IterativeImputer:
        return IterativeImputer(
            estimator=_WatchedRidge().watched_by(progress),
            max_iter=self.max_iter,
            tol=self.tol,
            n_nearest_features=self.n_nearest_features,
            random_state=seed,
            **options,
        )

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return values_from_scalars(
            self._chain.transform(scalars_with_nan(encoded)), encoded.columns
        )

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        chain = self._new_chain(_seed(rng), sample_posterior=True, min_value=0, max_value=1)
        chain.fit(self._fitted_values)
        for _ in range(n):
            chain.random_state_ = np.random.RandomState(_seed(rng))
            yield values_from_scalars(chain.transform(scalars_with_nan(encoded)), encoded.columns)


class _WatchedRidge(BayesianRidge):
    """Bayesian ridge regression that counts its fits, so that a chain can be cancelled."""

    _progress: ProgressMeter | None = None

    def watched_by(self, progress: ProgressMeter | None) -> Self:
        self._progress = progress
        return self

    def fit(self, X: np.ndarray, y: np.ndarray, **options: Any) -> Self:
        super().fit(X, y, **options)
        if self._progress is not None:
            self._progress.advance()
        return self

    def __sklearn_clone__(self) -> _WatchedRidge:
        return _WatchedRidge(**self.get_params()).watched_by(self._progress)

    def __getstate__(self) -> dict[str, Any]:
        # Callbacks cannot be pickled, and need not be once the chain is fitted.
        return {key: value for key, value in super().__getstate__().items() if key != "_progress"}


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
