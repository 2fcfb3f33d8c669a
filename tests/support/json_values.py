"""Everything that JSON can contain, also what no page of ours ever writes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as some


def json_values() -> some.SearchStrategy[Any]:
    """Return values of all kinds: huge numbers, broken text, lists and objects in each other."""
    huge = some.sampled_from([10**400, -(10**400), 2**53, 1e308, float("nan"), float("inf")])
    broken = some.sampled_from(["", "\x00", "\ud800", "x" * 5000, "<b>", "`*_[a](b)"])
    plain = some.none() | some.booleans() | some.integers() | some.floats() | some.text()
    return some.recursive(
        plain | huge | broken,
        lambda parts: (
            some.lists(parts, max_size=3) | some.dictionaries(some.text(), parts, max_size=3)
        ),
        max_leaves=6,
    )
