"""The levels of an ordinal column: declared, or in the order that its cells themselves show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.words import cell_text, count, listed

MOST_LEVELS = 100
"""More different values than this are amounts or names, not levels."""

Levels = tuple[Any, ...]

# The place of each name on each scale; a level may have several names.
_SCALES: tuple[dict[str | None, float], ...] = tuple(
    {
        name: float(place)
        for place, level in enumerate(scale.split(" < "))
        for name in level.split("|")
    }
    for scale in (
        "none < very low < low < medium|moderate|middle|average < high < very high",
        "never < rarely|seldom < sometimes|occasionally < often|frequently < always",
        "strongly disagree < disagree < neutral|neither|neither agree nor disagree|undecided"
        " < agree < strongly agree",
        "very dissatisfied < dissatisfied < neutral|neither|neither satisfied nor dissatisfied"
        " < satisfied < very satisfied",
        "none|absent < mild < moderate < severe < very severe",
        "extra small|very small < small < medium < large < extra large|very large",
        "very poor < poor < fair < good < very good < excellent",
        "none < primary < secondary < tertiary",
    )
)
_BETWEEN_WORDS = re.compile(r"[\s_-]+")
# The number of "1 - agree", "2nd" and "18-25".
_LEADING_NUMBER = re.compile(r"\s*(\d+)")


def levels_of(series: pd.Series, declared: Sequence[Any] | None = None) -> Levels:
    """Return the levels of an ordinal column, from the lowest to the highest.

    Parameters
    ----------
    series
        The column.
    declared
        Its levels in order, if somebody declared them. Text that spells numbers stands for these
        numbers in a column of numbers.

    Returns
    -------
    tuple
        The declared levels. Without them, numbers are ordered by value, categories of an ordered
        pandas dtype as they are there, words of a known scale such as low, medium and high by that
        scale, and labels that begin with different numbers by these.

    Raises
    ------
    SchemaError
        If the order of the values is not known, if the column holds values that are not among its
        declared levels, or if it cannot have levels at all.

    Examples
    --------
    >>> levels_of(pd.Series(["high", None, "low", "medium"]))
    ('low', 'medium', 'high')
    >>> levels_of(pd.Series(["BSc", "MSc"]), declared=["BSc", "MSc", "PhD"])
    ('BSc', 'MSc', 'PhD')
    """
    check_can_have_levels(series)
    if declared is not None:
        return _declared_levels(series, declared)
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        return tuple(series.dtype.categories.tolist())
    values = series.dropna().unique().tolist()
    if len(values) > MOST_LEVELS:
        raise SchemaError(
            f"Column {series.name!r} has {len(values):,} different values, but an ordinal column "
            f"has at most {MOST_LEVELS} levels.",
            advice="Give it the role numerical or categorical.",
        )
    for number_of in (_number, _leading_number):
        if (found := _sorted_by(values, list(map(number_of, values)))) is not None:
            return found
    if (found := known_scale(values)) is not None:
        return found
    if len(values) < 2:
        return tuple(values)
    raise SchemaError(
        f"The order of the values of column {series.name!r} is not known: "
        f"{listed(map(cell_text, values), most=5)}.",
        advice="Declare its levels from the lowest to the highest, or give it the role "
        "categorical.",
    )


def known_scale(labels: Iterable[Any]) -> Levels | None:
    """Return labels in the order of a known scale; None if they are not all on one.

    Examples
    --------
    >>> known_scale(["often", "Never", "sometimes"])
    ('Never', 'sometimes', 'often')
    >>> known_scale(["red", "green"])
    """
    labels = list(labels)
    orders = (
        _sorted_by(labels, [scale.get(_normal(label)) for label in labels]) for scale in _SCALES
    )
    return next((order for order in orders if order is not None and len(order) > 1), None)


def unknown_levels(series: pd.Series, levels: Sequence[Any]) -> list[Any]:
    """Return the different observed values of a column that are not among its levels."""
    known = set(levels)
    return [value for value in series.dropna().unique().tolist() if value not in known]


def check_can_have_levels(series: pd.Series) -> None:
    """Raise a SchemaError if the cells of a column are of a kind that has no levels."""
    kind = cell_kind(series)
    if kind in (CellKind.DATETIME, CellKind.DURATION):
        raise SchemaError(
            f"Column {series.name!r} holds {kind.value}s, not levels.",
            advice=f"Give it the role {'datetime' if kind is CellKind.DATETIME else 'numerical'}.",
        )
    if kind is CellKind.OTHER:
        raise SchemaError(
            f"Column {series.name!r} ({series.dtype}) holds values that cannot be levels.",
            advice="Turn them into text or numbers, or give the column the role ignored.",
        )


def _declared_levels(series: pd.Series, declared: Sequence[Any]) -> Levels:
    if cell_kind(series) is CellKind.NUMBER:
        declared = [_as_number(level) for level in declared]
    # A level that is observed is written as it is observed: Decimal("1.50"), not 1.5.
    observed = {value: value for value in series.dropna().unique().tolist()}
    levels = tuple(observed.get(level, level) for level in declared)
    unknown = unknown_levels(series, levels)
    if unknown:
        raise SchemaError(
            f"Column {series.name!r} holds {count(len(unknown), 'value')} not among its levels: "
            f"{listed(map(cell_text, unknown), most=5)}.",
            advice="Add what is left out to the levels, or declare it missing.",
        )
    return levels


def _as_number(level: Any) -> Any:
    """Return the number that text spells; anything else as it is."""
    number = _number(level) if isinstance(level, str) else None
    if number is None:
        return level
    return int(number) if number.is_integer() else number


def _sorted_by(values: Sequence[Any], places: Sequence[float | None]) -> Levels | None:
    """Return values in the order of their places; None if one has none or two share one."""
    value_at = {
        place: value for place, value in zip(places, values, strict=True) if place is not None
    }
    if not values or len(value_at) < len(values):
        return None
    return tuple(value_at[place] for place in sorted(value_at))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def _leading_number(value: Any) -> float | None:
    found = _LEADING_NUMBER.match(value) if isinstance(value, str) else None
    return float(found[1]) if found else None


def _normal(label: Any) -> str | None:
    return _BETWEEN_WORDS.sub(" ", label).strip().casefold() if isinstance(label, str) else None
