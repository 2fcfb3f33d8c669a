"""Everything that JSON can contain, also what no page of ours ever writes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as some

HUGE = [10**400, -(10**400), 2**53, 1e308, float("nan"), float("inf")]
TEXTS = ["", "x", "1", "\x00", "\ud800", "é", "x" * 5000, "<b>", "`*_[a](b)"]


def json_values() -> some.SearchStrategy[Any]:
    """Return values of all kinds: huge numbers, broken text, lists and objects in each other."""
    names = some.sampled_from(TEXTS)
    numbers = some.integers() | some.floats() | some.sampled_from(HUGE)
    return some.recursive(
        some.none() | some.booleans() | numbers | names,
        lambda parts: some.lists(parts, max_size=2) | some.dictionaries(names, parts, max_size=2),
        max_leaves=4,
    )
