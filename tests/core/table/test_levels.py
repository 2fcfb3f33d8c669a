from decimal import Decimal

import pandas as pd
import pytest

from pmae_core.errors import SchemaError
from pmae_core.table.levels import MOST_LEVELS, known_scale, levels_of


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        ([3, 1, 10, 3], (1, 3, 10)),
        ([0.5, None, -2.0], (-2.0, 0.5)),
        (["10", "9", "2"], ("2", "9", "10")),
        ([True, False], (False, True)),
        (pd.Categorical(["c", "a"], ["c", "b", "a"], ordered=True), ("c", "b", "a")),
        (pd.Categorical(["high", "low"], ["high", "low"]), ("low", "high")),
        (["High", "low", "MEDIUM"], ("low", "MEDIUM", "High")),
        (["Strongly_agree", "disagree", "neutral"], ("disagree", "neutral", "Strongly_agree")),
        (["very good", "Very-Poor", "fair"], ("Very-Poor", "fair", "very good")),
        (
            ["2 - agree", "10 - no idea", "1 - disagree"],
            ("1 - disagree", "2 - agree", "10 - no idea"),
        ),
        (["26-35", "18-25", "36+"], ("18-25", "26-35", "36+")),
        (["only this"], ("only this",)),
        ([None, None], ()),
    ],
)
def test_levels_that_cells_show(cells, levels):
    assert levels_of(pd.Series(cells)) == levels


@pytest.mark.parametrize(
    "cells",
    [
        ["red", "green"],
        ["low", "green"],
        ["medium", "moderate", "low"],  # two names of one level
        ["1 apple", "1 pear"],
        ["1 apple", "pear"],
        pd.Categorical(["b", "a"]),
    ],
)
def test_an_order_that_cells_do_not_show_is_asked_for(cells):
    with pytest.raises(SchemaError, match=r"order .* 'x' is not known: .* Declare its levels"):
        levels_of(pd.Series(cells, name="x"))


def test_declared_levels_go_before_the_order_of_the_cells():
    assert levels_of(pd.Series([1, 2, None]), [3, 2, 1]) == (3, 2, 1)


def test_declared_text_stands_for_numbers_in_a_column_of_numbers():
    assert levels_of(pd.Series([1, 2]), ["1", "2", "3.5"]) == (1, 2, 3.5)
    assert levels_of(pd.Series(["1", "2"]), ["2", "1"]) == ("2", "1")


def test_a_level_is_written_as_it_is_observed():
    (lowest, _) = levels_of(pd.Series([Decimal("1.50"), Decimal(2)]), [1.5, 2])
    assert str(lowest) == "1.50"


def test_values_beside_the_declared_levels_are_named():
    with pytest.raises(SchemaError, match="'x' holds 1 value not among its levels: c"):
        levels_of(pd.Series(["a", "c"], name="x"), ["a", "b"])


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (pd.to_datetime(["2024-01-01"]), "datetimes, not levels. Give it the role datetime"),
        (pd.to_timedelta([1], unit="D"), "durations, not levels. Give it the role numerical"),
        ([[1], [2]], "cannot be levels"),
        (range(MOST_LEVELS + 1), "101 different values, but an ordinal column has at most 100"),
    ],
)
def test_cells_without_levels(cells, sentence):
    with pytest.raises(SchemaError, match=sentence):
        levels_of(pd.Series(cells, name="x"))


def test_one_word_is_no_scale():
    assert known_scale(["medium"]) is None
