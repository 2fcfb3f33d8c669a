"""What a table is like, in words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard.state.table_state import OpenTable
from dashboard.text import code, listing
from pmae_core.table import ColumnSchema, Flag, Role
from pmae_core.words import count, percent

ALMOST_EMPTY = 0.1  # at most so much is observed
FEW_ROWS = 20

MEANING_OF_ROLE = {
    Role.NUMERICAL: "amounts and measurements",
    Role.CATEGORICAL: "labels such as towns, and codes",
    Role.ORDINAL: "levels in order, such as low, medium and high",
    Role.BOOLEAN: "yes and no",
    Role.DATETIME: "points in time",
    Role.IDENTIFIER: "names its row; not learned",
    Role.IGNORED: "left alone; not learned",
}


def answer(table: OpenTable) -> str:
    """Return the size of the table, how much of it is missing and where most, as Markdown.

    Examples: "**418 rows and 20 columns; 1,033 cells (12.4%) are missing.** 12 of 20 columns have
    missing values, `trig` the most (32.5%)."
    """
    n_rows, n_columns = table.frame.shape
    size = f"{count(n_rows, 'row')} and {count(n_columns, 'column')}"
    n_missing = sum(c.n_rows - c.n_observed for c in table.schema)
    if not n_missing:
        return f"**{size}; nothing is missing.**"
    be = "is" if n_missing == 1 else "are"
    share = percent(n_missing / table.frame.size)
    return f"**{size}; {count(n_missing, 'cell')} ({share}) {be} missing.** {_where_missing(table)}"


def _where_missing(table: OpenTable) -> str:
    columns = list(table.schema)
    incomplete = [c for c in columns if c.n_observed < c.n_rows]
    if len(incomplete) == len(columns) > 1:
        sentence = f"All {count(len(columns), 'column')} have missing values"
    else:
        have = "has" if len(incomplete) == 1 else "have"
        sentence = f"{len(incomplete):,} of {count(len(columns), 'column')} {have} missing values"
    worst = min(incomplete, key=lambda c: c.n_observed / c.n_rows)
    share = percent(1 - worst.n_observed / worst.n_rows)
    if len(incomplete) == 1:
        return f"{sentence}: {code(worst.name)} ({share})."
    return f"{sentence}, {code(worst.name)} the most ({share})."


def remarkable_columns(table: OpenTable) -> str:
    """Return which columns deserve attention, as a sentence in Markdown; empty if none does.

    Examples: "`a` and `b` are almost empty; `id` looks like an identifier."
    """
    columns = list(table.schema)
    almost_empty = [c.name for c in columns if _is_almost_empty(c)]
    parts = [_said(almost_empty, ("is almost empty", "are almost empty"))]
    parts += [
        _said([c.name for c in columns if flag in _told_flags(c)], words)
        for flag, words in _SAID_IN_SUMMARY.items()
    ]
    sentence = "; ".join(filter(None, parts))
    return f"{sentence}." if sentence else ""


def cautions(table: OpenTable) -> list[str]:
    """Return what to know or to do before going on, each a sentence in Markdown."""
    columns = list(table.schema)
    found = []
    if len(columns) == 1:
        found.append(
            "There is only one column. A missing cell is imputed from the other cells of its row, "
            "so open a table with more columns. If the file uses an unusual separator, choose it "
            'under "Read the file in another way".'
        )
    elif not table.schema.learned():
        found.append(
            "There is no column to learn from: each is empty, constant, an identifier or ignored. "
            "Change a role below, or open another table."
        )
    if len(table.frame) < FEW_ROWS:
        found.append(
            f"{count(len(table.frame), 'row')} can be explored, but a method can hardly learn "
            f"from fewer than {FEW_ROWS}."
        )
    infinite = infinite_columns(table.frame)
    if infinite:
        found.append(
            f"{listing(infinite)} {'holds' if len(infinite) == 1 else 'hold'} infinite numbers. "
            "Nothing is learned from these cells; declare them missing if that is what they mean."
        )
    return found


def remarks(column: ColumnSchema) -> str:
    """Return what is remarkable about a column, in plain words; empty if nothing is."""
    words = [_REMARKS[flag] for flag in _told_flags(column)]
    if _is_almost_empty(column):
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


def _told_flags(column: ColumnSchema) -> list[Flag]:
    """Return what is remarkable; that an identifier has many labels is not."""
    plain_for_identifiers = Flag.HIGH_CARDINALITY if Flag.IDENTIFIER in column.flags else None
    return [flag for flag in column.flags if flag is not plain_for_identifiers]


def _is_almost_empty(column: ColumnSchema) -> bool:
    return 0 < column.n_observed <= ALMOST_EMPTY * column.n_rows


def _said(names: Sequence[object], words: tuple[str, str]) -> str:
    """Return "`a` and `b` are empty"; nothing if there are no names."""
    return f"{listing(names, most=3)} {words[len(names) > 1]}" if names else ""


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
    Flag.HIGH_CARDINALITY: ("has more than 100 labels", "have more than 100 labels"),
    Flag.MIXED_TYPES: ("mixes types of cells", "mix types of cells"),
}
