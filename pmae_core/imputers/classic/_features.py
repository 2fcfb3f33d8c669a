"""The columns of a table as features of a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from pmae_core.table import EncodedColumn


@dataclass(frozen=True)
class FeatureLayout:
    """Where each column stands among the features.

    A number is one feature; a category has a 0/1 indicator for each of its codes but the first.

    Attributes
    ----------
    columns : sequence of EncodedColumn
        The columns of the table.

    Examples
    --------
    >>> columns = [EncodedColumn("x", "numerical", 0), EncodedColumn("g", "categorical", 3)]
    >>> FeatureLayout(columns).features(np.array([[0.5, 2.0], [0.1, 0.0]]))
    array([[0.5, 0. , 1. ],
           [0.1, 0. , 0. ]])
    """

    columns: Sequence[EncodedColumn]

    @cached_property
    def widths(self) -> list[int]:
        """Number of features of every column."""
        return [
            max(column.n_categories - 1, 0) if column.kind == "categorical" else 1
            for column in self.columns
        ]

    @cached_property
    def blocks(self) -> list[slice]:
        """The features of every column."""
        ends = accumulate(self.widths)
        return [slice(end - width, end) for end, width in zip(ends, self.widths, strict=True)]

    def of_column(self, j: int, cells: np.ndarray) -> np.ndarray:
        """Return cells of column ``j`` as features."""
        if self.columns[j].kind == "numerical":
            return cells[:, None]
        codes = np.arange(1, self.columns[j].n_categories)
        return (np.rint(cells)[:, None] == codes).astype(np.float64)

    def features(self, values: np.ndarray) -> np.ndarray:
        """Return all columns as features."""
        return np.hstack([self.of_column(j, values[:, j]) for j in range(len(self.columns))])


def column_relations(layout: FeatureLayout, values: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return how closely columns are related: the largest correlation between their features.

    Missing cells count as the mean of their column.
    """
    features = layout.features(values)
    for j, block in enumerate(layout.blocks):
        seen = observed[:, j]
        features[:, block] -= features[seen, block].mean(axis=0)
        features[~seen, block] = 0
    norms = np.sqrt(np.square(features).sum(axis=0))
    scaled = features / np.where(norms > 0, norms, 1)
    correlations = np.abs(scaled.T @ scaled)
    starts = [block.start for block in layout.blocks if block.stop > block.start]
    among = np.maximum.reduceat(np.maximum.reduceat(correlations, starts, axis=0), starts, axis=1)
    relations = np.zeros((len(layout.columns), len(layout.columns)))
    wide = np.flatnonzero(layout.widths)
    relations[np.ix_(wide, wide)] = among
    return relations
