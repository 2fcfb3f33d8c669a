import numpy as np
import pandas as pd
import pytest

from dashboard.missingness import lines
from dashboard.missingness.facts import MissingnessFacts
from pmae_core.missingness import MissingBlock, cluster_columns
from tests.support.wide_survey import wide_survey


def lost(n, *missing):
    column = np.ones(n)
    column[list(missing)] = np.nan
    return column


@pytest.fixture
def facts():
    return MissingnessFacts.of(
        pd.DataFrame(
            {
                "full": lost(8),
                "dose": lost(8, 1, 2),
                "Age": lost(8, 5),
                "lab": lost(8, 1, 2),
                "whole": lost(8),
            }
        )
    )


def names(found):
    return [line.columns for line in found]


def test_columns_missing_together_share_a_line(facts):
    assert names(lines.choose_lines(facts)) == [("dose", "lab"), ("Age",), ("full", "whole")]


def test_an_expanded_block_has_a_line_per_column(facts):
    found = lines.choose_lines(facts, expanded=["dose"])
    assert names(found) == [("dose",), ("lab",), ("Age",), ("full", "whole")]


def test_a_search_finds_single_columns_whatever_the_case(facts):
    assert names(lines.choose_lines(facts, search=" A", expanded=["dose"])) == [("lab",), ("Age",)]
    assert lines.choose_lines(facts, search="nobody") == []


def test_orders(facts):
    found = lines.choose_lines(facts)
    assert names(lines.in_order(found, lines.AS_IN_TABLE, facts, None)) == [
        ("full", "whole"),
        ("dose", "lab"),
        ("Age",),
    ]
    assert names(lines.in_order(found[::-1], lines.MOST_MISSING, facts, None)) == names(found)
    tree = cluster_columns(facts.patterns, facts.blocks)
    assert names(lines.in_order(found, lines.SIMILAR, facts, tree)) == list(tree.groups)


def test_labels_for_lists(facts):
    empty = MissingBlock.of(pd.DataFrame({"a": [None], "b": [None]}), ["a", "b"])
    assert [lines.plain_label(block) for block in (*facts.blocks, empty)] == [
        "dose + 1 other",
        "Age",
        "2 complete columns",
        "2 columns without values",
    ]


def test_only_partly_missing_lines_are_correlated(facts):
    assert names(lines.partly_missing(facts.blocks)) == [("dose", "lab"), ("Age",)]


def test_the_data_of_a_figure_has_every_column_and_its_group(facts):
    data = lines.lines_data(lines.choose_lines(facts), facts).set_index("column")
    assert data.loc["lab", "missing_together"] == "dose + 1 other"
    assert data.loc["lab", "n_missing"] == 2
    assert len(data) == 5


def test_a_wide_survey_has_far_fewer_lines_than_columns():
    facts = MissingnessFacts.of(wide_survey(600))
    found = lines.choose_lines(facts)
    assert sum(len(line.columns) for line in found) == 90
    assert len(found) < 45
