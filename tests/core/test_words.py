"""Numbers in sentences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.words import (
    count,
    decimals,
    duration,
    exact_text,
    listed,
    percent,
    shorten,
    time_left,
)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0%"),
        (1e-9, "less than 0.1%"),
        (0.005, "0.5%"),
        (0.0996, "10%"),
        (0.114, "11.4%"),
        (0.26, "26%"),
        (0.9999, "more than 99.9%"),
        (1, "100%"),
        (float("nan"), "–"),
    ],
)
def test_percent(share, words):
    assert percent(share) == words


@given(st.floats(0, 1))
def test_percent_says_nothing_and_everything_only_when_it_is_so(share):
    assert (percent(share) == "0%") == (share == 0)
    assert (percent(share) == "100%") == (share == 1)


def test_decimals_have_a_true_minus_that_zero_never_has():
    assert [decimals(x) for x in (0.7, -0.518, 0.0, -0.001)] == ["0.70", "−0.52", "0.00", "0.00"]
    assert decimals(-12.34, 1) == "−12.3"


def test_count():
    assert count(0, "row") == "0 rows"
    assert count(1, "row") == "1 row"


def test_an_unknown_duration_is_not_written():
    assert duration(None) == duration(float("nan")) == ""


def test_a_long_list_is_shortened():
    assert listed("abcd", most=3, last="or") == "a, b, c and 1 more"
    assert listed("abc", last="or") == "a, b or c"


def test_time_that_is_left_is_about_so_much_unless_it_is_none():
    assert time_left(0.3) == "less than 1 s left"
    assert time_left(200) == "about 3 min 20 s left"


@given(st.text(), st.integers(3, 40))
def test_shorten_keeps_its_promise(text, longest):
    assert len(shorten(text, longest)) <= longest


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (1.0, "1"),
        (np.float32(2), "2"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (3, "3"),
        (True, "True"),
        ("?", "?"),
    ],
)
def test_codes_are_written_as_people_write_them(cell, text):
    assert exact_text(cell) == text


@given(st.floats())
def test_exact_text_keeps_every_number_apart(number):
    assert float(exact_text(number)) == number or math.isnan(number)
