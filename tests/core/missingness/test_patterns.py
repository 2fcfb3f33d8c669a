import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.errors import EmptyTableError
from pmae_core.missingness import find_patterns

CELLS = arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 6)))


def table(missing):
    return pd.DataFrame(np.where(missing, np.nan, 1.0))


@given(cells=CELLS)
def test_every_row_is_found_again(cells):
    patterns = find_patterns(table(cells))

    np.testing.assert_array_equal(patterns.missing[patterns.pattern_of_row], cells)
    np.testing.assert_array_equal(np.bincount(patterns.pattern_of_row), patterns.counts)
    assert len(np.unique(patterns.missing, axis=0)) == patterns.n_patterns
    assert (np.diff(patterns.counts) <= 0).all()


@given(cells=CELLS)
def test_counts_of_columns_and_pairs(cells):
    patterns = find_patterns(table(cells))

    np.testing.assert_array_equal(patterns.n_missing, cells.sum(axis=0))
    np.testing.assert_allclose(patterns.p_obs, 1 - cells.mean(axis=0))
    together = (cells[:, :, None] & cells[:, None, :]).sum(axis=0)
    np.testing.assert_array_equal(patterns.missing_together, together)


@pytest.mark.parametrize("n_columns", [64, 65, 300])
def test_wide_tables_are_told_apart_in_every_column(n_columns):
    cells = np.vstack([np.eye(n_columns, dtype=bool), np.zeros((2, n_columns), dtype=bool)])

    patterns = find_patterns(table(cells))

    assert patterns.n_patterns == n_columns + 1
    assert patterns.counts[0] == 2
    np.testing.assert_array_equal(patterns.missing[patterns.pattern_of_row], cells)


def test_many_patterns_are_counted_piece_by_piece(monkeypatch):
    cells = np.random.default_rng(0).random((500, 7)) < 0.4
    whole = find_patterns(table(cells))
    monkeypatch.setattr("pmae_core.missingness.patterns._CELLS_AT_ONCE", 30)
    pieces = find_patterns(table(cells))

    assert len(list(pieces.pieces())) > 10
    np.testing.assert_array_equal(pieces.n_missing, whole.n_missing)
    np.testing.assert_array_equal(pieces.missing_together, whole.missing_together)


def test_columns_with_both_kinds_of_cells():
    cells = np.array([[0, 1, 1], [0, 1, 0]], dtype=bool)
    assert find_patterns(table(cells)).partly_missing.tolist() == [False, False, True]


def test_found_patterns_are_taken_as_they_are():
    patterns = find_patterns(table(np.eye(3, dtype=bool)))
    assert find_patterns(patterns) is patterns


@pytest.mark.parametrize("df", [pd.DataFrame(), pd.DataFrame({"a": []}), pd.DataFrame(index=[1])])
def test_empty_tables_are_refused(df):
    with pytest.raises(EmptyTableError, match="no rows or no columns"):
        find_patterns(df)
