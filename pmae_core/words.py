"""Counts, shares, durations, moments, cells, names and lists as readers want to see them.

The library, the command line and the pages all write them through here, so that the same thing
reads the same everywhere.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterable
from datetime import datetime, tzinfo
from typing import Any

_BLANKS = re.compile(r"\s+")
_ELLIPSIS = "…"
# From here on, whole numbers are not all apart as floats.
_EXACT_BELOW = 2**53
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


def decimals(number: float, places: int = 2) -> str:
    """Return a number with a true minus, and without one if it is rounded to zero.

    Examples
    --------
    >>> decimals(-0.517), decimals(0.7), decimals(-0.001)
    ('−0.52', '0.70', '0.00')
    """
    return f"{number:z.{places}f}".replace("-", "−")


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
    return " ".join(_amount(number, unit) for number, unit in leading)


def time_left(seconds: float) -> str:
    """Return a forecast of the time that is left.

    Examples
    --------
    >>> time_left(0.2), time_left(86)
    ('less than 1 s left', 'about 1 min 26 s left')
    """
    text = f"{duration(seconds)} left"
    return text if text.startswith("less") else f"about {text}"


def duration_range(low: float, high: float) -> str:
    """Return a span of time whose length is not certain, in round numbers that contain it.

    Examples
    --------
    >>> duration_range(61, 235), duration_range(50, 8000), duration_range(0.2, 3.5)
    ('1 to 4 min', '50 s to 3 h', 'up to 4 s')
    >>> duration_range(20, 95), duration_range(0.1, 0.2), duration_range(60, 60)
    ('20 s to 1 min 35 s', 'less than 1 s', '1 min')
    """
    if duration(low) == duration(high):
        return duration(low)
    least, unit = _in_largest_unit(low, math.floor)
    most, last_unit = _in_largest_unit(high, math.ceil)
    if least == 0:
        return f"up to {duration(high)}"
    if most <= 2:  # too few of its units to be rounded to them
        return f"{duration(low)} to {duration(high)}"
    start = str(least) if unit == last_unit else _amount(least, unit)
    return f"{start} to {_amount(most, last_unit)}"


def expected_duration(seconds: float, low: float, high: float) -> str:
    """Return an estimate of a time: one number if it is good to a factor of 2, else the range.

    Examples
    --------
    >>> expected_duration(60, 40, 100), expected_duration(60, 20, 230), expected_duration(0, 0, 0)
    ('about 1 min', '20 s to 4 min', 'less than 1 s')
    """
    is_good = high <= 2 * seconds and seconds <= 2 * low
    text = duration(seconds) if is_good else duration_range(low, high)
    return f"about {text}" if is_good and seconds >= 1 else text


def _in_largest_unit(seconds: float, how: Callable[[float], int]) -> tuple[int, str]:
    """Return a time in the largest unit of which it has at least one."""
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    return how(seconds / size), unit


def _amount(number: int, unit: str) -> str:
    return count(number, unit) if unit == "day" else f"{number} {unit}"


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


def exact_text(cell: Any) -> str:
    """Return a cell with all its digits, such as a category that stands for itself.

    Codes of a column with missing values are stored as 1.0 and 2.0, but people wrote 1 and 2. A
    date without a time of day is only a date.

    Examples
    --------
    >>> exact_text(datetime(2024, 2, 29)), exact_text(2.0), exact_text(1.5), exact_text("?")
    ('2024-02-29', '2', '1.5', '?')
    """
    if isinstance(cell, datetime):
        return str(cell).removesuffix(" 00:00:00")
    is_float = isinstance(cell, numbers.Real) and not isinstance(cell, numbers.Integral)
    if is_float and abs(cell) < _EXACT_BELOW and float(cell).is_integer():
        return str(int(cell))
    return str(cell)


def shorten(text: object, longest: int) -> str:
    """Return the text in one line, its middle left out when it is too long.

    Examples
    --------
    >>> shorten("average_arterial_pressure", 11)
    'avera…ssure'
    """
    line = _BLANKS.sub(" ", str(text)).strip()
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2
    return line[: longest - 1 - end] + _ELLIPSIS + line[len(line) - end :]


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
