import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.missingness import find_blocks
from tests.support.wide_survey import wide_survey

CELLS = arrays(bool, st.tuples(st.integers(2, 12), st.integers(1, 6)))


def table(missing):
    cells = np.asarray(missing, dtype=bool)
    return pd.DataFrame(np.where(cells, np.nan, 1.0), columns=list("abcdefgh")[: cells.shape[1]])


def rows(n, *missing):
    """Return a column with the given rows missing."""
    column = np.ones(n)
    column[list(missing)] = np.nan
    return column


@given(cells=CELLS)
def test_exact_blocks_are_the_columns_with_equal_missing_cells(cells):
    df = table(cells)
    blocks = find_blocks(df, nearly_up_to=0)
    assert sorted(name for block in blocks for name in block.columns) == list(df.columns)
    assert all(block.is_exact for block in blocks)
    assert len(blocks) == len({column.tobytes() for column in np.ascontiguousarray(cells.T)})


@given(cells=CELLS)
def test_blocks_count_their_rows_and_cells(cells):
    df = table(cells)
    for block in find_blocks(df, nearly_up_to=0.5):
        missing = df[list(block.columns)].isna()
        assert block.n_rows_all == missing.all(axis=1).sum()
        assert block.n_rows_any == missing.any(axis=1).sum()
        assert block.n_missing == missing.to_numpy().sum()


def test_columns_that_are_nearly_missing_together_form_a_block_if_none_is_exact():
    n = 40
    df = pd.DataFrame({"a": rows(n, *range(20)), "b": rows(n, *range(21)), "c": rows(n, 5, 30)})
    near, other = find_blocks(df)
    assert near.columns == ("a", "b") and not near.is_exact
    assert (near.n_rows_all, near.n_rows_any, near.n_missing) == (20, 21, 41)
    assert other.columns == ("c",)
    assert len(find_blocks(df, nearly_up_to=0)) == 3


def test_a_column_does_not_blur_a_block_of_equal_ones():
    n = 40
    df = pd.DataFrame({"a": rows(n, *range(20)), "b": rows(n, *range(20))})
    df["c"] = rows(n, *range(21))
    assert [block.columns for block in find_blocks(df)] == [("c",), ("a", "b")]


def test_every_two_columns_of_a_block_are_near():
    # Each column is near the next one, but the first is not near the last.
    df = pd.DataFrame({f"c{i}": rows(60, *range(i, 30 + i)) for i in range(6)})
    for block in find_blocks(df, nearly_up_to=0.1):
        assert len(block.columns) <= 2


def test_rows_of_a_block_are_placed_in_the_file():
    df = pd.DataFrame(
        {
            "first": rows(10, 0, 1, 2),
            "last": rows(10, 6, 7, 8, 9),
            "between": rows(10, 2, 3, 4),
            "scattered": rows(10, 1, 3, 9),
            "two": rows(10, 8, 9),
        }
    )
    found = {block.columns[0]: block for block in find_blocks(df, nearly_up_to=0)}
    assert {name: block.place for name, block in found.items()} == {
        "first": "first",
        "last": "last",
        "between": "between",
        "scattered": "scattered",
        "two": "scattered",
    }
    assert (found["between"].first_row, found["between"].last_row) == (3, 5)


def test_complete_and_empty_columns_are_blocks_of_their_own():
    df = pd.DataFrame({"a": [1.0, 2], "b": [None, None], "c": [1.0, None], "d": [3, 4]})
    empty, partly, complete = find_blocks(df)
    assert empty.columns == ("b",) and empty.is_empty and empty.place == "scattered"
    assert partly.columns == ("c",) and partly.share_missing == 0.5
    assert complete.columns == ("a", "d") and complete.is_complete


def test_only_some_columns_are_divided():
    df = table([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert [block.columns for block in find_blocks(df, ["b", "c"])] == [("b",), ("c",)]


def test_sections_of_a_wide_survey_are_found():
    survey = wide_survey(800)
    found = {block.columns[0]: block for block in find_blocks(survey)}
    assert survey.shape[1] == 90
    assert len(found) < 45
    for section, n_questions in (("work_01", 14), ("family_01", 12), ("car_01", 10)):
        assert len(found[section].columns) == n_questions
    assert found["wave2_1"].place == "last"
    assert found["form_a_1"].is_exact
