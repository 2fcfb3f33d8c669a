"""MiceForest: chained forests with predictive mean matching, several times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic._common import check_two_columns, columns_by_missing
from pmae_core.imputers.classic._corrected_regressions import (
    CorrectedLinear,
    CorrectedLogistic,
    ForestSettings,
)
from pmae_core.imputers.classic._drawn_chain import ChainMaker
from pmae_core.imputers.classic._mean_matching import (
    Candidates,
    CategoricalModel,
    ColumnModel,
    NumericalModel,
)
from pmae_core.imputers.parameters import Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.imputers.transductive import encoded_digest
from pmae_core.table import EncodedColumn, EncodedTable, Schema

# Residuals hold less to learn than cells, and there are forests for each imputation.
_MOST_TREES_OF_RESIDUALS = 20


@register_imputer(
    name="miceforest",
    title="MiceForest",
    explanation="Predicts each column from all others by small random forests, copies cells from "
    "rows with a similar prediction, repeats this five times and imputes the mean.",
    citation="Shah et al.: Comparison of random forest and parametric imputation models for "
    "imputing missing data using MICE. American Journal of Epidemiology, 2014; the package "
    "miceforest by Samuel Wilson.",
    draws_samples=True,
    is_proper=True,
    limits="Grows a forest per column, round and imputation: minutes for a few thousand rows. With "
    "more than 10,000 observed cells, forests learn from a random 10,000 (max_samples).",
)
class MiceForestImputer(BaseImputer):
    """Impute with the aggregate of several imputations by chained forests with mean matching.

    A new implementation of the package ``miceforest``. An imputation starts with random observed
    values. A round goes through the columns from the fewest missing cells to the most and grows a
    forest on the rows in which the column is observed. A missing number is copied from one of the
    ``n_candidates`` observed cells whose predictions are nearest; a missing category is drawn with
    the predicted probabilities. The result is the mean of numbers and the most frequent category
    over ``n_datasets`` such imputations.

    Why a new one, and what differs: the package (6.0.5) fails where a forest predicts a category
    with certainty, does not work with LightGBM from 4.7 on, and imputes new rows with its random
    start. Here forests are scikit-learn's with the package's sizes, each column is predicted from
    the newest values of the others within a round, and categories are drawn as in the package's
    "fast" matching.

    New rows go through the same number of rounds with the forests of the last one.

    The imputations of ``sample`` are made in another way, since the aggregated ones have about half
    the spread of the truth and come from forests that smooth over what is related. Each is a chain
    of its own on the fitted table. A column is first regressed on the others, linearly or
    logistically, with coefficients drawn from their posterior distribution, as in the method
    ``mice``. A forest grown on a bootstrap sample then corrects the regression where relations are
    not linear, as far as it explains cells that its trees have not learned from. Numbers are
    matched by these predictions and copied, categories drawn with these probabilities. Rows that
    were not fitted are imputed with the last models of each chain.

    Parameters
    ----------
    n_datasets : int, default 5
        Imputations that are aggregated; the paper's number.
    n_rounds : int, default 5
        Rounds per imputation.
    n_trees : int, default 48
        Trees per forest; at most 20 in the chains of ``sample``.
    max_depth : int, default 8
        Depth of the trees.
    max_features : float, default 0.632
        Share of the columns that a split chooses from.
    n_candidates : int, default 5
        Nearest observed cells that a number is copied from.
    max_samples : int or None, default 10_000
        Most observed cells that a forest learns from and copies.
    n_jobs : int, default 1
        Threads that grow trees in ``fit``; -1 for all cores. The result does not depend on it.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat(np.arange(10.0), 10)
    >>> table = np.column_stack([x, x**2])
    >>> table[45, 1] = np.nan
    >>> imputer = MiceForestImputer(n_datasets=2, n_rounds=1, random_state=0)
    >>> imputer.fit_transform(table)[45, 1]
    np.float64(16.0)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "n_datasets": [Integer(least=1)],
        "n_rounds": [Integer(least=1)],
        "n_trees": [Integer(least=1)],
        "max_depth": [Integer(least=1)],
        "max_features": [Number(above=0, most=1)],
        "n_candidates": [Integer(least=1)],
        "max_samples": [Integer(least=1), None],
        "n_jobs": [Integer(least=1), Integer(most=-1)],
    }

    def __init__(
        self,
        *,
        n_datasets: int = 5,
        n_rounds: int = 5,
        n_trees: int = 48,
        max_depth: int = 8,
        max_features: float = 0.632,
        n_candidates: int = 5,
        max_samples: int | None = 10_000,
        n_jobs: int = 1,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_datasets = n_datasets
        self.n_rounds = n_rounds
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.max_features = max_features
        self.n_candidates = n_candidates
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        check_two_columns(encoded, "MiceForest")
        n_columns = len(encoded.columns)
        n_with_missing = int((~encoded.observed.all(axis=0)).sum())
        n_forests = self.n_datasets * ((self.n_rounds - 1) * n_with_missing + n_columns)
        progress = run.progress(n_forests, "forest")
        progress.check()
        self._seed = run.seed
        self._observed_cells = [encoded.values[encoded.observed[:, j], j] for j in range(n_columns)]
        self._chains: list[list[ColumnModel]] = []
        imputations = []
        for k in range(self.n_datasets):
            imputation, models = self._run_chain(
                encoded, np.random.default_rng([run.seed, k]), progress
            )
            imputations.append(imputation)
            self._chains.append(models)
        self._fitted_table = encoded
        self._completed = _aggregate(imputations, encoded.columns)

    def _run_chain(
        self, encoded: EncodedTable, rng: np.random.Generator, progress: ProgressMeter
    ) -> tuple[np.ndarray, list[ColumnModel]]:
        """Return one imputation, and the models of all columns in its last round."""
        imputed = self._start(encoded, rng)
        order = columns_by_missing(encoded.observed)
        models: dict[int, ColumnModel] = {}
        for n_round in range(1, self.n_rounds + 1):
            for j in order:
                is_complete = encoded.observed[:, j].all()
                # Complete columns need a model for new rows only.
                if not is_complete or n_round == self.n_rounds:
                    models[j] = self._grow(encoded, imputed, j, rng)
                    self._impute_column(models[j], imputed, encoded.observed, rng)
                    progress.advance()
        return imputed, [models[j] for j in range(len(encoded.columns))]

    def _start(self, encoded: EncodedTable, rng: np.random.Generator) -> np.ndarray:
        """Return the table with random observed values of the fitted table in its missing cells."""
        imputed = encoded.values.astype(np.float32)
        for j, cells in enumerate(self._observed_cells):
            rows = ~encoded.observed[:, j]
            imputed[rows, j] = rng.choice(cells, int(rows.sum()))
        return imputed

    def _grow(
        self, encoded: EncodedTable, imputed: np.ndarray, j: int, rng: np.random.Generator
    ) -> ColumnModel:
        # In random order, so that equal predictions are matched at random.
        rows = rng.permutation(np.flatnonzero(encoded.observed[:, j]))[: self.max_samples]
        features, target = np.delete(imputed[rows], j, axis=1), imputed[rows, j]
        settings = {
            "n_estimators": self.n_trees,
            "max_depth": self.max_depth,
            "max_features": self.max_features,
            "n_jobs": self.n_jobs,
            "random_state": int(rng.integers(2**31 - 1)),
        }
        if encoded.columns[j].kind == "categorical":
            return CategoricalModel(j, RandomForestClassifier(**settings).fit(features, target))
        forest = RandomForestRegressor(**settings).fit(features, target)
        return NumericalModel(j, forest, Candidates.of(forest.predict(features), target))

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if self._is_fitted(encoded):
            return self._completed
        rng = np.random.default_rng([self._seed, self.n_datasets])
        return _aggregate(
            [self._replay(encoded, models, rng) for models in self._chains], encoded.columns
        )

    def _is_fitted(self, encoded: EncodedTable) -> bool:
        return encoded_digest(encoded) == encoded_digest(self._fitted_table)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        settings = ForestSettings(
            n_trees=min(self.n_trees, _MOST_TREES_OF_RESIDUALS),
            max_depth=self.max_depth,
            max_features=self.max_features,
            max_samples=self.max_samples,
        )
        maker = ChainMaker(
            self._fitted_table,
            n_rounds=self.n_rounds,
            number=partial(CorrectedLinear.fit, n_candidates=self.n_candidates, settings=settings),
            category=partial(CorrectedLogistic.fit, settings=settings),
            n_nearest=None,
        )
        is_fitted = self._is_fitted(encoded)
        for own_rng in rng.spawn(n):
            chain = maker.run(own_rng)
            yield chain.values if is_fitted else maker.impute_others(encoded, chain, own_rng)

    def _replay(
        self, encoded: EncodedTable, models: list[ColumnModel], rng: np.random.Generator
    ) -> np.ndarray:
        """Return an imputation of other rows by the models of a chain."""
        imputed = self._start(encoded, rng)
        for _ in range(self.n_rounds):
            for j in columns_by_missing(encoded.observed):
                self._impute_column(models[j], imputed, encoded.observed, rng)
        return imputed

    def _impute_column(
        self,
        model: ColumnModel,
        imputed: np.ndarray,
        observed: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """Draw the missing cells of the model's column again."""
        rows = ~observed[:, model.j]
        if rows.any():
            features = np.delete(imputed[rows], model.j, axis=1)
            imputed[rows, model.j] = model.draw(features, self.n_candidates, rng)


def _aggregate(imputations: list[np.ndarray], columns: Sequence[EncodedColumn]) -> np.ndarray:
    """Return the mean of numbers and the most frequent code of categories."""
    stacked = np.stack(imputations)
    aggregate = stacked.mean(axis=0, dtype=np.float64)
    for j, column in enumerate(columns):
        if column.kind == "categorical":
            codes = np.arange(column.n_categories)
            votes = (stacked[:, :, j, None] == codes).sum(axis=0)
            aggregate[:, j] = votes.argmax(axis=1)
    return aggregate
