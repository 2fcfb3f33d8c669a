"""The order of the levels of a column, as text that users edit: ``low < medium < high``."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.state.table_state import OpenTable
from pmae_core.errors import SchemaError
from pmae_core.table import Role
from pmae_core.table.levels import levels_of
from pmae_core.words import exact_text

FEWEST, MOST = 3, 30
SEPARATOR = " < "


def columns_with_levels(table: OpenTable) -> list[str]:
    """Return the columns that may have levels in order, those that have some first."""
    found = [
        column
        for column in table.schema
        if column.role is Role.ORDINAL
        or (column.role is Role.CATEGORICAL and FEWEST <= column.n_unique <= MOST)
    ]
    return [str(c.name) for c in sorted(found, key=lambda c: c.role is not Role.ORDINAL)]


def order_of(table: OpenTable, column: str) -> tuple[str, bool]:
    """Return the values of a column in order, as text, and whether that order is known.

    It is known if it was declared, or if the values are numbers or of a known scale. Otherwise the
    values are in the order of the alphabet.
    """
    cells = table.frame[column]
    try:
        levels: Sequence[object] = levels_of(cells, table.schema[column].rules.levels)
    except SchemaError:
        return SEPARATOR.join(sorted(map(exact_text, cells.dropna().unique()))), False
    return SEPARATOR.join(map(exact_text, levels)), True


def read_order(text: str) -> list[str]:
    """Return the levels of a text, from the lowest to the highest.

    Raises
    ------
    SchemaError
        If there are fewer than two.

    Examples
    --------
    >>> read_order("low <medium< high")
    ['low', 'medium', 'high']
    """
    levels = [part.strip() for part in text.split("<")]
    if len(levels) < 2 or not all(levels):
        raise SchemaError("Write the levels from the lowest to the highest: low < medium < high.")
    return levels
