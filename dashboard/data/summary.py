"""What a table is like, in words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard.state.table_state import OpenTable
from dashboard.text import code, exact_text, listing
from pmae_core.table import ColumnSchema, Flag, Role, SentinelSuggestion
from pmae_core.words import count, percent

ALMOST_EMPTY = 0.1  # at most so much is observed
FEW_ROWS = 20

MEANING_OF_ROLE = {
    Role.NUMERICAL: "for amounts and measurements",
    Role.CATEGORICAL: "for labels such as towns",
    Role.ORDINAL: "for levels in order, such as low, medium and high",
    Role.BOOLEAN: "for yes and no",
    Role.DATETIME: "for points in time",
    Role.IDENTIFIER: "for what only names its row",
    Role.IGNORED: "for what to leave alone",
}


def sentence_about_holes(table: OpenTable) -> str:
    """Return how many columns have holes, and which are remarkable.

    Examples: "12 of 40 columns have holes; 3 are almost empty (`a`, `b` and `c`); `id` looks
    like an identifier."
    """
    columns = list(table.schema)
    with_holes = [c for c in columns if c.n_observed < c.n_rows]
    if not with_holes:
        parts = ["No column has holes"]
    elif len(with_holes) == len(columns) > 1:
        parts = [f"All {count(len(columns), 'column')} have holes"]
    else:
        verb = "has" if len(with_holes) == 1 else "have"
        parts = [f"{len(with_holes):,} of {count(len(columns), 'column')} {verb} holes"]
    almost_empty = [c.name for c in with_holes if 0 < c.n_observed <= ALMOST_EMPTY * c.n_rows]
    if almost_empty:
        be = "is" if len(almost_empty) == 1 else "are"
        parts.append(f"{len(almost_empty):,} {be} almost empty ({listing(almost_empty)})")
    parts += [words for flag in _SAID_IN_SUMMARY if (words := _flagged(columns, flag))]
    return "; ".join(parts) + "."


def sentence_about_cells(table: OpenTable) -> str:
    """Return the size of the table and how much of it is missing."""
    n_rows, n_columns = table.frame.shape
    n_missing = sum(c.n_rows - c.n_observed for c in table.schema)
    size = f"{count(n_rows, 'row')} and {count(n_columns, 'column')}"
    if not n_missing:
        return f"{size}; nothing is missing."
    share = percent(n_missing / table.frame.size)
    be = "is" if n_missing == 1 else "are"
    return f"{size}; {count(n_missing, 'cell')} ({share}) {be} missing."


def cautions(table: OpenTable, suggestions: Sequence[SentinelSuggestion] = ()) -> list[str]:
    """Return what to know or to do before going on, each a sentence in Markdown."""
    columns = list(table.schema)
    found = []
    if suggestions:
        first = suggestions[0]
        found.append(
            f"{count(len(suggestions), 'value')} may stand for missing ones, such as "
            f"{code(exact_text(first.value))} in {code(first.column)}: "
            'see "Which values stand for missing ones?" below.'
        )
    if len(columns) == 1:
        found.append(
            "There is only one column. A missing cell is filled from the other cells of its row, "
            "so open a table with more columns. If the cells of a file are separated by an "
            'unusual sign, choose it under "Read the file in another way".'
        )
    elif not table.schema.learned():
        found.append(
            "There is no column to learn from: each is empty, constant, an identifier or ignored. "
            "Change a role below, or open another table."
        )
    if len(table.frame) < FEW_ROWS:
        found.append(
            f"With {count(len(table.frame), 'row')} there is something to look at, but hardly "
            "anything to learn from."
        )
    infinite = infinite_columns(table.frame)
    if infinite:
        found.append(
            f"{listing(infinite)} {'holds' if len(infinite) == 1 else 'hold'} infinite numbers. "
            "Nothing is learned from such cells; declare them missing if that is what they mean."
        )
    return found


def remarks(column: ColumnSchema) -> str:
    """Return what is remarkable about a column, in plain words; empty if nothing is."""
    words = [_REMARKS[flag] for flag in column.flags]
    if 0 < column.n_observed <= ALMOST_EMPTY * column.n_rows:
        words.append("almost empty")
    return "; ".join(words)


def infinite_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that hold infinite numbers."""
    floats = frame.select_dtypes(include=["floating", "Float64", "Float32"])
    return [
        str(name)
        for name, column in floats.items()
        if np.isinf(column.to_numpy(dtype=float, na_value=np.nan)).any()
    ]


_REMARKS = {
    Flag.CONSTANT: "constant",
    Flag.ALL_MISSING: "empty",
    Flag.IDENTIFIER: "looks like an identifier",
    Flag.HIGH_CARDINALITY: "more than 100 labels",
    Flag.MIXED_TYPES: "mixed types of cells",
    Flag.CODES: "few whole numbers: codes or amounts?",
}

_SAID_IN_SUMMARY = {
    Flag.ALL_MISSING: ("is empty", "are empty"),
    Flag.CONSTANT: ("is constant", "are constant"),
    Flag.IDENTIFIER: ("looks like an identifier", "look like identifiers"),
    Flag.HIGH_CARDINALITY: ("has very many labels", "have very many labels"),
    Flag.MIXED_TYPES: ("mixes types of cells", "mix types of cells"),
    Flag.CODES: ("is read as codes", "are read as codes"),
}


def _flagged(columns: Sequence[ColumnSchema], flag: Flag) -> str:
    names = [c.name for c in columns if flag in c.flags]
    if not names:
        return ""
    return f"{listing(names, most=3)} {_SAID_IN_SUMMARY[flag][len(names) > 1]}"
