import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pmae_core.missingness import block_name, find_blocks, tell_story
from tests.support.paths import ROOT
from tests.support.wide_survey import wide_survey

PBC = Path(os.environ.get("PMAE_DATA_DIR") or ROOT.parent / "shared" / "datasets") / "real/pbc.csv"


def lost(n, *missing):
    column = np.ones(n)
    column[list(missing)] = np.nan
    return column


def sentences(**columns):
    return tell_story(pd.DataFrame(columns)).sentences()


@pytest.mark.skipif(not PBC.exists(), reason="The table pbc is not on this machine.")
def test_the_story_of_pbc():
    story = tell_story(pd.read_csv(PBC))
    assert story.sentences(lambda name: f"`{name}`") == [
        "`trt` and 5 others are missing in the same 106 rows, the last of the file.",
        "`chol` and `trig` have the largest shares of missing values: 32.3% on average.",
    ]


def test_a_block_between_other_rows_says_which():
    assert sentences(a=lost(9, 3, 4, 5), b=lost(9, 3, 4, 5), c=lost(9)) == [
        "a and b are missing in the same 3 rows (rows 4 to 6 of the file)."
    ]


def test_scattered_rows_have_no_place():
    assert sentences(a=lost(9, 0, 4, 5), b=lost(9, 0, 4, 5)) == [
        "a and b are missing in the same 3 rows."
    ]


def test_columns_that_are_nearly_missing_together():
    story = sentences(a=lost(40, *range(0, 40, 2)), b=lost(40, 1, *range(0, 40, 2)))
    assert story == [
        "a and b are missing in nearly the same rows: 20 rows of the 21 that miss one of them "
        "miss all."
    ]


def test_without_blocks_the_largest_loss_is_told():
    assert sentences(a=lost(8, 0, 4), b=lost(8, 1), c=lost(8)) == [
        "a has the largest share of missing values: 25%."
    ]


def test_columns_that_are_never_observed_together_are_named():
    form_a, form_b = lost(8, 0, 2, 4, 6), lost(8, 1, 3, 5, 7)
    story = tell_story(pd.DataFrame({"a1": form_a, "a2": form_a, "b1": form_b, "b2": form_b}))
    ((one, other),) = story.never_together
    assert {one.columns, other.columns} == {("a1", "a2"), ("b1", "b2")}
    assert "a1 and a2 are never observed in the same row as b1 and b2." in story.sentences()


def test_one_row_with_both_is_enough_to_be_observed_together():
    story = tell_story(pd.DataFrame({"a": lost(8, 0, 2, 4), "b": lost(8, 1, 3, 5, 7)}))
    assert story.never_together == ()


def test_empty_columns_are_told_and_are_no_largest_loss():
    story = sentences(a=lost(4, *range(4)), b=lost(4, 1), c=lost(4))
    assert story == [
        "b has the largest share of missing values: 25%.",
        "a has no observed values.",
    ]


def test_a_complete_table_has_no_story():
    assert sentences(a=lost(4), b=lost(4)) == []


def test_the_story_of_a_wide_survey_names_its_versions():
    story = tell_story(wide_survey(600))
    assert any(
        sentence.startswith("form_a_1 and 5 others are never observed in the same row as form_b_1")
        or sentence.startswith("form_b_1 and 5 others are never observed in the same row as")
        for sentence in story.sentences()
    )


def test_few_columns_are_named_in_full():
    df = pd.DataFrame({name: lost(4, 1) for name in "abc"})
    assert block_name(find_blocks(df)[0]) == "a, b and c"
    df["d"] = lost(4, 1)
    assert block_name(find_blocks(df)[0], lambda name: f"`{name}`") == "`a` and 3 others"
