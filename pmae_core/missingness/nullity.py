"""Where cells are missing, and which columns are missing together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pmae_core.missingness._columns import places_of
from pmae_core.missingness.blocks import MissingBlock, find_blocks
from pmae_core.missingness.patterns import (
    FloatArray,
    IntArray,
    MissingPatterns,
    find_patterns,
)

RowOrder = Literal["table", "pattern"]


@dataclass(frozen=True, eq=False)
class NullityMatrix:
    """A table's missing cells, rows gathered in bins so that any number of them can be drawn.

    Attributes
    ----------
    columns : Index
        Names of the columns.
    share_missing : ndarray of shape (n_bins, n_columns)
        Share of a bin's rows that miss the column: 0 or 1 where a bin is a single row.
    first_row, last_row : int ndarrays of shape (n_bins,)
        Which rows a bin holds, counted from 1 in the chosen order.
    order : {"table", "pattern"}
        Rows as in the table, or rows of one pattern together, the most frequent pattern first.
    """

    columns: pd.Index
    share_missing: FloatArray
    first_row: IntArray
    last_row: IntArray
    order: RowOrder

    @property
    def is_exact(self) -> bool:
        """Whether each bin is one row."""
        return bool((self.first_row == self.last_row).all())


def bin_nullity(
    table: pd.DataFrame | MissingPatterns, *, max_bins: int = 200, order: RowOrder = "table"
) -> NullityMatrix:
    """Gather the rows of a table in bins and count the missing cells of each.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.
    max_bins : int, default 200
        Bins at most; a shorter table has a bin for each row.
    order : {"table", "pattern"}
        Leave the rows in their order, or put rows with the same missing cells together.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": [None, None, 1.0, None]})
    >>> bin_nullity(df, max_bins=2).share_missing
    array([[0.5, 1. ],
           [0. , 0.5]])
    """
    patterns = find_patterns(table)
    n_rows = patterns.n_rows
    edges = np.linspace(0, n_rows, min(max_bins, n_rows) + 1).astype(np.int64)
    pattern_of_row = patterns.pattern_of_row
    if order == "pattern":
        pattern_of_row = np.sort(pattern_of_row)
    share = np.stack(
        [
            patterns.missing[pattern_of_row[start:end]].mean(axis=0)
            for start, end in itertools.pairwise(edges)
        ]
    )
    return NullityMatrix(patterns.columns, share, edges[:-1] + 1, edges[1:], order)


def correlate_nullity(table: pd.DataFrame | MissingPatterns) -> pd.DataFrame:
    """Correlate the columns' missingness: 1 always missing together, -1 one or the other.

    Complete and all-missing columns have no correlation and are left out.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, None], "b": [2, None], "c": [None, 3], "full": [0, 1]})
    >>> correlate_nullity(df).round(1).loc["a"].to_dict()
    {'a': 1.0, 'b': 1.0, 'c': -1.0}
    """
    patterns = find_patterns(table)
    kept = patterns.partly_missing
    share = patterns.n_missing[kept] / patterns.n_rows
    together = patterns.missing_together[np.ix_(kept, kept)] / patterns.n_rows
    deviation = np.sqrt(share * (1 - share))
    correlation = (together - np.outer(share, share)) / np.outer(deviation, deviation)
    names = patterns.columns[kept]
    return pd.DataFrame(np.clip(correlation, -1, 1), index=names, columns=names)


def correlate_blocks(
    table: pd.DataFrame | MissingPatterns, blocks: Sequence[MissingBlock]
) -> FloatArray:
    """Correlate the missingness of blocks of columns.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.
    blocks : sequence of MissingBlock
        Blocks with observed and missing cells, as :func:`find_blocks` returns them.

    Returns
    -------
    ndarray of shape (n_blocks, n_blocks)
        The mean correlation of the columns of one block with those of the other.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, None], "b": [2, None], "c": [None, 3]})
    >>> from pmae_core.missingness import find_blocks
    >>> correlate_blocks(df, find_blocks(df)).round(1).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    correlation = correlate_nullity(table)
    return _means_of_blocks(correlation.to_numpy(), correlation.columns, blocks)


def _means_of_blocks(
    of_columns: FloatArray, names: pd.Index, blocks: Sequence[MissingBlock]
) -> FloatArray:
    """Return the means of a matrix of columns over the columns of every two blocks."""
    weights = np.zeros((len(blocks), len(names)))
    for row, block in zip(weights, blocks, strict=True):
        row[places_of(names, block.columns)] = 1 / len(block.columns)
    return np.asarray(weights @ of_columns @ weights.T)


