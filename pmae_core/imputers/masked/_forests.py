"""Forests for one column, each of which leaves out a part of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from pmae_core.imputers.masked._forest_arrays import forest_arrays, forest_from_arrays
from pmae_core.imputers.masked._saved_arrays import arrays_below, damaged

Forest: TypeAlias = ExtraTreesClassifier | ExtraTreesRegressor

N_FOLDS = 5
# Fewest examples in a leaf; more where rows are shown often, since copies of one row say less.
_SMALLEST_LEAF = 5
_LEAF_PER_COPY = 1.25
# A tree has some thousand leaves at most.
_MOST_LEAVES = 4_000
# Trees of a column, and fewer where they take long: in tables with millions of missing cells, for
# each of which all trees are asked, and in tables of many columns, each of which has its own.
_ENOUGH_TREES, _FEWEST_TREES = 100, 20
_CELLS_FOR_ALL_TREES = 2_000_000
_TREES_OF_ALL_COLUMNS = 5_000
# A split chooses from half of the inputs, and from so many at most: in wide tables, looking at more
# takes longer and makes trees more alike.
_SHARE_OF_INPUTS, _MOST_INPUTS = 0.5, 50


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How forests are grown.

    Attributes
    ----------
    n_trees : int
        Trees of all forests of a column together.
    min_leaf : int or "auto"
        Fewest rows in a leaf.
    max_features : float or "auto"
        Share of the inputs that a split chooses from.
    n_jobs : int
        Threads that grow trees.
    """

    n_trees: int
    min_leaf: int | str
    max_features: float | str
    n_jobs: int

    def trees_of_fold(self, fold: int) -> int:
        """Return how many trees the forest of a fold has."""
        return (self.n_trees + N_FOLDS - 1 - fold) // N_FOLDS


@dataclass(frozen=True, eq=False)
class ColumnForests:
    """The forests of one column. The rows of a fold are unknown to the forest of that fold.

    So every observed cell has an estimate by trees that did not learn from its row, at no cost:
    together the forests have as many trees as one would have.

    Parameters
    ----------
    forests : mapping of fold to forest
        The forests; folds without a tree have none.
    n_categories : int
        Categories of the column; 0 for a number.
    """

    forests: Mapping[int, Forest]
    n_categories: int

    @classmethod
    def grow(
        cls,
        inputs: np.ndarray,
        target: np.ndarray,
        fold: np.ndarray,
        n_categories: int,
        growth: Growth,
        seed: int,
        *,
        n_copies: float = 1.0,
        advance: Callable[[int], None],
    ) -> ColumnForests:
        """Grow the forests of a column.

        Parameters
        ----------
        inputs : ndarray of shape (examples, inputs)
            What the trees split on; NaN where missing.
        target : ndarray of shape (examples,)
            Numbers on the column's own scale, or codes.
        fold : int ndarray of shape (examples,)
            The fold of each example's row.
        n_categories : int
            Categories of the column; 0 for a number.
        growth : Growth
            How to grow them.
        seed : int
            Seed of the trees.
        n_copies : float
            How often a row is among the examples.
        advance : callable
            Called with the number of trees after each forest; may raise to stop.
        """
        forests = {}
        for k in range(N_FOLDS):
            n_trees = growth.trees_of_fold(k)
            if not n_trees:
                continue
            used = fold != k
            if not used.any():  # a table of so few rows has no others to learn from
                used = ~used
            min_leaf = _min_leaf(growth, int(used.sum()), n_copies)
            share = _share_of_inputs(growth, inputs.shape[1])
            forest = _new_forest(n_categories, min_leaf, n_trees, share, growth.n_jobs, seed + k)
            forests[k] = forest.fit(inputs[used], target[used])
            # Threads add up in random order: predictions would differ in their last digits.
            forest.set_params(n_jobs=None)
            advance(n_trees)
        return cls(forests, n_categories)

    def estimate(self, inputs: np.ndarray) -> np.ndarray:
        """Return what all forests expect, each tree with the same weight."""
        total = sum(len(forest.estimators_) for forest in self.forests.values())
        parts = (
            len(forest.estimators_) / total * self._expect(forest, inputs)
            for forest in self.forests.values()
        )
        return np.asarray(sum(parts))

    def estimate_unseen(self, inputs: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """Return what the forests expect for rows of these folds without having seen them."""
        expected = np.empty((len(inputs), max(1, self.n_categories)))
        for k in np.unique(fold).tolist():
            rows = fold == k
            forest = self.forests.get(k)
            expected[rows] = (
                self.estimate(inputs[rows])
                if forest is None
                else self._expect(forest, inputs[rows])
            )
        return expected

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a model file keeps, each named by its fold."""
        saved: dict[str, np.ndarray] = {}
        for k, forest in self.forests.items():
            saved |= {f"{k}.forest.{name}": a for name, a in forest_arrays(forest).items()}
        return saved

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_categories: int, n_inputs: int
    ) -> ColumnForests:
        """Return the forests that :meth:`arrays` describes."""
        forests = {}
        for k in range(N_FOLDS):
            own = arrays_below(arrays, f"{k}.forest.")
            if not own:
                continue
            forests[k] = forest_from_arrays(own, n_features=n_inputs)
            is_classifier = hasattr(forests[k], "classes_")
            if is_classifier != bool(n_categories) or (
                is_classifier and forests[k].classes_[-1] >= n_categories
            ):
                raise damaged("a forest does not fit its column")
        if not forests:
            raise damaged("a column has no forest")
        return cls(forests, n_categories)

    def _expect(self, forest: Forest, inputs: np.ndarray) -> np.ndarray:
        # The trees themselves: checks of the forest would take longer than small predictions.
        cells = np.ascontiguousarray(inputs, dtype=np.float32)
        mean = sum(tree.tree_.predict(cells) for tree in forest.estimators_) / forest.n_estimators
        if not self.n_categories:
            return np.asarray(mean)
        likely = np.zeros((len(inputs), self.n_categories))
        likely[:, forest.classes_.astype(np.intp)] = mean
        return likely


def enough_trees(observed: np.ndarray) -> int:
    """Return how many trees a column of a table needs, given which of its cells are observed."""
    n_columns, n_missing = observed.shape[1], int((~observed).sum())
    share = min(1.0, _CELLS_FOR_ALL_TREES / max(1, n_missing))
    most = min(_ENOUGH_TREES * share, _TREES_OF_ALL_COLUMNS / max(1, n_columns))
    return max(_FEWEST_TREES, round(most))


def folds_of_rows(n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random fold for each row; folds are of equal size."""
    return rng.permutation(n_rows) % N_FOLDS


def _min_leaf(growth: Growth, n_examples: int, n_copies: float) -> int:
    if not isinstance(growth.min_leaf, str):
        return growth.min_leaf
    return max(_SMALLEST_LEAF, round(_LEAF_PER_COPY * n_copies), n_examples // _MOST_LEAVES)


def _share_of_inputs(growth: Growth, n_inputs: int) -> float:
    if not isinstance(growth.max_features, str):
        return growth.max_features
    return min(_SHARE_OF_INPUTS, _MOST_INPUTS / n_inputs)


def _new_forest(
    n_categories: int, min_leaf: int, n_trees: int, share: float, n_jobs: int, seed: int
) -> Forest:
    forest_class = ExtraTreesClassifier if n_categories else ExtraTreesRegressor
    return forest_class(
        n_estimators=n_trees,
        min_samples_leaf=min_leaf,
        max_features=share,
        n_jobs=n_jobs,
        random_state=seed,
    )
