import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.missingness import (
    bin_nullity,
    cluster_columns,
    correlate_nullity,
    strongest_pairs,
)

CELLS = arrays(bool, st.tuples(st.integers(2, 12), st.integers(1, 6)))


def table(missing):
    cells = np.asarray(missing, dtype=bool)
    return pd.DataFrame(np.where(cells, np.nan, 1.0), columns=list("abcdefgh")[: cells.shape[1]])


@given(cells=CELLS)
def test_a_short_table_is_binned_row_by_row(cells):
    matrix = bin_nullity(table(cells))
    np.testing.assert_array_equal(matrix.share_missing, cells)
    assert matrix.is_exact


def test_bins_cover_all_rows_once():
    cells = np.random.default_rng(0).random((1003, 3)) < [0.1, 0.5, 0.9]
    matrix = bin_nullity(table(cells), max_bins=10)
    sizes = matrix.last_row - matrix.first_row + 1
    assert not matrix.is_exact
    assert sizes.sum() == 1003 and sizes.max() - sizes.min() <= 1
    np.testing.assert_allclose(sizes @ matrix.share_missing, cells.sum(axis=0))


def test_rows_with_the_same_holes_come_together():
    cells = np.array([[1, 0], [0, 0], [1, 0], [0, 1], [1, 0]], dtype=bool)
    matrix = bin_nullity(table(cells), order="pattern")
    np.testing.assert_array_equal(matrix.share_missing[:3], [[1, 0]] * 3)


@given(cells=CELLS)
def test_correlation_is_that_of_numpy(cells):
    correlation = correlate_nullity(table(cells))
    varies = cells.any(axis=0) & ~cells.all(axis=0)
    assert list(correlation.columns) == list(np.array(list("abcdef"))[: cells.shape[1]][varies])
    if varies.any():
        expected = np.atleast_2d(np.corrcoef(cells[:, varies].T.astype(float)))
        np.testing.assert_allclose(correlation, expected, atol=1e-9)


def test_strongest_pairs_come_first():
    cells = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0]], dtype=bool)
    pairs = strongest_pairs(correlate_nullity(table(cells)))
    assert pairs.iloc[0].tolist() == ["a", "b", pytest.approx(1)]
    assert pairs["correlation"].tolist()[1:] == pytest.approx([-(3**-0.5)] * 2)
    assert len(strongest_pairs(correlate_nullity(table(cells)), 1)) == 1


def test_a_table_without_holes_has_no_correlation():
    correlation = correlate_nullity(table(np.zeros((3, 2))))
    assert correlation.shape == (0, 0)
    assert strongest_pairs(correlation).empty


def test_complete_empty_and_equal_columns_share_a_leaf():
    #                   a  b  c  d  e  f
    cells = np.array(
        [[0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1]]
    )
    tree = cluster_columns(table(cells))
    share = dict(zip(tree.groups, tree.share_missing, strict=True))
    assert share == {("a", "d"): 0, ("b", "e"): 1, ("c",): 0.5, ("f",): 0.25}
    assert sorted(tree.columns) == list("abcdef")


def test_joins_are_where_rows_differ():
    #                   a  b  c     a and b differ in 1 of 4 rows; c from them in 2 and 3
    cells = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]])
    joins = cluster_columns(table(cells)).joins
    assert joins["height"].tolist() == pytest.approx([0.25, 0.625])
    assert joins.loc[1, ["left_height", "right_height"]].tolist() in ([0, 0.25], [0.25, 0])


@given(cells=CELLS)
def test_branches_do_not_cross(cells):
    tree = cluster_columns(table(cells))
    assert len(tree.joins) == len(tree.groups) - 1
    assert sorted(tree.columns) == sorted(table(cells).columns)
    assert (tree.joins["left"] < tree.joins["right"]).all()
    assert (tree.joins["height"] >= tree.joins[["left_height", "right_height"]].max(axis=1)).all()


def test_one_column_and_one_kind_of_column():
    assert cluster_columns(table([[1], [0]])).joins.empty
    assert cluster_columns(table(np.zeros((3, 4)))).groups == (tuple("abcd"),)


def test_a_thousand_columns_need_no_deep_recursion():
    steps = np.tri(1100, dtype=bool)
    tree = cluster_columns(pd.DataFrame(np.where(steps, np.nan, 1.0)))
    assert len(tree.groups) == 1100
