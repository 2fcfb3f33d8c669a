"""The different missing patterns of the rows of a table: found once, used by all else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import EmptyTableError

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Cells that are turned into numbers at once: so few stay in a processor's cache.
_CELLS_AT_ONCE = 250_000


@dataclass(frozen=True, eq=False)
class MissingPatterns:
    """Which columns are missing together, and in how many rows.

    Attributes
    ----------
    columns : Index
        Names of the table's columns.
    missing : bool ndarray of shape (n_patterns, n_columns)
        True where a row of this pattern misses the column; the most frequent pattern first.
    counts : int ndarray of shape (n_patterns,)
        Rows of each pattern.
    pattern_of_row : int ndarray of shape (n_rows,)
        The pattern of each row of the table.
    """

    columns: pd.Index
    missing: BoolArray
    counts: IntArray
    pattern_of_row: npt.NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.pattern_of_row)

    @property
    def n_patterns(self) -> int:
        """Different patterns, the complete row included."""
        return len(self.counts)

    @cached_property
    def n_missing(self) -> IntArray:
        """Missing cells of each column."""
        total = np.zeros(len(self.columns))
        for piece in self.pieces():
            # Floats are multiplied many times faster than integers, and are exact here.
            total += self.counts[piece].astype(np.float64) @ self.missing[piece].astype(np.float64)
        return total.astype(np.int64)

    @property
    def p_obs(self) -> FloatArray:
        """Observed proportion of each column."""
        return 1.0 - self.n_missing / self.n_rows

    @property
    def partly_missing(self) -> BoolArray:
        """Columns with observed and with missing cells."""
        n_missing = self.n_missing
        return (n_missing > 0) & (n_missing < self.n_rows)

    @cached_property
    def missing_together(self) -> FloatArray:
        """In how many rows each two columns are both missing, shape (d, d)."""
        # One bit a cell, counted 64 at a time: exact, and without threads that wait for each other.
        bits = np.packbits(self.missing[self.pattern_of_row], axis=0).T
        words = np.zeros((len(bits), -(-bits.shape[1] // 8)), dtype=np.uint64)
        words.view(np.uint8)[:, : bits.shape[1]] = bits
        together = np.empty((len(words), len(words)))
        for j, column in enumerate(words):
            counted = np.bitwise_count(column & words[j:]).sum(axis=1, dtype=np.int64)
            together[j, j:] = together[j:, j] = counted
        return together

    def table(self, max_patterns: int | None = None) -> pd.DataFrame:
        """Return the most frequent patterns with the names of their missing columns."""
        shown = slice(max_patterns)
        missing = self.missing[shown]
        return pd.DataFrame(
            {
                "n_rows": self.counts[shown],
                "share": self.counts[shown] / self.n_rows,
                "n_missing": missing.sum(axis=1),
                "missing_columns": [tuple(self.columns[pattern]) for pattern in missing],
            }
        )

    def pieces(self) -> Iterator[slice]:
        """Yield slices of patterns, small enough to compute with all cells of one at once."""
        step = max(1, _CELLS_AT_ONCE // len(self.columns))
        for start in range(0, self.n_patterns, step):
            yield slice(start, start + step)


def find_patterns(table: pd.DataFrame | MissingPatterns) -> MissingPatterns:
    """Find the different missing patterns of the rows of a table.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table; patterns that were found before are returned as they are, so that functions
        which need patterns take both.

    Returns
    -------
    MissingPatterns
        The most frequent pattern first; equally frequent ones in the order of their first rows.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, 2, None], "b": [1, None, None], "c": [None, 2, None]})
    >>> find_patterns(df).table()["missing_columns"].tolist()
    [('c',), ('b',), ('a', 'b', 'c')]
    """
    if isinstance(table, MissingPatterns):
        return table
    if table.shape[0] == 0 or table.shape[1] == 0:
        raise EmptyTableError("The table has no rows or no columns to look at.")
    missing = table.isna().to_numpy()
    codes = _codes_of_rows(missing)
    counts = np.bincount(codes)
    order = np.argsort(-counts, kind="stable")
    first_rows = np.empty(len(counts), dtype=np.int64)
    first_rows[codes[::-1]] = np.arange(len(codes))[::-1]
    rank = np.empty(len(counts), dtype=np.int32)
    rank[order] = np.arange(len(counts))
    return MissingPatterns(table.columns, missing[first_rows[order]], counts[order], rank[codes])


def _codes_of_rows(missing: BoolArray) -> IntArray:
    """Return for each row its number among the different ones, by first occurrence."""
    packed = np.packbits(missing, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8)), dtype=np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    # Hashing whole words is several times faster than sorting rows of bytes.
    codes = _numbered(words[:, 0])
    for word in words.T[1:]:
        of_word = _numbered(word)
        codes = _numbered(codes * (of_word.max() + 1) + of_word)
    return codes


def _numbered(values: npt.NDArray[np.generic]) -> IntArray:
    return pd.factorize(np.ascontiguousarray(values))[0].astype(np.int64)
