"""Blocks of columns that are missing in the same rows, exactly or nearly."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pmae_core.missingness._columns import places_of
from pmae_core.missingness.patterns import (
    FloatArray,
    IntArray,
    MissingPatterns,
    find_patterns,
)

Place = Literal["first", "last", "between", "scattered"]

# Nearly the same rows: of the rows in which either of two columns is missing, at most this share
# misses only one of them.
NEARLY_UP_TO = 0.1
# Fewer rows in a row, and that they stand side by side says nothing.
LEAST_CONTIGUOUS_ROWS = 3


@dataclass(frozen=True)
class MissingBlock:
    """Columns that are missing in the same rows, exactly or nearly; or a single column.

    Attributes
    ----------
    columns : tuple
        Names in the table's order.
    n_rows_all, n_rows_any : int
        Rows in which all of the columns are missing, and rows in which at least one is. They are
        equal if the columns are missing in exactly the same rows.
    n_missing : int
        Missing cells of all columns together.
    n_rows_table : int
        Rows of the table.
    place : {"first", "last", "between", "scattered"}
        Whether the rows in which all are missing follow each other: at the beginning of the
        table, at its end, or in between.
    first_row, last_row : int
        The first and last of these rows, counted from 1; 0 if there are none.
    """

    columns: tuple[Any, ...]
    n_rows_all: int
    n_rows_any: int
    n_missing: int
    n_rows_table: int
    place: Place
    first_row: int
    last_row: int

    @classmethod
    def of(cls, table: pd.DataFrame | MissingPatterns, columns: Iterable[Hashable]) -> MissingBlock:
        """Return the block of the given columns, whether or not they are missing together."""
        patterns = find_patterns(table)
        places = np.sort(places_of(patterns.columns, columns))
        missing = patterns.missing[:, places]
        all_missing, any_missing = np.asarray(missing.all(axis=1)), np.asarray(missing.any(axis=1))
        rows = np.flatnonzero(all_missing[patterns.pattern_of_row])
        return cls(
            columns=tuple(patterns.columns[places]),
            n_rows_all=len(rows),
            n_rows_any=int(patterns.counts[any_missing].sum()),
            n_missing=int(patterns.n_missing[places].sum()),
            n_rows_table=patterns.n_rows,
            place=_place(rows, patterns.n_rows),
            first_row=int(rows[0]) + 1 if len(rows) else 0,
            last_row=int(rows[-1]) + 1 if len(rows) else 0,
        )

    @property
    def is_exact(self) -> bool:
        """Whether the columns are missing in exactly the same rows."""
        return self.n_rows_all == self.n_rows_any

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing in these columns."""
        return self.n_rows_any == 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is observed in these columns."""
        return self.n_rows_all == self.n_rows_table

    @property
    def share_missing(self) -> float:
        """Share of the columns' cells that are missing."""
        return self.n_missing / (self.n_rows_table * len(self.columns))


def find_blocks(
    table: pd.DataFrame | MissingPatterns,
    columns: Iterable[Hashable] | None = None,
    *,
    nearly_up_to: float = NEARLY_UP_TO,
) -> tuple[MissingBlock, ...]:
    """Divide the columns of a table into blocks that are missing in the same rows.

    Columns that are missing in exactly the same rows form a block; complete columns form one, and
    columns without observed values another. Columns that remain alone are then joined with others
    like them if they are missing in nearly the same rows.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.
    columns : iterable of hashables, optional
        The columns to divide; all if not given.
    nearly_up_to : float, default 0.1
        Of the rows in which either of two columns is missing, the share that may miss only one of
        them (their Jaccard distance), for every two columns of a block. 0 allows exact blocks only.

    Returns
    -------
    tuple of MissingBlock
        Every column is in one block. The blocks with the largest share of missing cells first.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, None, 3], "b": [None, 2, 3], "c": [1, None, 3]})
    >>> [block.columns for block in find_blocks(df)]
    [('a', 'c'), ('b',)]
    """
    patterns = find_patterns(table)
    places = places_of(patterns.columns, columns)
    distance = _distances(patterns, places)
    members = _exact_members(distance)
    if nearly_up_to > 0:
        members = _join_nearly(members, distance, nearly_up_to)
    names = patterns.columns[places]
    blocks = [MissingBlock.of(patterns, names[members == one]) for one in np.unique(members)]
    return tuple(sorted(blocks, key=lambda block: -block.share_missing))


def _distances(patterns: MissingPatterns, places: IntArray) -> FloatArray:
    """Return the Jaccard distances of the columns' missing rows: 0 between complete columns."""
    together = patterns.missing_together[np.ix_(places, places)]
    n_missing = patterns.n_missing[places]
    either = n_missing[:, None] + n_missing[None, :] - together
    return np.where(either > 0, 1 - together / np.maximum(either, 1), 0.0)


def _exact_members(distance: FloatArray) -> IntArray:
    """Return for each column the first one that is missing in exactly the same rows."""
    return np.argmax(distance == 0, axis=1).astype(np.int64)


def _join_nearly(members: IntArray, distance: FloatArray, nearly_up_to: float) -> IntArray:
    """Join columns that are alone so far, so that every two of a block are near."""
    alone = np.flatnonzero(np.bincount(members, minlength=len(members))[members] == 1)
    if len(alone) < 2:
        return members
    # Imported here so that a page that needs no blocks does not wait for it.
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    between = squareform(distance[np.ix_(alone, alone)], checks=False)
    cluster = fcluster(linkage(between, "complete"), nearly_up_to, criterion="distance")
    joined = members.copy()
    for number in np.unique(cluster):
        joined[alone[cluster == number]] = alone[cluster == number][0]
    return joined


def _place(rows: IntArray, n_rows: int) -> Place:
    is_contiguous = len(rows) >= LEAST_CONTIGUOUS_ROWS and rows[-1] - rows[0] + 1 == len(rows)
    if not is_contiguous or len(rows) == n_rows:
        return "scattered"
    if rows[0] == 0:
        return "first"
    return "last" if rows[-1] == n_rows - 1 else "between"