def strongest_pairs(correlation: pd.DataFrame, max_pairs: int = 10) -> pd.DataFrame:
    """List the pairs of columns whose missingness is most correlated, the strongest first.

    Parameters
    ----------
    correlation : DataFrame
        What `correlate_nullity` returned.
    max_pairs : int, default 10
        Pairs at most.

    Returns
    -------
    DataFrame
        ``first`` and ``second`` column and their ``correlation``.
    """
    rows, columns = np.triu_indices(len(correlation), k=1)
    values = correlation.to_numpy()[rows, columns]
    best = np.argsort(-np.abs(values), kind="stable")[:max_pairs]
    names = correlation.index
    return pd.DataFrame(
        {
            "first": names[rows[best]].to_numpy(dtype=object),
            "second": names[columns[best]].to_numpy(dtype=object),
            "correlation": values[best],
        }
    )


@dataclass(frozen=True, eq=False)
class NullityTree:
    """Columns joined step by step, those that are missing in the same rows first.

    Attributes
    ----------
    groups : tuple of tuples
        The columns of each leaf, in an order without crossing branches.
    share_missing : ndarray of shape (n_groups,)
        Share of the rows in which the columns of a leaf are missing.
    joins : DataFrame
        One row a join, lowest first: the places ``left`` and ``right`` of its two branches along
        the leaves (0, 1, ...), where they begin (``left_height``, ``right_height``) and the
        ``height`` at which they meet: the share of rows in which one side is missing and the other
        is not, on average.
    """

    groups: tuple[tuple[Any, ...], ...]
    share_missing: FloatArray
    joins: pd.DataFrame

    @property
    def columns(self) -> list[Any]:
        """All columns in the order of the leaves."""
        return [name for group in self.groups for name in group]


def cluster_columns(
    table: pd.DataFrame | MissingPatterns, blocks: Sequence[MissingBlock] | None = None
) -> NullityTree:
    """Join the columns of a table by how often their missingness differs (average linkage).

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.
    blocks : sequence of MissingBlock, optional
        The leaves, which hold every column once; if not given, columns that are missing in exactly
        the same rows are one leaf. Complete columns form one, all-missing columns another.

    Returns
    -------
    NullityTree
        With one leaf and no joins if all columns are missing in the same rows.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, None, 3, 4], "b": [1, None, None, 4], "c": [1, None, 3, 4]})
    >>> tree = cluster_columns(df)
    >>> tree.groups, tree.joins["height"].tolist()
    ((('a', 'c'), ('b',)), [0.25])
    """
    patterns = find_patterns(table)
    leaves = find_blocks(patterns, nearly_up_to=0) if blocks is None else blocks
    place = {name: at for at, name in enumerate(patterns.columns)}
    leaves = sorted(leaves, key=lambda block: place[block.columns[0]])
    distance = _means_of_blocks(_share_of_rows_that_differ(patterns), patterns.columns, leaves)
    order, joins = _join(distance)
    return NullityTree(
        groups=tuple(leaves[leaf].columns for leaf in order),
        share_missing=np.array([leaves[leaf].share_missing for leaf in order]),
        joins=joins,
    )


def _share_of_rows_that_differ(patterns: MissingPatterns) -> FloatArray:
    n_missing = patterns.n_missing
    differ = n_missing[:, None] + n_missing[None, :] - 2 * patterns.missing_together
    return np.asarray(differ / patterns.n_rows)


def _join(distance: FloatArray) -> tuple[IntArray, pd.DataFrame]:
    """Return the order of the leaves and the joins between them."""
    # Imported here so that a page that draws no tree does not wait for it.
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    n_leaves = len(distance)
    names = ["left", "right", "left_height", "right_height", "height"]
    if n_leaves == 1:
        return np.array([0]), pd.DataFrame(columns=names, dtype=float)
    links = linkage(squareform(distance, checks=False), "average", optimal_ordering=n_leaves <= 100)
    order = leaves_list(links)
    place = np.empty(2 * n_leaves - 1)
    place[order] = np.arange(n_leaves)
    height = np.zeros(2 * n_leaves - 1)
    joins = []
    for step, (one, other, meet, _) in enumerate(links):
        left, right = sorted((int(one), int(other)), key=lambda branch: place[branch])
        joins.append((place[left], place[right], height[left], height[right], meet))
        place[n_leaves + step] = (place[left] + place[right]) / 2
        height[n_leaves + step] = meet
    return order, pd.DataFrame(joins, columns=names)
