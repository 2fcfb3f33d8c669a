"""MiceForest: chained forests with predictive mean matching, several times."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.parameters import check_positive, check_two_columns
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.imputers.transductive import encoded_digest
from pmae_core.table import EncodedColumn, EncodedTable, Schema


@register_imputer(
    name="miceforest",
    title="MiceForest",
    explanation="Predicts each column from all others by small random forests, copies cells from "
    "rows with a similar prediction, does all that five times over and takes the mean.",
    citation="Shah et al.: Comparison of random forest and parametric imputation models for "
    "imputing missing data using MICE. American Journal of Epidemiology, 2014; the package "
    "miceforest by Samuel Wilson.",
    draws_samples=True,
    limits="Grows a forest per column, round and filling: minutes for some thousand rows. Forests "
    "of more than 10,000 observed cells see a random 10,000 (max_samples).",
)
class MiceForestImputer(BaseImputer):
    """Fill with the aggregate of several fillings by chained forests with mean matching.

    The algorithm of the package ``miceforest``, written anew: a filling starts with random observed
    values. A round goes through the columns from the fewest holes to the most and grows a
    forest on the rows in which the column is observed. A missing number is copied from one of the
    ``n_candidates`` observed cells whose predictions are nearest; a missing category is drawn with
    the predicted probabilities. The result is the mean of numbers and the most frequent category
    over ``n_datasets`` such fillings.

    Why anew, and what differs: the package (6.0.5) fails where a forest is sure of a category,
    does not work with LightGBM from 4.7 on, and fills new rows with its random start.
    Here forests are scikit-learn's with the package's sizes, each column sees the newest values of
    the others within a round, and categories are drawn as in the package's "fast" matching.

    New rows, and the draws of ``sample``, go through the same number of rounds with the forests of
    the last one. A forest predicts the cells it has learned from too well, so that matching with
    these predictions, as the package does, gives draws with about half the spread of the truth.
    The result is made so; the draws of ``sample`` are matched with predictions by trees that have
    not seen the cell, and spread as the truth does.

    Parameters
    ----------
    n_datasets : int, default 5
        Fillings that are aggregated; the paper's number.
    n_rounds : int, default 5
        Rounds of each filling.
    n_trees : int, default 48
        Trees of a forest.
    max_depth : int, default 8
        Depth of the trees.
    max_features : float, default 0.632
        Share of the columns that a split chooses from.
    n_candidates : int, default 5
        Nearest observed cells that a number is copied from.
    max_samples : int or None, default 10_000
        Observed cells that a forest learns from and copies at most.
    n_jobs : int, default 1
        Threads that grow trees; -1 for all cores. The result does not depend on it.
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
        check_positive(self, "n_datasets", "n_rounds", "n_trees", "n_candidates")
        check_two_columns(encoded, "MiceForest")
        n_columns = len(encoded.columns)
        n_with_holes = int((~encoded.observed.all(axis=0)).sum())
        n_forests = self.n_datasets * ((self.n_rounds - 1) * n_with_holes + n_columns)
        progress = run.progress(n_forests, "forest")
        progress.check()
        self._seed = run.seed
        self._observed_cells = [encoded.values[encoded.observed[:, j], j] for j in range(n_columns)]
        self._chains: list[list[_ColumnModel]] = []
        fillings = []
        for k in range(self.n_datasets):
            filling, models = self._run_chain(
                encoded, np.random.default_rng([run.seed, k]), progress
            )
            fillings.append(filling)
            self._chains.append(models)
        self._fitted_table = encoded_digest(encoded)
        self._completed = _aggregate(fillings, encoded.columns)

    def _run_chain(
        self, encoded: EncodedTable, rng: np.random.Generator, progress: ProgressMeter
    ) -> tuple[np.ndarray, list[_ColumnModel]]:
        """Return one filling, and the models of all columns in its last round."""
        filled = self._start(encoded, rng)
        order = _by_ascending_holes(encoded.observed)
        models: dict[int, _ColumnModel] = {}
        for n_round in range(1, self.n_rounds + 1):
            for j in order:
                has_holes = not encoded.observed[:, j].all()
                # Columns without holes need a model for new rows only.
                if has_holes or n_round == self.n_rounds:
                    models[j] = self._grow(encoded, filled, j, rng)
                    self._refill(models[j], filled, encoded.observed, rng)
                    progress.advance()
        return filled, [models[j] for j in range(len(encoded.columns))]

    def _start(self, encoded: EncodedTable, rng: np.random.Generator) -> np.ndarray:
        """Return the table with random observed values of the fitted table in its holes."""
        filled = encoded.values.astype(np.float32)
        for j, cells in enumerate(self._observed_cells):
            rows = ~encoded.observed[:, j]
            filled[rows, j] = rng.choice(cells, int(rows.sum()))
        return filled

    def _grow(
        self, encoded: EncodedTable, filled: np.ndarray, j: int, rng: np.random.Generator
    ) -> _ColumnModel:
        # In random order, so that equal predictions are matched at random.
        rows = rng.permutation(np.flatnonzero(encoded.observed[:, j]))[: self.max_samples]
        features, target = np.delete(filled[rows], j, axis=1), filled[rows, j]
        settings = {
            "n_estimators": self.n_trees,
            "max_depth": self.max_depth,
            "max_features": self.max_features,
            "n_jobs": self.n_jobs,
            "random_state": int(rng.integers(2**31 - 1)),
        }
        if encoded.columns[j].kind == "categorical":
            return _CategoricalModel(j, RandomForestClassifier(**settings).fit(features, target))
        forest = RandomForestRegressor(**settings, oob_score=_no_score)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
            forest.fit(features, target)
        own = forest.predict(features)
        # Where trees are few, all of them may have seen a row; scikit-learn then says 0.
        unseen = np.where(forest.oob_prediction_ == 0, own, forest.oob_prediction_)
        return _NumericalModel(
            j, forest, _Candidates.of(own, target), _Candidates.of(unseen, target)
        )

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if encoded_digest(encoded) == self._fitted_table:
            return self._completed
        rng = np.random.default_rng([self._seed, self.n_datasets])
        return _aggregate(
            [self._replay(encoded, models, rng) for models in self._chains], encoded.columns
        )

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        for k in range(n):
            models = self._chains[k % len(self._chains)]
            yield self._replay(encoded, models, rng, honest=True)

    def _replay(
        self,
        encoded: EncodedTable,
        models: list[_ColumnModel],
        rng: np.random.Generator,
        *,
        honest: bool = False,
    ) -> np.ndarray:
        """Return a filling of any table by the models of a chain."""
        filled = self._start(encoded, rng)
        for _ in range(self.n_rounds):
            for j in _by_ascending_holes(encoded.observed):
                self._refill(models[j], filled, encoded.observed, rng, honest=honest)
        return filled

    def _refill(
        self,
        model: _ColumnModel,
        filled: np.ndarray,
        observed: np.ndarray,
        rng: np.random.Generator,
        *,
        honest: bool = False,
    ) -> None:
        """Put newly drawn cells into the holes of the model's column."""
        rows = ~observed[:, model.j]
        if rows.any():
            features = np.delete(filled[rows], model.j, axis=1)
            filled[rows, model.j] = model.draw(features, self.n_candidates, rng, honest)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Observed cells to copy from, in ascending order of their predictions."""

    predictions: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, predictions: np.ndarray, values: np.ndarray) -> _Candidates:
        order = np.argsort(predictions, kind="stable")
        return cls(predictions[order], values[order])


@dataclass(frozen=True, eq=False)
class _NumericalModel:
    """Copies numbers of column ``j`` from observed cells with predictions near by.

    ``own`` candidates have predictions by the whole forest, ``unseen`` ones by those trees that
    did not learn from them.
    """

    j: int
    forest: RandomForestRegressor
    own: _Candidates
    unseen: _Candidates

    def draw(
        self, features: np.ndarray, n_candidates: int, rng: np.random.Generator, honest: bool
    ) -> np.ndarray:
        candidates = self.unseen if honest else self.own
        wanted = self.forest.predict(features)
        return candidates.values[match(candidates.predictions, wanted, n_candidates, rng)]


@dataclass(frozen=True, eq=False)
class _CategoricalModel:
    """Draws the codes of column ``j`` with the probabilities that its forest predicts."""

    j: int
    forest: RandomForestClassifier

    def draw(
        self, features: np.ndarray, n_candidates: int, rng: np.random.Generator, honest: bool
    ) -> np.ndarray:
        shares = self.forest.predict_proba(features)
        below = np.cumsum(shares, axis=1)[:, :-1] <= rng.random((len(shares), 1))
        return np.asarray(self.forest.classes_[below.sum(axis=1)])


_ColumnModel = _CategoricalModel | _NumericalModel


def _no_score(target: np.ndarray, predictions: np.ndarray) -> float:
    """Stand in for a score nobody asks for; the predictions it would be made of are needed."""
    return 0.0


def match(
    candidates: np.ndarray, wanted: np.ndarray, n_nearest: int, rng: np.random.Generator
) -> np.ndarray:
    """Return for each wanted number the place of one of its nearest candidates, at random.

    Parameters
    ----------
    candidates : ndarray
        Numbers in ascending order.
    wanted : ndarray
        Numbers to find neighbors of.
    n_nearest : int
        How many of the nearest candidates take part in the lot.
    rng : Generator
        Source of the lot.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> match(np.array([1.0, 2.0, 9.0]), np.array([8.0, 1.4]), 1, rng)
    array([2, 0])
    """
    n_nearest = min(n_nearest, len(candidates))
    # The nearest ones are among as many to the left and to the right.
    places = np.searchsorted(candidates, wanted)[:, None] + np.arange(-n_nearest, n_nearest)
    outside = (places < 0) | (places >= len(candidates))
    places = places.clip(0, len(candidates) - 1)
    distances = np.where(outside, np.inf, np.abs(candidates[places] - wanted[:, None]))
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_nearest]
    picked = nearest[np.arange(len(wanted)), rng.integers(n_nearest, size=len(wanted))]
    return np.asarray(places[np.arange(len(wanted)), picked])


def _by_ascending_holes(observed: np.ndarray) -> list[int]:
    """Return all columns, those with the fewest holes first."""
    return [int(j) for j in np.argsort((~observed).sum(axis=0), kind="stable")]


def _aggregate(fillings: list[np.ndarray], columns: Sequence[EncodedColumn]) -> np.ndarray:
    """Return the mean of numbers and the most frequent code of categories."""
    stacked = np.stack(fillings)
    aggregate = stacked.mean(axis=0, dtype=np.float64)
    for j, column in enumerate(columns):
        if column.kind == "categorical":
            codes = np.arange(column.n_categories)
            votes = (stacked[:, :, j, None] == codes).sum(axis=0)
            aggregate[:, j] = votes.argmax(axis=1)
    return aggregate
