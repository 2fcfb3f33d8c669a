"""A summary of the missing cells of a table, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.missingness._summary_views import summary_html, summary_text
from pmae_core.missingness.blocks import MissingBlock, find_blocks
from pmae_core.missingness.patterns import BoolArray, MissingPatterns, find_patterns
from pmae_core.words import count, percent

PatternClass = Literal["complete", "monotone", "quasi-monotone", "general"]

# Quasi-monotone: exceptions from monotone up to this share of the missing cells.
QUASI_MONOTONE_UP_TO = 0.1
# Nearly monotone: so few that methods for monotone patterns lose next to nothing if the exceptions
# are imputed first, or the cells of one in a hundred set aside.
NEARLY_MONOTONE_UP_TO = 0.01

_MONOTONE = "the columns can be ordered so that a row that misses one misses all later ones"


@dataclass(frozen=True, repr=False)
class MissingnessSummary:
    """What is missing in a table.

    A notebook shows it with a bar per column; printed, it is a sentence and a short table.

    Attributes
    ----------
    n_rows, n_columns, n_missing : int
        Size of the table and number of missing cells.
    share_missing : float
        Share of missing cells.
    per_column : DataFrame
        ``p_obs`` and ``n_missing`` of each column, in the table's order.
    n_complete_rows : int
        Rows in which nothing is missing.
    patterns : DataFrame
        The most frequent missing patterns of rows: ``n_rows``, ``share`` of the rows, ``n_missing``
        cells in each and ``missing_columns`` by name.
    n_patterns : int
        Number of different patterns, the complete row included.
    pattern_class : {"complete", "monotone", "quasi-monotone", "general"}
        Quasi-monotone if at most a tenth of the missing cells stand against monotone.
    distance_from_monotone : float
        Cells that would have to change for a monotone pattern, with columns ordered by how much
        they miss, as a share of the missing cells: 0 is monotone.
    n_exceptions : int
        The same as a number of cells.
    row_patterns : MissingPatterns
        All patterns, and which row has which.
    """

    n_rows: int
    n_columns: int
    n_missing: int
    share_missing: float
    per_column: pd.DataFrame
    n_complete_rows: int
    patterns: pd.DataFrame
    n_patterns: int
    pattern_class: PatternClass
    distance_from_monotone: float
    n_exceptions: int
    row_patterns: MissingPatterns

    @cached_property
    def blocks(self) -> tuple[MissingBlock, ...]:
        """Columns that are missing in the same rows, exactly or nearly; see :func:`find_blocks`."""
        return find_blocks(self.row_patterns)

    def __repr__(self) -> str:
        return summary_text(self.sentence(), self.per_column, self.blocks)

    def _repr_html_(self) -> str:
        return summary_html(
            self.sentence(), self.per_column, self.patterns, self.n_patterns, self.blocks
        )

    def pattern_sentence(self) -> str:
        """Return in words whether the pattern is monotone, and with how many exceptions."""
        if self.pattern_class == "complete":
            return "Nothing is missing."
        if self.pattern_class == "monotone":
            return f"The missing pattern is monotone: {_MONOTONE}."
        if self.pattern_class == "general":
            return (
                "The missing pattern is general: which cells are missing together follows no order."
            )
        name = "quasi-monotone"
        if self.distance_from_monotone <= NEARLY_MONOTONE_UP_TO:
            name = "nearly monotone"
        return (
            f"The missing pattern is {name}: {_MONOTONE}, except for "
            f"{count(self.n_exceptions, 'cell')} ({percent(self.distance_from_monotone)} of the "
            "missing cells)."
        )

    def sentence(self) -> str:
        """Return the summary in words."""
        size = f"{count(self.n_rows, 'row')} and {count(self.n_columns, 'column')}"
        if self.n_missing == 0:
            return f"The table has {size}; nothing is missing."
        n_partial = int((self.per_column["n_missing"] > 0).sum())
        return (
            f"The table has {size}; {count(self.n_missing, 'cell')} "
            f"({percent(self.share_missing)}) {'is' if self.n_missing == 1 else 'are'} missing, "
            f"in {count(n_partial, 'column')}, and {count(self.n_complete_rows, 'row')} "
            f"({percent(self.n_complete_rows / self.n_rows)}) "
            f"{'is' if self.n_complete_rows == 1 else 'are'} complete. "
            f"{self.pattern_sentence()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        patterns = self.patterns.to_dict(orient="records")
        for pattern in patterns:
            pattern["missing_columns"] = [str(name) for name in pattern["missing_columns"]]
        return {
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "n_missing": self.n_missing,
            "share_missing": self.share_missing,
            "per_column": [
                {"name": str(name), "p_obs": float(p_obs), "n_missing": int(n_missing)}
                for name, p_obs, n_missing in self.per_column[["p_obs", "n_missing"]].itertuples()
            ],
            "n_complete_rows": self.n_complete_rows,
            "patterns": patterns,
            "n_patterns": self.n_patterns,
            "pattern_class": self.pattern_class,
            "distance_from_monotone": self.distance_from_monotone,
            "n_exceptions": self.n_exceptions,
        }


def summarize_missingness(
    table: pd.DataFrame | MissingPatterns, *, max_patterns: int = 10
) -> MissingnessSummary:
    """Say how much of a table is missing, where, and in which patterns.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.
    max_patterns : int, default 10
        How many of the most frequent patterns to list.

    Returns
    -------
    MissingnessSummary
        Numbers, tables, and :meth:`MissingnessSummary.sentence` in words.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, None], "c": [1, None, None]})
    >>> summary = summarize_missingness(df)
    >>> summary.pattern_class
    'monotone'
    >>> print(summary)  # doctest: +ELLIPSIS
    The table has 3 rows and 3 columns; 3 cells (33.3%) are missing, in 2 columns, ...
    column  missing  share
    c             2  66.7%
    b             1  33.3%
    1 complete column: a.
    """
    found = find_patterns(table)
    by_column = found.n_missing
    n_missing = int(by_column.sum())
    n_exceptions = _changes_to_monotone_table(found)
    distance = n_exceptions / max(n_missing, 1)
    return MissingnessSummary(
        n_rows=found.n_rows,
        n_columns=len(found.columns),
        n_missing=n_missing,
        share_missing=n_missing / (found.n_rows * len(found.columns)),
        per_column=pd.DataFrame(
            {"p_obs": found.p_obs, "n_missing": by_column}, index=found.columns
        ),
        n_complete_rows=int(found.counts[~found.missing.any(axis=1)].sum()),
        patterns=found.table(max_patterns),
        n_patterns=found.n_patterns,
        pattern_class=_pattern_class(n_missing, distance),
        distance_from_monotone=distance,
        n_exceptions=n_exceptions,
        row_patterns=found,
    )


def _changes_to_monotone_table(patterns: MissingPatterns) -> int:
    """Return how many cells would have to change, columns ordered by how much they miss."""
    order = np.argsort(patterns.n_missing, kind="stable")
    return sum(
        int(_changes_to_monotone(patterns.missing[piece][:, order]) @ patterns.counts[piece])
        for piece in patterns.pieces()
    )


def _changes_to_monotone(ordered: BoolArray) -> npt.NDArray[np.int64]:
    """Return for each pattern the cells that would have to change, columns in monotone order."""
    # A monotone row is observed up to some column and missing from there on. For each place to
    # cut: missing cells before it and observed cells after it would have to change.
    missing_before = np.cumsum(ordered, axis=1, dtype=np.int32)
    place = np.arange(1, ordered.shape[1] + 1, dtype=np.int32)
    n_observed = ordered.shape[1] - missing_before[:, -1]
    # Observed after a place: all observed ones less those up to it.
    changes = (2 * missing_before - place).min(axis=1) + n_observed
    return np.minimum(changes, n_observed).astype(np.int64)


def _pattern_class(n_missing: int, distance: float) -> PatternClass:
    if n_missing == 0:
        return "complete"
    if distance == 0:
        return "monotone"
    return "quasi-monotone" if distance <= QUASI_MONOTONE_UP_TO else "general"
