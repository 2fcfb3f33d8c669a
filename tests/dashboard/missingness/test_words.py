import numpy as np
import pandas as pd
import pytest

from dashboard.missingness import words
from pmae_core.missingness import LittleTest, dropping_path, summarize_missingness


def table(cells, names="abcdef"):
    frame = pd.DataFrame(np.where(np.array(cells, dtype=bool), np.nan, 1.0))
    return frame.set_axis(list(names[: frame.shape[1]]), axis=1)


def test_how_much_is_missing():
    assert words.how_much(summarize_missingness(table([[1, 0], [0, 0], [0, 0], [0, 0]]))) == (
        "12.5% of the cells are missing, in 1 of 2 columns. 3 of 4 rows (75%) are complete."
    )


def test_a_table_without_complete_rows_says_so():
    assert words.how_much(summarize_missingness(table([[1, 0], [0, 1]]))).endswith(
        "No row is complete."
    )


def effects(**sizes):
    return pd.DataFrame({"size": list(sizes.values())}, index=list(sizes))


@pytest.mark.parametrize(
    ("beyond_chance", "sentence"),
    [
        (effects(), "No observed column is clearly related to missingness in `bmi`"),
        (
            effects(age="small"),
            "a little, but by more than chance, in `age`",
        ),
        (effects(age="small", sex="large"), "differ clearly from the others in `sex`."),
    ],
)
def test_differences_follow_the_bands_of_the_figure(beyond_chance, sentence):
    assert sentence in words.differences("bmi", beyond_chance)


def test_the_largest_loss_is_named_first():
    df = table([[1, 0], [1, 0], [0, 1], [0, 0]])
    assert words.largest_gain(dropping_path(df)) == (
        "Dropping `a` from the analysis keeps 2 more rows."
    )


def test_if_no_single_column_gives_back_a_row_several_are_named():
    df = table([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    gain = words.largest_gain(dropping_path(df))
    assert gain == (
        "No single group of columns gains a row. Dropping `a` and `b` keeps 1 more row."
    )


def test_a_complete_table_has_nothing_to_give_back():
    assert words.largest_gain(dropping_path(table([[0, 0]]))) == ""


def test_complete_cases_say_of_which_columns():
    assert words.complete_cases(3, 4, 2, are_chosen=True) == (
        "**3 of 4 rows** (75%) are complete in 2 chosen columns."
    )
    assert "in all 5 columns" in words.complete_cases(3, 4, 5, are_chosen=False)


def test_little_says_what_it_used_and_what_not():
    test = LittleTest(
        statistic=10.0,
        degrees_of_freedom=5,
        p_value=0.07,
        n_rows=90,
        n_rows_table=100,
        n_patterns=4,
        columns=("x", "y"),
        n_rows_rare=10,
        left_out={
            "c": "its observed values do not vary",
            "d": "its observed values do not vary",
            "e": "other columns determine it",
        },
        converged=False,
    )
    assert words.little_columns(test).splitlines() == [
        "- Columns tested: `x` and `y`",
        "- Rows used: 90 of 100, with 4 missing patterns",
        "- Rows left out: 10, because fewer than five rows share their pattern",
        "- Not tested: `c` and `d`, because their observed values do not vary",
        "- Not tested: `e`, because other columns determine it",
        "- The estimates did not converge: the numbers are approximate",
    ]
