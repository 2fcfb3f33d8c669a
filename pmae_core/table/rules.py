"""What the values of a column may be: limits, whole numbers, a formula, levels in order."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.storage.json_values import from_json_value, is_json_value, to_json_value
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.levels import Levels, levels_of, unknown_levels
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.roles import Role
from pmae_core.words import cell_text, count, listed


@dataclass(frozen=True)
class ColumnRules:
    """What is declared about the values of a column; None where nothing is.

    Observed cells are never changed. Without rules, an imputed number lies in the observed range
    and is whole if all observed ones are.

    Parameters
    ----------
    lower, upper
        The lowest and the highest number that may be imputed. Limits narrow the observed range;
        they do not widen it.
    whole
        True rounds imputed numbers to whole ones, False does not, even if all observed are whole.
    derived
        The column is computed from others by this expression, such as ``weight / height**2``.
    levels
        The values of an ordinal column, from the lowest to the highest; other roles do not use
        them.

    Examples
    --------
    >>> rules = ColumnRules.read({"lower": 0, "upper": 120, "whole": True}, name="age")
    >>> rules.limits_text, rules.to_dict()
    ('0 to 120', {'lower': 0.0, 'upper': 120.0, 'whole': True})
    """

    lower: float | None = None
    upper: float | None = None
    whole: bool | None = None
    derived: str | None = None
    levels: Levels | None = None

    @classmethod
    def read(cls, data: ColumnRules | Mapping[str, Any], name: Hashable) -> ColumnRules:
        """Return the rules that a mapping declares for a column, or raise a SchemaError."""
        content = data.to_dict() if isinstance(data, ColumnRules) else data
        known = [field.name for field in fields(cls)]
        if not isinstance(content, Mapping) or not set(content) <= set(known):
            raise SchemaError(
                f"The rules of column {name!r} are {content!r}.",
                advice=f"Give a mapping with {listed(known, last='or')}.",
            )
        rules = cls(
            lower=_read_limit(content.get("lower"), "lower", name),
            upper=_read_limit(content.get("upper"), "upper", name),
            whole=_read_whole(content.get("whole"), name),
            derived=_read_text(content.get("derived"), name),
            levels=_read_levels(content.get("levels"), name),
        )
        if rules.lower is not None and rules.upper is not None and rules.lower > rules.upper:
            raise SchemaError(
                f"The lower limit {cell_text(rules.lower)} of column {name!r} is above its upper "
                f"limit {cell_text(rules.upper)}.",
                advice="Exchange them.",
            )
        return rules

    def __bool__(self) -> bool:
        return self != NO_RULES

    @property
    def restricts(self) -> bool:
        """Whether limits or whole numbers are declared."""
        return (self.lower, self.upper, self.whole) != (None, None, None)

    @property
    def limits_text(self) -> str:
        """The limits in words; empty without limits."""
        if self.lower is None:
            return "" if self.upper is None else f"at most {cell_text(self.upper)}"
        if self.upper is None:
            return f"at least {cell_text(self.lower)}"
        return f"{cell_text(self.lower)} to {cell_text(self.upper)}"

    def applied_to(self, cells: NumberCells) -> NumberCells:
        """Return how numbers are written in a column with these rules."""
        cells = replace(cells, lower=self.lower, upper=self.upper)
        if self.whole is False:
            # No decimals were observed, so none say how many an imputed number should have.
            return replace(cells, integer=False, decimals=cells.decimals or None)
        return replace(cells, integer=self.whole or cells.integer)

    def to_dict(self) -> dict[str, Any]:
        """Return what is declared as JSON-able data."""
        declared = {key: value for key, value in asdict(self).items() if value is not None}
        if self.levels is not None:
            declared["levels"] = [to_json_value(level) for level in self.levels]
        return declared


NO_RULES = ColumnRules()


def check_rules(series: pd.Series, role: Role, rules: ColumnRules) -> None:
    """Raise a SchemaError if the rules of a column cannot hold in it.

    Those of an ordinal column without declared levels hold if its cells show their order.
    """
    if role is Role.ORDINAL or rules.levels is not None:
        levels_of(series, rules.levels)
    if role is Role.ORDINAL and rules.derived is not None:
        raise SchemaError(
            f"Column {series.name!r} is computed from others: its values are numbers, not levels.",
            advice="Remove its expression, or give it the role numerical.",
        )
    if not rules.restricts:
        return
    if role is not Role.NUMERICAL or cell_kind(series) not in (CellKind.NUMBER, CellKind.LABEL):
        raise SchemaError(
            f"Limits and whole numbers are for numbers, but column {series.name!r} "
            f"{'holds durations' if role is Role.NUMERICAL else f'has the role {role.value}'}.",
            advice="Remove its limits, or give it the role numerical.",
        )
    if rules.whole is False and series.dtype.kind in "iu":
        raise SchemaError(
            f"Column {series.name!r} ({series.dtype}) can hold whole numbers only.",
            advice="Convert it with astype(float), or let its numbers be whole.",
        )
    cells = rules.applied_to(NumberCells.fit(series))
    low, high = cells.bounds
    if low > high:
        raise SchemaError(
            f"No whole number lies within the limits of column {series.name!r} "
            f"({rules.limits_text}).",
            advice="Widen them, or allow numbers that are not whole.",
        )


def level_findings(series: pd.Series, rules: ColumnRules) -> list[str]:
    """Return a sentence if a column holds values that are not among its declared levels.

    Examples
    --------
    >>> stages = pd.Series([1, 3, 7, 7], name="stage")
    >>> print(*level_findings(stages, ColumnRules(levels=(1, 2, 3))))
    2 values of 'stage' are not among its levels (1, 2 and 3), for example 7. They stay as they \
