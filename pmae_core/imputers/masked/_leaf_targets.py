"""The numbers that a forest learned from, by the leaf they fell into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """What to draw from: a number that a random tree has seen in the leaf of a row.

    Parameters
    ----------
    target : ndarray of shape (rows,)
        The numbers that were learned from.
    by_leaf : list of ndarray of shape (rows,)
        For each tree the rows in the order of their leaves.
    starts : list of ndarray of shape (nodes + 1,)
        For each tree where the rows of a node begin in that order.
    """

    target: np.ndarray
    by_leaf: list[np.ndarray]
    starts: list[np.ndarray]

    @classmethod
    def of(cls, forest: ExtraTreesRegressor, inputs: np.ndarray, target: np.ndarray) -> LeafTargets:
        """Return the numbers of a forest's leaves."""
        by_leaf, starts = [], []
        for tree, leaf in zip(forest.estimators_, forest.apply(inputs).T, strict=True):
            counts = np.bincount(leaf, minlength=tree.tree_.node_count)
            by_leaf.append(np.argsort(leaf, kind="stable").astype(np.int32))
            starts.append(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        return cls(target, by_leaf, starts)

    def draw(
        self, forest: ExtraTreesRegressor, inputs: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return one number for each row."""
        drawn = np.empty(len(inputs), dtype=self.target.dtype)
        tree_of_row = rng.integers(len(self.by_leaf), size=len(inputs))
        places = rng.random(len(inputs))
        for number in np.unique(tree_of_row):
            rows = np.flatnonzero(tree_of_row == number)
            leaf = forest.estimators_[number].apply(inputs[rows])
            start, end = self.starts[number][leaf], self.starts[number][leaf + 1]
            chosen = start + (places[rows] * (end - start)).astype(np.int32)
            drawn[rows] = self.target[self.by_leaf[number][chosen]]
        return drawn
