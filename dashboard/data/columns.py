"""The tables of the Data page that users edit: roles and rules of columns, values for missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dashboard.data.summary import remarks
from dashboard.state.table_state import OpenTable
from dashboard.text import exact_text, shorten
from pmae_core.table import SentinelSuggestion, declare_missing, suggest_sentinels
from pmae_core.table.cells import CellKind, cell_kind

COLUMN, ROLE, OBSERVED = "Column", "Role", "Observed"
REMARKS, DIFFERENT, EXAMPLES = "Remarks", "Different values", "Examples"
LOWER, UPPER, WHOLE, DERIVED = "Lower limit", "Upper limit", "Whole numbers", "Computed as"
WHOLE_CHOICES = {"as observed": None, "yes": True, "no": False}
MISSING, VALUE, CELLS, WHY = "Missing", "Value", "Cells", "Why"
SUGGESTION_ROWS = 100_000
BY_HAND = "You declared it."

_EXAMPLE_ROWS = 1_000
_MOST_EXAMPLES = 3
_LONGEST_EXAMPLE = 24

Sentinels = Mapping[str, Sequence[Any]]


def role_table(table: OpenTable) -> pd.DataFrame:
    """Return one row a column: its role, how much is observed, examples and remarks."""
    return pd.DataFrame(
        {
            COLUMN: [str(c.name) for c in table.schema],
            ROLE: [c.role.value for c in table.schema],
            OBSERVED: [100 * c.n_observed / c.n_rows for c in table.schema],
            REMARKS: [remarks(c) for c in table.schema],
            DIFFERENT: [c.n_unique for c in table.schema],
            EXAMPLES: [examples(table.frame[c.name]) for c in table.schema],
        }
    )


def examples(column: pd.Series) -> str:
    """Return some different values of a column, as text."""
    texts = column.head(_EXAMPLE_ROWS).dropna().map(exact_text).unique()
    shown = [shorten(text, _LONGEST_EXAMPLE) for text in texts[:_MOST_EXAMPLES]]
    return ", ".join(shown) + (", …" if len(texts) > _MOST_EXAMPLES else "")


def whole_days(frame: pd.DataFrame) -> list[str]:
    """Return the columns of dates without a time of day."""
    dates = frame.select_dtypes(include=["datetime", "datetimetz"])
    return [
        name
        for name, cells in dates.items()
        if (cells.dropna() == cells.dropna().dt.normalize()).all()
    ]


def changed_roles(
    shown: pd.DataFrame, edits: Mapping[int, Mapping[str, Any]], current: Mapping[str, str]
) -> dict[str, str]:
    """Return the roles that an editor's edits change, by column."""
    chosen = {
        shown[COLUMN].iloc[int(row)]: cells[ROLE]
        for row, cells in edits.items()
        if cells.get(ROLE) is not None
    }
    return {name: role for name, role in chosen.items() if current[name] != role}


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


def changed_rules(
    shown: pd.DataFrame,
    edits: Mapping[int, Mapping[str, Any]],
    current: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Return the rules of the columns that an editor's edits change.

    Parameters
    ----------
    shown
        The table as `rule_table` made it.
    edits
        By row, the cells that were edited.
    current
        The rules that columns have now.
    """
    keys = {LOWER: "lower", UPPER: "upper", WHOLE: "whole", DERIVED: "derived"}
    changed = {}
    for row, cells in edits.items():
        name = shown[COLUMN].iloc[int(row)]
        edited = {keys[label]: _rule(label, value) for label, value in cells.items()}
        rules = {**current.get(name, {}), **edited}
        declared = {key: value for key, value in rules.items() if value is not None}
        if declared != dict(current.get(name, {})):
            changed[name] = declared
    return changed


def _rule(label: str, value: Any) -> Any:
    if label == WHOLE:
        return WHOLE_CHOICES.get(value)
    return value.strip() or None if isinstance(value, str) else value


def find_suggestions(frame: pd.DataFrame) -> list[SentinelSuggestion]:
    """Suggest values that stand for missing ones; in a long table from a sample of its rows.

    The cells are counted in all rows.
    """
    if len(frame) <= SUGGESTION_ROWS:
        return suggest_sentinels(frame)
    found = suggest_sentinels(frame.sample(SUGGESTION_ROWS, random_state=0))
    return [replace(s, count=_count(frame, s.column, s.value)) for s in found]


def sentinel_table(
    raw: pd.DataFrame, declared: Sentinels, suggestions: Iterable[SentinelSuggestion]
) -> pd.DataFrame:
    """Return what is declared missing and what may be, one row a column and value."""
    rows = [
        (True, column, value, _count(raw, column, value), BY_HAND)
        for column, values in declared.items()
        for value in values
    ]
    known = {(column, _spelling(value)): place for place, (_, column, value, *_) in enumerate(rows)}
    for suggestion in suggestions:
        key = (suggestion.column, _spelling(suggestion.value))
        if key in known:
            rows[known[key]] = (*rows[known[key]][:4], suggestion.reason)
        else:
            known[key] = len(rows)
            rows.append(
                (False, suggestion.column, suggestion.value, suggestion.count, suggestion.reason)
            )
    return pd.DataFrame(rows, columns=[MISSING, COLUMN, VALUE, CELLS, WHY])


def with_edits(
    declared: Sentinels, shown: pd.DataFrame, edits: Mapping[int, Mapping[str, Any]]
) -> dict[str, list[Any]]:
    """Return what is declared after an editor's ticks."""
    result = {column: list(values) for column, values in declared.items()}
    for row, cells in edits.items():
        if MISSING not in cells:
            continue
        column, value = shown[COLUMN].iloc[int(row)], shown[VALUE].iloc[int(row)]
        if cells[MISSING]:
            result = with_value(result, [column], value)
        else:
            kept = [v for v in result.get(column, []) if _spelling(v) != _spelling(value)]
            result[column] = kept
    return result


def edits_in_words(shown: pd.DataFrame, edits: Mapping[int, Mapping[str, Any]]) -> str:
    """Return what an editor's ticks do, for undo."""
    words = {True: "declare {} in {} missing", False: "let {} in {} count again"}
    return ", ".join(
        words[bool(cells[MISSING])].format(
            exact_text(shown[VALUE].iloc[int(row)]), shown[COLUMN].iloc[int(row)]
        )
        for row, cells in edits.items()
        if MISSING in cells
    )


def with_value(declared: Sentinels, columns: Iterable[str], value: Any) -> dict[str, list[Any]]:
    """Return what is declared with one more value in some columns."""
    result = {column: list(values) for column, values in declared.items()}
    for column in columns:
        values = result.setdefault(column, [])
        if _spelling(value) not in map(_spelling, values):
            values.append(value)
    return result


def columns_with(frame: pd.DataFrame, columns: Iterable[str], value: Any) -> list[str]:
    """Return those of the columns in which some cell holds a value."""
    return [column for column in columns if _count(frame, column, value)]


def _count(frame: pd.DataFrame, column: str, value: Any) -> int:
    cells = frame[[column]]
    without = declare_missing(cells, {column: [value]})
    return int(without[column].isna().sum() - cells[column].isna().sum())


def _spelling(value: Any) -> str:
    """Return a value as users see it: -999 and "-999" are one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
