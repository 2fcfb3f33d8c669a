"""Chained equations with a learner per column, chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from pmae_core.imputers.classic._common import columns_by_missing
from pmae_core.imputers.classic._learners import LearnerFactory
from pmae_core.imputers.classic.naive import column_center
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import EncodedColumn, EncodedTable

FEWEST_CELLS_TO_COMPARE = 20
MOST_NATIVE_CATEGORIES = 255


@dataclass
class _Choice:
    """The learner of a column, and the errors of all that were compared."""

    learner: str
    errors: dict[str, float] = field(default_factory=dict)


class ChainedColumns:
    """A table that is imputed column by column, and the learners of its columns.

    Parameters
    ----------
    encoded : EncodedTable
        The table.
    factory : LearnerFactory
        What makes the learners.
    comparison_rows : int
        Most rows on which learners are compared.
    """

    def __init__(
        self, encoded: EncodedTable, factory: LearnerFactory, comparison_rows: int
    ) -> None:
        self.columns = encoded.columns
        self.observed = encoded.observed
        self.factory = factory
        self.comparison_rows = comparison_rows
        centers = [column_center(encoded, j) for j in range(len(encoded.columns))]
        self.start = np.array(centers, dtype=np.float32)
        self.values = np.where(encoded.observed, encoded.values, self.start)
        by_missing = columns_by_missing(encoded.observed)
        self.order = [j for j in by_missing if not encoded.observed[:, j].all()]
        self._choices: dict[int, _Choice] = {}
        self._models: dict[int, Any] = {}

    def run(self, progress: ProgressMeter, *, patience: int, tolerance: float) -> int:
        """Run rounds until the imputed cells settle; return how many."""
        progress.check()
        smallest, rounds_since_smallest = np.inf, 0
        for round_ in range(progress.total):
            before = self.values.copy()
            for j in self.order:
                progress.check()
                self._train(j, progress.check)
                rows = ~self.observed[:, j]
                self.values[rows, j] = self._predict(j, self.values[rows])
            progress.advance()
            change = self._change(before)
            rounds_since_smallest = 0 if change < smallest else rounds_since_smallest + 1
            smallest = min(change, smallest)
            if change < tolerance or rounds_since_smallest >= patience:
                return round_ + 1
        return progress.total

    def impute(self, encoded: EncodedTable, n_rounds: int) -> np.ndarray:
        """Return the table with its missing cells predicted; each row by itself."""
        values = np.where(encoded.observed, encoded.values, self.start)
        needed = np.flatnonzero(~encoded.observed.all(axis=0)).tolist()
        complete = [j for j in needed if j not in self.order]
        for j in complete:
            if j not in self._models:
                self._train(j, lambda: None)
        columns = [j for j in (*complete, *self.order) if j in needed]
        for _ in range(n_rounds):
            for j in columns:
                rows = ~encoded.observed[:, j]
                values[rows, j] = self._predict(j, values[rows])
        return values

    def choices(self) -> pd.DataFrame:
        """Return the learner of each column with missing cells, in the table's order."""
        learners = self.factory.learners
        rows = [
            {
                "column": self.columns[j].name,
                "learner": choice.learner,
                **{
                    name: self._choices[j].errors.get(name, np.nan)
                    for name in self.factory.learners
                },
            }
            for j, choice in sorted(self._choices.items())
        ]
        return pd.DataFrame(rows, columns=["column", "learner", *learners])

    def _train(self, j: int, check: Callable[[], None]) -> None:
        rows = np.flatnonzero(self.observed[:, j])
        if j not in self._choices:
            self._choices[j] = self._compare(j, rows, check)
        self._models[j] = self._fit(j, self._choices[j].learner, rows)

    def _compare(self, j: int, rows: np.ndarray, check: Callable[[], None]) -> _Choice:
        """Compare the learners on two folds of the observed rows of a column."""
        learners = self.factory.learners
        if len(learners) == 1 or len(rows) < FEWEST_CELLS_TO_COMPARE:
            return _Choice(learners[0])
        rng = np.random.default_rng([self.factory.seed, j])
        if len(rows) > self.comparison_rows:
            rows = rng.choice(rows, self.comparison_rows, replace=False)
        target = self.values[rows, j]
        errors = dict.fromkeys(learners, 0.0)
        for train, test in self._folds(j, target):
            for name in learners:
                check()
                model = self._fit(j, name, rows[train])
                predicted = self._predict_with(model, j, name, self.values[rows[test]])
                errors[name] += self._error(j, target[test], predicted, target) / 2
        return _Choice(min(errors, key=lambda name: errors[name]), errors)

    def _folds(self, j: int, target: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        splitter = StratifiedKFold if self._is_categorical(j) else KFold
        with warnings.catch_warnings():
            # A category of one cell cannot be in both folds, and need not be.
            warnings.filterwarnings("ignore", message="The least populated class")
            folds = splitter(2, shuffle=True, random_state=self.factory.seed)
            return list(folds.split(target, target))

    def _error(self, j: int, truth: np.ndarray, predicted: np.ndarray, column: np.ndarray) -> float:
        if self._is_categorical(j):
            return float(np.mean(truth != predicted))
        return float(np.mean((truth - predicted) ** 2) / max(column.var(), 1e-12))

    def _fit(self, j: int, learner: str, rows: np.ndarray) -> Any:
        features = self._features(self.values[rows], j, learner)
        target = self.values[rows, j].astype(np.float64)
        classify = self._is_categorical(j)
        if classify:
            # Packages differ in which labels they accept; 0, 1, 2, ... suits all.
            classes, target = np.unique(target, return_inverse=True)
        model = self.factory.make(learner, classify=classify, categorical=self._code_features(j))
        if classify and len(classes) == 1:
            model = DummyClassifier()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(features, target)
        return (model, classes) if classify else (model, None)

    def _predict(self, j: int, values: np.ndarray) -> np.ndarray:
        return self._predict_with(self._models[j], j, self._choices[j].learner, values)

    def _predict_with(self, fitted: Any, j: int, learner: str, values: np.ndarray) -> np.ndarray:
        model, classes = fitted
        predicted = np.asarray(model.predict(self._features(values, j, learner))).ravel()
        if classes is not None:
            found: np.ndarray = classes[predicted.astype(np.intp)]
            return found
        # Encoded numbers lie in [0, 1]: the observed range of the column.
        return np.clip(predicted, 0.0, 1.0)

    def _features(self, values: np.ndarray, j: int, learner: str) -> np.ndarray:
        """Return all columns but ``j`` in the form that a learner reads."""
        others = [k for k in range(len(self.columns)) if k != j]
        if self.factory.reads_codes(learner):
            return values[:, others]
        return np.concatenate([_indicators(values[:, k], self.columns[k]) for k in others], axis=1)

    def _code_features(self, j: int) -> np.ndarray:
        """Return which features (all columns but ``j``) are codes that boosting takes natively."""
        return np.array(
            [
                0 < column.n_categories <= MOST_NATIVE_CATEGORIES
                for k, column in enumerate(self.columns)
                if k != j
            ]
        )

    def _change(self, before: np.ndarray) -> float:
        """Return the root mean square change of the imputed cells."""
        change = np.abs(self.values - before)
        for j in range(len(self.columns)):
            if self._is_categorical(j):
                change[:, j] = change[:, j] > 0
        changed = change[~self.observed]
        return float(np.sqrt(np.mean(changed**2))) if changed.size else 0.0

    def _is_categorical(self, j: int) -> bool:
        return self.columns[j].kind == "categorical"


def _indicators(values: np.ndarray, column: EncodedColumn) -> np.ndarray:
    """Return a column as features: itself, or one 0/1 column per category."""
    if column.kind == "numerical":
        return values[:, None]
    return np.equal(values[:, None], np.arange(column.n_categories)).astype(np.float32)
