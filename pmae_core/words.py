"""Counts, shares, durations, moments, cells and lists as readers want to see them.

The library, the command line and the pages all write them through here, so that the same thing
reads the same everywhere.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any

_UNITS = (("day", 86400), ("h", 3600), ("min", 60), ("s", 1))


def count(number: int, noun: str = "", plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1234, "row"), count(1, "row"), count(1234), count(2, "is", "are")
    ('1,234 rows', '1 row', '1,234', '2 are')
    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """Return a share in percent: never 0% for something, never 100% for not quite all.

    Examples
    --------
    >>> [percent(share) for share in (0.2553, 0.25, 0.0002, 0.9999, 1)]
    ['25.5%', '25%', 'less than 0.1%', 'more than 99.9%', '100%']
    """
    if math.isnan(share):
        return "–"
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 < share < 1:
        return "more than 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def duration(seconds: float | None) -> str:
    """Return a span of time in the two units that matter; nothing for an unknown one.

    Examples
    --------
    >>> duration(0.3), duration(41.6), duration(200), duration(7500), duration(273_600)
    ('less than 1 s', '42 s', '3 min 20 s', '2 h 5 min', '3 days 4 h')
    """
    if seconds is None or math.isnan(seconds):
        return ""
    if seconds < 0.95:
        return "less than 1 s"
    rest = max(1, round(seconds))
    parts: list[tuple[int, str]] = []
    for unit, size in _UNITS:
        number, rest = divmod(rest, size)
        if number or parts:
            parts.append((number, unit))
    leading = [(number, unit) for number, unit in parts[:2] if number]
    return " ".join(
        count(number, unit) if unit == "day" else f"{number} {unit}" for number, unit in leading
    )


def moment(timestamp: float, form: str = "%Y-%m-%d %H:%M:%S", zone: tzinfo | None = None) -> str:
    """Return a time stamp as a clock shows it, in the local time zone unless another is named.

    Examples
    --------
    >>> from datetime import timezone
    >>> moment(0, zone=timezone.utc)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(timestamp, zone).strftime(form)


def cell_text(value: Any) -> str:
    """Return a cell as a reader wants to see it.

    Examples
    --------
    >>> import pandas as pd
    >>> cell_text(0.1 + 0.2), cell_text(3.0), cell_text(pd.Timestamp("2024-02-29")), cell_text(None)
    ('0.3', '3', '2024-02-29', 'missing')
    """
    import pandas as pd  # slow to import, and the other words need none of it

    if pd.isna(value):
        return "missing"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        return f"{number:.5g}" if abs(number) < 1e5 or math.isinf(number) else f"{number:,.0f}"
    if isinstance(value, pd.Timestamp) and value == value.normalize():
        return str(value.date())
    return str(value)


def listed(names: Iterable[Any], most: int = 5, last: str = "and") -> str:
    """Return names as a list in words, shortened where there are many.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"]), listed("abcd", most=2)
    ('a, b and c', 'a', 'a, b and 2 more')
    """
    words = [cell_text(name) for name in names]
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most:,} more"]
        last = "and"
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
