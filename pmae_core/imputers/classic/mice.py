"""MICE: chained Bayesian linear regressions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import BayesianRidge

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic._common import check_two_columns, scalars_with_nan
from pmae_core.imputers.classic._drawn_chain import ChainMaker
from pmae_core.imputers.classic._drawn_regressions import (
    DrawnLinear,
    DrawnLogistic,
    MatchedLinear,
)
from pmae_core.imputers.parameters import Constraints, Integer, Number, OneOf
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.imputers.transductive import encoded_digest
from pmae_core.table import EncodedTable, Schema, values_from_scalars


@register_imputer(
    name="mice",
    title="MICE (Bayesian ridge)",
    explanation="Predicts each column from all others by linear regression, round after round, "
    "until the imputed cells settle.",
    citation="van Buuren and Groothuis-Oudshoorn: mice: Multivariate imputation by chained "
    "equations in R. Journal of Statistical Software, 2011.",
    draws_samples=True,
    is_proper=True,
    limits="Finds linear relations only; time grows with rows and with the cube of the columns "
    "(set n_nearest_features for more than a hundred).",
)
class MICEImputer(BaseImputer):
    """Impute by chained equations: scikit-learn's ``IterativeImputer`` with ``BayesianRidge``.

    ``transform`` works on min-max values. Categories are numbers in [0, 1] there and are rounded to
    the nearest code in the end. New rows are imputed by the fitted chain.

    ``sample`` imputes as the R package ``mice`` does. Every imputation is a chain of its own on the
    fitted table, which starts with random observed values. In each round, a column is regressed on
    the others, categories among them as indicators; coefficients and residual spread are drawn
    from their posterior distribution, so that imputations differ by what the model cannot know
    too. A missing number is copied from one of the five observed cells whose predictions are
    nearest (predictive mean matching), or drawn from a normal distribution; a missing category is
    drawn with the probabilities of a multinomial logistic regression. Where columns have more
    features than a third of the observed cells, the most correlated ones are used. Rows that were
    not fitted are imputed with the last coefficients of each chain.

    Parameters
    ----------
    max_iter : int, default 10
        Most rounds; the chains of ``sample`` go through all of them.
    tol : float, default 1e-3
        Stop when no cell changes by a larger share of the largest value.
    n_nearest_features : int, optional
        Predict each column from so many others, chosen by their correlation with it; from all
        where not given.
    numbers : {"pmm", "normal"}, default "pmm"
        How ``sample`` imputes numbers: by predictive mean matching, or with normal residuals, cut
        at the observed range.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of random imputations and of the choice of nearest features.

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
        "numbers": [OneOf("pmm", "normal")],
    }

    def __init__(
        self,
        *,
        max_iter: int = 10,
        tol: float = 1e-3,
        n_nearest_features: int | None = None,
        numbers: Literal["pmm", "normal"] = "pmm",
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.n_nearest_features = n_nearest_features
        self.numbers = numbers
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        check_two_columns(encoded, "MICE")
        progress = run.progress(self.max_iter * len(encoded.columns), "regression")
        progress.check()
        self._fitted_table = encoded
        self._chain = IterativeImputer(
            estimator=_WatchedRidge().watched_by(progress),
            max_iter=self.max_iter,
            tol=self.tol,
            n_nearest_features=self.n_nearest_features,
            random_state=run.seed,
        )
        with warnings.catch_warnings():
            # n_rounds_ shows whether the last allowed round was reached.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._chain.fit(scalars_with_nan(encoded))
        self.n_rounds_ = int(self._chain.n_iter_)

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return values_from_scalars(
            self._chain.transform(scalars_with_nan(encoded)), encoded.columns
        )

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        maker = ChainMaker(
            self._fitted_table,
            n_rounds=self.max_iter,
            number=(MatchedLinear if self.numbers == "pmm" else DrawnLinear).fit,
            category=DrawnLogistic.fit,
            n_nearest=self.n_nearest_features,
        )
        is_fitted = encoded_digest(encoded) == encoded_digest(self._fitted_table)
        for own_rng in rng.spawn(n):
            chain = maker.run(own_rng)
            yield chain.values if is_fitted else maker.impute_others(encoded, chain, own_rng)


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
