"""MissForest: chained random forests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic._common import check_two_columns, columns_by_missing
from pmae_core.imputers.classic.naive import column_center
from pmae_core.imputers.parameters import Constraints, Integer, Number, OneOf
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.imputers.transductive import encoded_digest
from pmae_core.imputers.work import WorkProfile
from pmae_core.table import EncodedTable, Schema

# Trees that are grown between two checks whether the user wants to stop.
_TREES_AT_ONCE = 10

Forest: TypeAlias = RandomForestClassifier | RandomForestRegressor


@register_imputer(
    name="missforest",
    title="MissForest",
    explanation="Predicts each column from all others by a random forest, round after round, "
    "until the imputed cells settle.",
    citation="Stekhoven and Bühlmann: MissForest: non-parametric missing value imputation for "
    "mixed-type data. Bioinformatics, 2012.",
    limits="A round grows a forest for each column with missing cells; with more than 10,000 "
    "observed cells, trees learn from a random 10,000 (max_samples). New rows take about as long "
    "as the fit.",
)
class MissForestImputer(BaseImputer):
    """Impute by chained random forests: a regressor per number, a classifier per category.

    Starts with means and modes. A round goes through the columns from the fewest missing cells to
    the most, grows a forest on the rows in which the column is observed and predicts the others.
    Rounds end when the change from one to the next grows, for numbers and for categories (the
    round before is returned), or after ``max_iter`` of them.

    As in the original, except that trees learn from at most ``max_samples`` rows and nodes are
    split down to single rows (scikit-learn's default; R stops at five for numbers).

    Forests take too much memory to keep. New rows are imputed by as many rounds with forests that
    are grown again, one at a time, on the completed table of the fit.

    Parameters
    ----------
    n_trees : int, default 100
        Trees per forest.
    max_iter : int, default 10
        Most rounds.
    max_features : float, int or "sqrt", default "sqrt"
        Columns that a split chooses from; the original's default.
    max_samples : int or None, default 10_000
        Most rows that a tree is grown on, so that large tables stay feasible.
    n_jobs : int, default 1
        Threads that grow trees; -1 for all cores. The result does not depend on it.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of the forests.

    Attributes
    ----------
    n_rounds_ : int
        Rounds that led to the result.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat(np.arange(10.0), 4)
    >>> table = np.column_stack([x, x**2])
    >>> table[5, 1] = np.nan
    >>> MissForestImputer(n_trees=20, random_state=0).fit_transform(table)[5, 1].round()
    np.float64(1.0)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "n_trees": [Integer(least=1)],
        "max_iter": [Integer(least=1)],
        "max_features": [OneOf("sqrt"), Integer(least=1), Number(above=0, most=1)],
        "max_samples": [Integer(least=1), None],
        "n_jobs": [Integer(least=1), Integer(most=-1)],
    }

    def __init__(
        self,
        *,
        n_trees: int = 100,
        max_iter: int = 10,
        max_features: float | int | str = "sqrt",
        max_samples: int | None = 10_000,
        n_jobs: int = 1,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.max_iter = max_iter
        self.max_features = max_features
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.schema = schema
        self.random_state = random_state

    def work_profile(self, n_rows: int) -> WorkProfile:
        """Say that rounds usually end early; see :meth:`BaseImputer.work_profile`."""
        return WorkProfile(usual_share=0.5)

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        check_two_columns(encoded, "MissForest")
        order = _incomplete_columns(encoded.observed)
        progress = run.progress(self.max_iter * len(order), "forest")
        progress.check()
        self._seed = run.seed
        self._observed = encoded.observed
        self._centers = np.array([column_center(encoded, j) for j in range(len(encoded.columns))])
        self._fitted_table = encoded_digest(encoded)
        self._completed, self.n_rounds_ = self._run_rounds(encoded, order, progress)

    def _run_rounds(
        self, encoded: EncodedTable, order: list[int], progress: ProgressMeter
    ) -> tuple[np.ndarray, int]:
        """Return the completed values and the number of rounds that led to them."""
        imputed = self._start(encoded)
        change = np.full(2, np.inf)
        for n_rounds in range(1, self.max_iter + 1):
            before, change_before = imputed, change
            imputed = before.copy()
            for j in order:
                seed = self._forest_seed(n_rounds, j)
                forest = self._grow(encoded, imputed, encoded.observed, j, seed, progress.check)
                _predict_missing(forest, imputed, encoded.observed, j)
                progress.advance()
            change = _change(before, imputed, encoded)
            if not (change < change_before).any():
                return (before, n_rounds - 1) if n_rounds > 1 else (imputed, n_rounds)
        return imputed, self.max_iter

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if encoded_digest(encoded) == self._fitted_table:
            return self._completed
        imputed = self._start(encoded)
        for n_round in range(1, self.n_rounds_ + 1):
            for j in _incomplete_columns(encoded.observed):
                seed = self._forest_seed(n_round, j)
                forest = self._grow(encoded, self._completed, self._observed, j, seed)
                _predict_missing(forest, imputed, encoded.observed, j)
        return imputed

    def _start(self, encoded: EncodedTable) -> np.ndarray:
        return np.where(encoded.observed, encoded.values, self._centers).astype(np.float32)

    def _forest_seed(self, n_round: int, j: int) -> int:
        return int(np.random.SeedSequence([self._seed, n_round, j]).generate_state(1)[0])

    def _grow(
        self,
        encoded: EncodedTable,
        imputed: np.ndarray,
        observed: np.ndarray,
        j: int,
        seed: int,
        check: Callable[[], None] = lambda: None,
    ) -> Forest:
        """Return a forest that predicts column ``j`` of an imputed table from the others."""
        rows = observed[:, j]
        features, target = np.delete(imputed[rows], j, axis=1), imputed[rows, j]
        is_large = self.max_samples is not None and len(target) > self.max_samples
        is_categorical = encoded.columns[j].kind == "categorical"
        forest_class = RandomForestClassifier if is_categorical else RandomForestRegressor
        forest: Forest = forest_class(
            max_features=self.max_features,
            max_samples=self.max_samples if is_large else None,
            n_jobs=self.n_jobs,
            random_state=seed,
            warm_start=True,
        )
        # Growing goes on where it stopped: the trees are those of one long fit.
        for n_trees in [*range(_TREES_AT_ONCE, self.n_trees, _TREES_AT_ONCE), self.n_trees]:
            forest.set_params(n_estimators=n_trees).fit(features, target)
            check()
        return forest


def _incomplete_columns(observed: np.ndarray) -> list[int]:
    """Return the columns with missing cells, those with the fewest first."""
    return [j for j in columns_by_missing(observed) if not observed[:, j].all()]


def _predict_missing(forest: Forest, imputed: np.ndarray, observed: np.ndarray, j: int) -> None:
    rows = ~observed[:, j]
    imputed[rows, j] = forest.predict(np.delete(imputed[rows], j, axis=1))


def _change(before: np.ndarray, after: np.ndarray, encoded: EncodedTable) -> np.ndarray:
    """Return the relative squared change of numbers, and the share of categories that changed.

    A kind of column that the table does not have, or that has no missing cells, never shrinks.
    """
    categorical = np.array([column.kind == "categorical" for column in encoded.columns])
    missing = ~encoded.observed
    numbers, labels = missing & ~categorical, missing & categorical
    change = np.full(2, np.inf)
    if numbers.any():
        size = max(float(np.square(after[numbers]).sum()), np.finfo(np.float32).tiny)
        change[0] = np.square(after[numbers] - before[numbers]).sum() / size
    if labels.any():
        change[1] = (after[labels] != before[labels]).mean()
    return change
