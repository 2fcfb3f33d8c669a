import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.errors import EmptyTableError
from pmae_core.missingness import find_blocks, summarize_missingness
from tests.support.html_page import assert_safe_in_a_notebook

NASTY = "<script>alert(1)</script>"


def table(missing):
    cells = np.asarray(missing, dtype=bool)
    return pd.DataFrame(np.where(cells, np.nan, 1.0), columns=list("abcdefgh")[: cells.shape[1]])


def test_counts_by_table_column_and_row():
    df = pd.DataFrame(
        {
            "number": [1.0, None, 3.0, None],
            "text": ["u", None, None, None],
            "date": pd.to_datetime(["2020-01-01"] * 4),
            "whole": pd.array([1, 2, None, 4], dtype="Int64"),
        }
    )
    summary = summarize_missingness(df)
    assert (summary.n_rows, summary.n_columns, summary.n_missing) == (4, 4, 6)
    assert summary.share_missing == 6 / 16
    assert summary.per_column["n_missing"].to_dict() == {
        "number": 2,
        "text": 3,
        "date": 0,
        "whole": 1,
    }
    assert summary.per_column["p_obs"].tolist() == [0.5, 0.25, 1.0, 0.75]
    assert summary.n_complete_rows == 1
    assert summary.n_patterns == 3
    first = summary.patterns.iloc[0]
    assert (first["n_rows"], first["share"], first["n_missing"]) == (2, 0.5, 2)
    assert first["missing_columns"] == ("number", "text")


def test_infinite_values_are_not_missing():
    assert summarize_missingness(pd.DataFrame({"x": [np.inf, 1.0]})).n_missing == 0


@pytest.mark.parametrize(
    ("missing", "expected", "distance"),
    [
        ([[0, 0], [0, 0]], "complete", 0.0),
        ([[1, 1], [1, 1]], "monotone", 0.0),
        ([[0, 1], [0, 0]], "monotone", 0.0),
        ([[1, 0, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1]], "monotone", 0.0),
        ([[0, 1], [1, 0]], "general", 0.5),
        ([[0, 1]] * 10 + [[1, 0]], "quasi-monotone", 1 / 11),
        ([[0, 1]] * 5 + [[1, 0]], "general", 1 / 6),
    ],
)
def test_pattern_classes(missing, expected, distance):
    summary = summarize_missingness(table(missing))
    assert summary.pattern_class == expected
    assert summary.distance_from_monotone == pytest.approx(distance)


CELLS = arrays(bool, st.tuples(st.integers(1, 8), st.integers(1, 5)))


def is_monotone(cells):
    """Try every order of the columns."""
    return any(
        (np.diff(cells[:, list(order)].astype(int), axis=1) >= 0).all()
        for order in itertools.permutations(range(cells.shape[1]))
    )


@given(cells=CELLS)
def test_monotone_is_recognized_whatever_the_order_of_columns(cells):
    summary = summarize_missingness(table(cells))
    assert 0 <= summary.distance_from_monotone <= 1
    found = summary.pattern_class in ("complete", "monotone")
    assert found == is_monotone(cells) == (summary.distance_from_monotone == 0)


@given(cells=CELLS)
def test_patterns_are_those_of_the_rows(cells):
    summary = summarize_missingness(table(cells), max_patterns=100)
    distinct, counts = np.unique(cells, axis=0, return_counts=True)
    assert summary.n_patterns == len(distinct) == len(summary.patterns)
    names = np.array(list("abcdefgh"))[: cells.shape[1]]
    expected = {tuple(names[row]): n for row, n in zip(distinct, counts, strict=True)}
    listed = summary.patterns.set_index("missing_columns")["n_rows"].to_dict()
    assert listed == expected
    assert summary.patterns["n_rows"].is_monotonic_decreasing
    assert summary.patterns["share"].sum() == pytest.approx(1)


def test_only_the_most_frequent_patterns_are_listed():
    cells = np.array([[0, 0, 1]] * 3 + [[0, 1, 0]] * 5 + [[1, 0, 0]])
    summary = summarize_missingness(table(cells), max_patterns=2)
    assert summary.patterns["missing_columns"].tolist() == [("b",), ("c",)]
    assert summary.n_patterns == 3


