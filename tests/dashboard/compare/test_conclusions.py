import pandas as pd

from dashboard.compare.conclusions import (
    all_conclusions,
    conclusion_words,
    kept_conclusions,
    most_missing_first,
)
from pmae_core.jobs.params import MAX_CONCLUSIONS

MEAN, SLOPE = ("mean", "x"), ("slope", "y", "x")


def test_the_column_with_most_missing_values_comes_first():
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [None, None, 3.0], "c": [None, 2.0, 3.0]})

    assert most_missing_first(frame, ["a", "b", "c"]) == ["b", "c", "a"]


def test_what_stands_in_the_boxes_counts_without_being_added():
    assert all_conclusions([], MEAN) == (MEAN,)
    assert all_conclusions([SLOPE], MEAN) == (SLOPE, MEAN)
    assert all_conclusions([MEAN], MEAN) == (MEAN,)
    assert all_conclusions([MEAN], None) == (MEAN,)
    many = [("mean", str(number)) for number in range(MAX_CONCLUSIONS)]
    assert all_conclusions(many, MEAN) == tuple(many)


def test_remembered_conclusions_of_other_tables_are_left_out():
    remembered = [["mean", "x"], ["mean", "gone"], ["?", "x"], "mean", []]

    assert kept_conclusions(remembered, ["x", "y"]) == [MEAN]
    assert kept_conclusions(None, ["x"]) == []


def test_conclusions_in_words():
    assert conclusion_words(SLOPE) == "slope of `y` on `x`"
    assert conclusion_words(("correlation", "a*", "b")) == "correlation of `a*` and `b`"
