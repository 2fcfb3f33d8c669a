"""The numbers that a forest learned from, by the leaf they fell into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.tree._tree import TREE_LEAF

from pmae_core.imputers.masked._saved_arrays import (
    INTEGERS,
    damaged,
    saved_array,
    smallest_integers,
)


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
        node_of_row = forest.apply(inputs).T
        return cls._sorted(target, list(node_of_row), _node_counts(forest))

    @classmethod
    def _sorted(
        cls, target: np.ndarray, node_of_row: list[np.ndarray], node_counts: list[int]
    ) -> LeafTargets:
        by_leaf, starts = [], []
        for node, node_count in zip(node_of_row, node_counts, strict=True):
            counts = np.bincount(node, minlength=node_count)
            by_leaf.append(np.argsort(node, kind="stable").astype(np.int32))
            starts.append(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        return cls(target, by_leaf, starts)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a model file keeps.

        Returns
        -------
        dict of str to ndarray
            ``target``, and ``leaf`` of shape (trees, rows): the leaf of each row, where the leaves
            of a tree are numbered from 0. It holds the same as ``by_leaf`` and ``starts`` in
            fewer bytes.
        """
        leaf = np.empty((len(self.by_leaf), len(self.target)), dtype=np.int64)
        for of_row, rows, starts in zip(leaf, self.by_leaf, self.starts, strict=True):
            counts = np.diff(starts)
            counts = counts[counts > 0]  # inner nodes have no rows
            of_row[rows] = np.repeat(np.arange(len(counts)), counts)
        return {"target": self.target, "leaf": smallest_integers(leaf)}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], forest: ExtraTreesRegressor
    ) -> LeafTargets:
        """Restore what :meth:`arrays` returned.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            The arrays; they may come from a damaged file.
        forest : ExtraTreesRegressor
            The forest whose leaves they are about.

        Raises
        ------
        ImputationError
            If the arrays do not match each other or the forest.
        """
        target = saved_array(arrays, "target", (np.float32, np.float64))
        leaf = saved_array(arrays, "leaf", INTEGERS, n_dims=2)
        if not np.isfinite(target).all():
            raise damaged("a number to draw from is not finite")
        if leaf.shape != (len(forest.estimators_), len(target)):
            raise damaged("its leaves do not match its trees and its numbers to draw from")
        node_of_row = [
            _nodes_of_leaves(of_row, np.flatnonzero(one.tree_.children_left == TREE_LEAF))
            for of_row, one in zip(leaf, forest.estimators_, strict=True)
        ]
        return cls._sorted(target, node_of_row, _node_counts(forest))

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


def _node_counts(forest: ExtraTreesRegressor) -> list[int]:
    return [one.tree_.node_count for one in forest.estimators_]


def _nodes_of_leaves(leaf: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """Return the nodes of a tree's numbered leaves; each of them has rows."""
    if ((leaf < 0) | (leaf >= len(leaves))).any():
        raise damaged("a row is in a leaf that its tree does not have")
    if (np.bincount(leaf, minlength=len(leaves)) == 0).any():
        raise damaged("a leaf has no numbers to draw from")
    return leaves[leaf]