def test_sentences():
    assert (
        summarize_missingness(table(np.zeros((2, 1)))).sentence()
        == "The table has 2 rows and 1 column; nothing is missing."
    )
    cells = np.zeros((2000, 2), dtype=bool)
    cells[0, 1] = True
    assert summarize_missingness(table(cells)).sentence() == (
        "The table has 2,000 rows and 2 columns; 1 cell (less than 0.1%) is missing, in 1 column, "
        "and 1,999 rows (more than 99.9%) are complete. The missing pattern is monotone: the "
        "columns can be ordered so that a row that misses one misses all later ones."
    )
    general = summarize_missingness(table([[0, 1], [1, 0], [0, 0]])).sentence()
    assert "2 cells (33.3%) are missing, in 2 columns, and 1 row (33.3%) is complete" in general
    assert general.endswith("follows no order.")


def test_the_summary_becomes_json():
    summary = summarize_missingness(table([[0, 1], [1, 0]]).set_axis([0, 1], axis=1))
    content = json.loads(json.dumps(summary.to_dict()))
    assert content["per_column"][1] == {"name": "1", "p_obs": 0.5, "n_missing": 1}
    assert content["patterns"][0]["missing_columns"] == ["1"]
    assert content["pattern_class"] == "general"


@pytest.mark.parametrize("df", [pd.DataFrame(), pd.DataFrame({"a": []}), pd.DataFrame(index=[1])])
def test_empty_tables_are_refused(df):
    with pytest.raises(EmptyTableError, match="no rows or no columns"):
        summarize_missingness(df)


def exceptions(n_against, n_with):
    return summarize_missingness(table([[0, 1]] * n_with + [[1, 0]] * n_against))


def test_exceptions_from_monotone_are_counted_and_only_few_are_nearly_none():
    many = exceptions(80, 1000)
    assert (many.pattern_class, many.n_exceptions) == ("quasi-monotone", 80)
    assert "quasi-monotone" in many.sentence()
    assert "except for 80 cells (7.4% of the missing cells)" in many.sentence()
    few = exceptions(8, 1000)
    assert "nearly monotone" in few.pattern_sentence()
    assert "except for 8 cells (0.8% of the missing cells)" in few.pattern_sentence()
    assert "a few" not in many.sentence()


# What a notebook and a terminal show


def shown(summary):
    return " ".join(assert_safe_in_a_notebook(summary._repr_html_()).texts)


@pytest.fixture
def blocks_of_two():
    """Two columns that are missing in the same rows, one with a nasty name, one complete."""
    df = pd.DataFrame({"full": range(8), "a": 1.0, "b": 1.0, NASTY: 1.0})
    df.loc[[0, 3, 5], ["a", "b"]] = np.nan
    df.loc[7, NASTY] = np.nan
    return summarize_missingness(df)


def test_a_notebook_shows_columns_blocks_and_patterns(blocks_of_two):
    text = shown(blocks_of_two)

    assert blocks_of_two.sentence() in text
    assert "a 3 37.5%" in text and f"{NASTY} 1 12.5%" in text
    assert "a and b are missing in the same 3 rows." in text
    assert "1 complete column: full." in text
    assert "4 50% nothing 3 37.5% a and b 1 12.5%" in text
    html = blocks_of_two._repr_html_()
    assert html.count("width: 37.5%") == 3  # of a, of b, and of their pattern


def test_plain_text_says_the_same(blocks_of_two):
    lines = repr(blocks_of_two).splitlines()

    assert " ".join(lines[:3]).startswith(blocks_of_two.sentence())
    assert any(line.split() == ["a", "3", "37.5%"] for line in lines)
    assert lines[-2:] == ["1 complete column: full.", "a and b are missing in the same 3 rows."]


def test_the_blocks_are_those_of_the_table():
    df = table(np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]]))

    assert summarize_missingness(df).blocks == find_blocks(df)


def test_a_complete_table_has_no_columns_to_show():
    summary = summarize_missingness(table(np.zeros((2, 2))))

    assert repr(summary) == "The table has 2 rows and 2 columns; nothing is missing."
    assert shown(summary) == f"Missing values {summary!r}"


def test_of_many_columns_and_patterns_the_first_are_shown():
    cells = np.triu(np.ones((40, 40), dtype=bool))
    df = pd.DataFrame(np.where(cells, np.nan, 1.0)).rename(columns=str)

    text = shown(summarize_missingness(df))

    assert "15 more incomplete columns" in text
    assert "The 10 most frequent of 40 patterns." in text


def test_of_many_blocks_the_largest_are_told():
    cells = np.kron(np.eye(8, dtype=bool), np.ones((1, 2), dtype=bool))
    df = pd.DataFrame(np.where(cells, np.nan, 1.0)).rename(columns="c{}".format)

    text = shown(summarize_missingness(df))

    assert "c0 and c1 are missing in the same 1 row." in text
    assert "And 3 more blocks of columns." in text
