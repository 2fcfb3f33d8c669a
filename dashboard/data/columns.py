"""The tables of the Data page that users edit: roles and rules of columns, values for missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dashboard.data.summary import remarks
from dashboard.state.table_state import OpenTable
from pmae_core.table import Schema, SentinelSuggestion, declare_missing, suggest_sentinels
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.words import exact_text, shorten

COLUMN, ROLE, OBSERVED = "Column", "Role", "Observed"
REMARKS, MEANING, DIFFERENT, EXAMPLES = "Remarks", "Meaning", "Different values", "Examples"
LOWER, UPPER, WHOLE, DERIVED = "Lower limit", "Upper limit", "Whole numbers", "Computed as"
WHOLE_CHOICES = {"as observed": None, "yes": True, "no": False}
MISSING, VALUE, CELLS, WHY = "Missing", "Value", "Cells", "Why"
SUGGESTION_ROWS = 100_000
BY_HAND = "You declared it."

_EXAMPLE_ROWS = 1_000
_MOST_EXAMPLES = 3
_LONGEST_EXAMPLE = 24
_MEASURED_ROWS = 50
# Pixels: the narrowest column has room for the name of a role.
_LETTER, _MARGIN, _NARROWEST, _WIDEST = 8, 20, 96, 260


def role_table(table: OpenTable, meanings: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return one row per column: its role, how much is observed, remarks and examples.

    Parameters
    ----------
    table
        The open table.
    meanings
        What was measured in a column, where it is known.
    """
    shown = {
        COLUMN: [str(c.name) for c in table.schema],
        ROLE: [c.role.value for c in table.schema],
        OBSERVED: [100 * c.n_observed / c.n_rows for c in table.schema],
        REMARKS: [remarks(c) for c in table.schema],
    }
    if meanings:
        shown[MEANING] = [meanings.get(name, "") for name in shown[COLUMN]]
    shown[DIFFERENT] = [c.n_unique for c in table.schema]
    shown[EXAMPLES] = [examples(table.frame[c.name]) for c in table.schema]
    return pd.DataFrame(shown)


def examples(column: pd.Series) -> str:
    """Return some different values of a column, as text."""
    texts = column.head(_EXAMPLE_ROWS).dropna().map(exact_text).unique()
    shown = [shorten(text, _LONGEST_EXAMPLE) for text in texts[:_MOST_EXAMPLES]]
    return ", ".join(shown) + (", …" if len(texts) > _MOST_EXAMPLES else "")


def under_roles(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the table with the roles of its columns in a header above their names."""
    roles = [schema.role(name).value for name in frame.columns]
    return frame.set_axis(pd.MultiIndex.from_arrays([roles, frame.columns]), axis=1)


def widths(frame: pd.DataFrame) -> dict[str, int]:
    """Return how many pixels wide to show the columns, so that names, roles and cells fit."""
    shown = frame.head(_MEASURED_ROWS)
    longest = {
        name: max([len(str(name)), *shown[name].dropna().map(exact_text).map(len)])
        for name in shown
    }
    return {
        str(name): min(max(_NARROWEST, _MARGIN + _LETTER * n), _WIDEST)
        for name, n in longest.items()
    }


def whole_days(frame: pd.DataFrame) -> list[str]:
    """Return the columns of dates without a time of day."""
    dates = frame.select_dtypes(include=["datetime", "datetimetz"])
    return [
        name
        for name, cells in dates.items()
        if (cells.dropna() == cells.dropna().dt.normalize()).all()
    ]


def rule_table(table: OpenTable) -> pd.DataFrame:
    """Return one row per column of numbers: its limits, whole numbers and expression."""
    numbers = [c for c in table.schema if cell_kind(table.frame[c.name]) is CellKind.NUMBER]
    whole = {value: word for word, value in WHOLE_CHOICES.items()}
    return pd.DataFrame(
        {
            COLUMN: [str(c.name) for c in numbers],
            LOWER: pd.array([c.rules.lower for c in numbers], dtype="Float64"),
            UPPER: pd.array([c.rules.upper for c in numbers], dtype="Float64"),
            WHOLE: [whole[c.rules.whole] for c in numbers],
            DERIVED: pd.array([c.rules.derived for c in numbers], dtype="string"),
        }
    )


def rows_to_search(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which suggestions are looked for: a sample of a long table."""
    if len(frame) <= SUGGESTION_ROWS:
        return frame
    return frame.sample(SUGGESTION_ROWS, random_state=0)


def find_suggestions(frame: pd.DataFrame) -> list[SentinelSuggestion]:
    """Suggest values that stand for missing ones; in a long table from a sample of its rows.

    The cells are counted in all rows.
    """
    found = suggest_sentinels(rows_to_search(frame))
    if len(frame) <= SUGGESTION_ROWS:
        return found
    return [replace(s, count=_count(frame, s.column, s.value)) for s in found]


def sentinel_table(
    raw: pd.DataFrame,
    declared: Mapping[str, Sequence[Any]],
    suggestions: Iterable[SentinelSuggestion],
) -> pd.DataFrame:
    """Return what is declared missing and what may be, one row per column and value."""
    rows = [
        (True, column, value, _count(raw, column, value), BY_HAND)
        for column, values in declared.items()
        for value in values
    ]
    known = {(column, spelling(value)): place for place, (_, column, value, *_) in enumerate(rows)}
    for suggestion in suggestions:
        key = (suggestion.column, spelling(suggestion.value))
        if key in known:
            rows[known[key]] = (*rows[known[key]][:4], suggestion.reason)
        else:
            known[key] = len(rows)
            rows.append(
                (False, suggestion.column, suggestion.value, suggestion.count, suggestion.reason)
            )
    return pd.DataFrame(rows, columns=[MISSING, COLUMN, VALUE, CELLS, WHY])


def columns_with(frame: pd.DataFrame, columns: Iterable[str], value: Any) -> list[str]:
    """Return those of the columns in which some cell holds a value."""
    return [column for column in columns if _count(frame, column, value)]


def spelling(value: Any) -> str:
    """Return a value as users see it: -999, -999.0 and "-999" are one."""
    return exact_text(value).strip()


def _count(frame: pd.DataFrame, column: str, value: Any) -> int:
    cells = frame[[column]]
    without = declare_missing(cells, {column: [value]})
    return int(without[column].isna().sum() - cells[column].isna().sum())
