"""Which values a setting may have: declared once, for its control and for links that set it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class AllowedValues(Protocol):
    """The values that a setting may have, of all that a link or a document can contain."""

    def allows(self, value: Any) -> bool:
        """Say whether the setting may have this value, whatever that is."""

    def limits(self) -> dict[str, Any]:
        """Return the arguments of a control that offers these values and no others."""


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    Examples
    --------
    >>> Choice(["MCAR", "MAR"]).allows("MAR"), Choice([1, 2]).allows(True)
    (True, False)
    """

    options: Collection[Any]

    def allows(self, value: Any) -> bool:
        """Say whether the value is one of the options; True is not 1 here."""
        return any(
            value == option and isinstance(value, bool) == isinstance(option, bool)
            for option in self.options
        )

    def limits(self) -> dict[str, Any]:
        """Return the options of a control."""
        return {"options": list(self.options)}


@dataclass(frozen=True)
class NumberWithin:
    """A number from `low` to `high`: a whole one if these are whole.

    Examples
    --------
    >>> NumberWithin(0.0, 1.0).allows(1), NumberWithin(0, 9).allows(0.5)
    (True, False)
    """

    low: float
    high: float

    def allows(self, value: Any) -> bool:
        """Say whether the value is such a number."""
        is_kind = isinstance(value, int) or not isinstance(self.low, int)
        return is_kind and is_number(value) and self.low <= value <= self.high

    def limits(self) -> dict[str, Any]:
        """Return the ends of a slider or of a box for numbers."""
        return {"min_value": self.low, "max_value": self.high}


@dataclass(frozen=True)
class TrueOrFalse:
    """On or off."""

    def allows(self, value: Any) -> bool:
        """Say whether the value is True or False."""
        return isinstance(value, bool)

    def limits(self) -> dict[str, Any]:
        """Return nothing: a switch has no limits."""
        return {}


@dataclass(frozen=True)
class AnyText:
    """A short text, such as the name of a column; its control knows which ones there are."""

    longest: int = 1_000

    def allows(self, value: Any) -> bool:
        """Say whether the value is a text that can be shown."""
        return isinstance(value, str) and len(value) <= self.longest and _is_encodable(value)

    def limits(self) -> dict[str, Any]:
        """Return nothing: the options depend on the table."""
        return {}


def usable(values: Mapping[str, Any], allowed: Mapping[str, AllowedValues]) -> dict[str, Any]:
    """Return those of some values by name that are declared and allowed.

    Examples
    --------
    >>> usable({"seed": 10**400, "on": True, "other": 1}, {"seed": NumberWithin(0, 9)})
    {}
    """
    known = ((name, value) for name, value in values.items() if name in allowed)
    return {name: value for name, value in known if allowed[name].allows(value)}


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number that fits into a float; True and False are none.

    Examples
    --------
    >>> [is_number(value) for value in (1, 0.5, True, "1", float("nan"), 10**400)]
    [True, True, False, False, False, False]
    """
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which JSON can contain
        return False
    return True