are, but nothing is learned or imputed from them.
    """
    if rules.levels is None or not (unknown := unknown_levels(series, rules.levels)):
        return []
    n = int(series.isin(unknown).sum())
    return [
        f"{count(n, 'value')} of {series.name!r} {'is' if n == 1 else 'are'} not among its levels "
        f"({listed(map(cell_text, rules.levels), most=10)}), for example {cell_text(unknown[0])}. "
        f"{'It stays as it is' if n == 1 else 'They stay as they are'}, but nothing is learned or "
        f"imputed from {'it' if n == 1 else 'them'}."
    ]


def rule_findings(series: pd.Series, rules: ColumnRules) -> list[str]:
    """Return a sentence for each rule of a column that observed values break.

    Examples
    --------
    >>> ages = pd.Series([31, 999, 45, -1], name="age")
    >>> print(*rule_findings(ages, ColumnRules(lower=0, upper=120)))
    2 observed values of 'age' lie outside its limits (0 to 120), for example 999. They stay as \
they are; declare them missing if they are wrong.
    """
    if not rules.restricts:
        return []
    values = NumberCells(integer=False, written_as="float").read(series)
    values = values[~np.isnan(values)]
    low = -math.inf if rules.lower is None else rules.lower
    high = math.inf if rules.upper is None else rules.upper
    broken = {
        f"outside its limits ({rules.limits_text})": (
            "lies",
            "lie",
            (values < low) | (values > high),
        ),
        "not whole": ("is", "are", (values != np.rint(values)) & (rules.whole is True)),
    }
    sentences = []
    for what, (verb, verbs, where) in broken.items():
        if where.any():
            n = int(where.sum())
            sentences.append(
                f"{count(n, 'observed value')} of {series.name!r} {verb if n == 1 else verbs} "
                f"{what}, for example {cell_text(values[where][0])}. "
                f"{'It stays as it is' if n == 1 else 'They stay as they are'}; declare "
                f"{'it missing if it is' if n == 1 else 'them missing if they are'} wrong."
            )
    return sentences


def _read_limit(value: Any, which: str, name: Hashable) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not math.isfinite(value):
        raise SchemaError(
            f"The {which} limit of column {name!r} must be a finite number, not {value!r}."
        )
    return float(value)


def _read_whole(value: Any, name: Hashable) -> bool | None:
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    raise SchemaError(f"whole must be true, false or empty for column {name!r}, not {value!r}.")


def _read_text(value: Any, name: Hashable) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise SchemaError(
            f"The expression of column {name!r} must be text such as weight / height**2, "
            f"not {value!r}."
        )
    return value.strip()


def _read_levels(value: Any, name: Hashable) -> Levels | None:
    if value is None:
        return None
    refused = SchemaError(
        f"The levels of column {name!r} must be a list of labels or numbers, not {value!r}."
    )
    if not isinstance(value, list | tuple):
        raise refused
    try:
        levels = tuple(from_json_value(level) for level in value)
    except (KeyError, TypeError, ValueError):
        raise refused from None
    if not all(map(_is_level, levels)):
        raise refused
    repeated = [level for place, level in enumerate(levels) if level in levels[:place]]
    if repeated:
        raise SchemaError(
            f"The levels of column {name!r} name {cell_text(repeated[0])} more than once.",
            advice="Name each level once, from the lowest to the highest.",
        )
    if len(levels) < 2:
        raise SchemaError(
            f"Column {name!r} needs at least two levels, not {len(levels)}.",
            advice="Name its levels from the lowest to the highest.",
        )
    return levels


def _is_level(value: Any) -> bool:
    return is_json_value(value) and not isinstance(value, tuple) and not pd.isna(value)
