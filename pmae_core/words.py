"""Cells, shares and lists in words, the same in every sentence."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import pandas as pd


def in_words(value: Any) -> str:
    """Return a cell as a reader wants to see it.

    Examples
    --------
    >>> in_words(0.1 + 0.2), in_words(3.0), in_words(pd.Timestamp("2024-02-29")), in_words(None)
    ('0.3', '3', '2024-02-29', 'missing')
    """
    if pd.isna(value):
        return "missing"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        return f"{number:.5g}" if abs(number) < 1e5 or math.isinf(number) else f"{number:,.0f}"
    if isinstance(value, pd.Timestamp) and value == value.normalize():
        return str(value.date())
    return str(value)


def percent(share: float) -> str:
    """Return a share as per cent, never rounded to nothing or to all.

    Examples
    --------
    >>> percent(0.153), percent(0.0004), percent(0.9999), percent(1.0)
    ('15 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def listed(names: Iterable[Any], most: int = 5, last: str = "and") -> str:
    """Return names as a list in words, shortened where there are many.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"]), listed("abcd", most=2)
    ('a, b and c', 'a', 'a, b and 2 more')
    """
    words = [in_words(name) for name in names]
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most:,} more"]
        last = "and"
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
