"""What users change in the tables of the Data page: one edit that is refused stops no other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.data.columns import (
    COLUMN,
    DERIVED,
    LOWER,
    MISSING,
    ROLE,
    UPPER,
    VALUE,
    WHOLE,
    WHOLE_CHOICES,
    spelling,
)
from pmae_core.errors import SchemaError

Edits = Mapping[int, Mapping[str, Any]]
Sentinels = Mapping[str, Sequence[Any]]


def keep_each(keep: Callable[[Mapping[str, Any]], object], changes: Mapping[str, Any]) -> list[str]:
    """Keep changes by column, and return why some are refused.

    An editor sends quick edits together, and a role that does not fit its column must not take
    the others with it.

    Parameters
    ----------
    keep
        What keeps changes, all of them or none: `Workspace.set_roles` or `Workspace.set_rules`.
    changes
        What changes, by column.
    """
    if not changes:
        return []
    try:
        keep(changes)
    except SchemaError as error:
        if len(changes) == 1:
            return [str(error)]
        return [
            reason for name, change in changes.items() for reason in keep_each(keep, {name: change})
        ]
    return []


def with_reversals(shown: pd.DataFrame, now: Edits, before: Edits) -> Edits:
    """Return the edits with those that were reversed.

    An editor does not send a cell that has its first value again.

    Parameters
    ----------
    shown
        The table that the editor was given.
    now, before
        What the editor sends, and what it sent the last time.
    """
    complete = {row: dict(cells) for row, cells in now.items()}
    for row, cells in before.items():
        for label in cells:
            first = shown[label].iloc[int(row)]
            complete.setdefault(row, {}).setdefault(label, None if pd.isna(first) else first)
    return complete


def changed_roles(shown: pd.DataFrame, edits: Edits, current: Mapping[str, str]) -> dict[str, str]:
    """Return the roles that an editor's edits change, by column."""
    chosen = {
        shown[COLUMN].iloc[int(row)]: cells[ROLE]
        for row, cells in edits.items()
        if cells.get(ROLE) is not None
    }
    return {name: role for name, role in chosen.items() if current[name] != role}


def changed_rules(
    shown: pd.DataFrame, edits: Edits, current: Mapping[str, Mapping[str, Any]]
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


# Values that mean missing


def changed_ticks(
    shown: pd.DataFrame, edits: Edits, declared: Sentinels
) -> list[tuple[str, Any, bool]]:
    """Return the values whose tick an editor's edits change: column, value, and if it is missing.

    An editor sends all its edits each time, also those that were kept before.
    """
    ticks = [
        (shown[COLUMN].iloc[int(row)], shown[VALUE].iloc[int(row)], bool(cells[MISSING]))
        for row, cells in edits.items()
        if MISSING in cells
    ]
    return [tick for tick in ticks if tick[2] != _is_declared(declared, *tick[:2])]


def with_ticks(declared: Sentinels, ticks: Sequence[tuple[str, Any, bool]]) -> dict[str, list[Any]]:
    """Return what is declared missing after some ticks."""
    result = {column: list(values) for column, values in declared.items()}
    for column, value, missing in ticks:
        if missing:
            result = with_value(result, [column], value)
        else:
            kept = [v for v in result.get(column, []) if spelling(v) != spelling(value)]
            result[column] = kept
    return result


def ticks_in_words(ticks: Sequence[tuple[str, Any, bool]]) -> str:
    """Return what ticks do, for undo."""
    words = {True: "declare {} in {} missing", False: "stop treating {} in {} as missing"}
    return ", ".join(
        words[missing].format(spelling(value), column) for column, value, missing in ticks
    )


def with_value(declared: Sentinels, columns: Sequence[str], value: Any) -> dict[str, list[Any]]:
    """Return what is declared with one more value in some columns."""
    result = {column: list(values) for column, values in declared.items()}
    for column in columns:
        if not _is_declared(result, column, value):
            result.setdefault(column, []).append(value)
    return result


def _is_declared(declared: Sentinels, column: str, value: Any) -> bool:
    return spelling(value) in map(spelling, declared.get(column, ()))
