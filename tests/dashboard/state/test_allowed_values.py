"""Which values a setting may have, of all that JSON can contain."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dashboard.state import memory
from dashboard.state.allowed_values import AnyText, Choice, NumberWithin, TrueOrFalse, usable
from tests.support.json_values import json_values

DECLARED = {
    "word": (Choice(["x", "y"]), "x"),
    "number in a list": (Choice([0, 1, 2.5]), 1),
    "whole number": (NumberWithin(1, 9), 3),
    "number": (NumberWithin(-0.5, 2.0), 0.25),
    "switch": (TrueOrFalse(), False),
    "text": (AnyText(5), "abc"),
}


@pytest.mark.parametrize(
    ("allowed", "good", "bad"),
    [
        (Choice(["x", "y"]), ["x"], ["z", ["x"], {"x": 1}, None, 0]),
        (Choice([0, 1]), [0, 1, 1.0], [True, False, "1", 2]),
        (Choice([None]), [None], [False, 0, ""]),
        (NumberWithin(0, 9), [0, 9], [-1, 10, 0.5, 5.0, True, "5", None, [5], 10**400]),
        (NumberWithin(0.0, 1.0), [0, 0.5, 1], [-0.1, 1.1, math.nan, math.inf, True, 10**400]),
        (TrueOrFalse(), [True, False], [0, 1, None, "true"]),
        (AnyText(5), ["", "abcde", "é"], ["abcdef", "\ud800", 1, None, ["a"]]),
    ],
)
def test_what_is_allowed(allowed, good, bad):
    assert [value for value in good if not allowed.allows(value)] == []
    assert [value for value in bad if allowed.allows(value)] == []


@settings(max_examples=50)
@given(value=json_values())
@pytest.mark.parametrize("kind", DECLARED)
def test_whatever_is_kept_a_control_gets_a_value_that_is_allowed(kind, value):
    allowed, default = DECLARED[kind]

    fitted = memory.fitted(value, default, allowed.limits())

    assert kind == "text" or allowed.allows(fitted)
    if allowed.allows(value):
        assert fitted == value


@settings(max_examples=50)
@given(values=some.dictionaries(some.sampled_from([*DECLARED, "other"]), json_values()))
def test_only_allowed_values_are_usable(values):
    allowed = {name: declared for name, (declared, _) in DECLARED.items()}

    found = usable(values, allowed)

    assert all(allowed[name].allows(value) for name, value in found.items())
    assert not any(allowed[n].allows(v) for n, v in values.items() if n in allowed.keys() - found)
