import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.errors import TableError
from pmae_core.missingness import (
    count_complete_rows,
    dropping_path,
    dropping_shift,
    find_blocks,
)
from pmae_core.table import Schema

CELLS = arrays(bool, st.tuples(st.integers(1, 10), st.integers(1, 5)))


def table(missing):
    return pd.DataFrame(np.where(missing, np.nan, 1.0))


@given(cells=CELLS)
def test_complete_rows_are_those_of_dropna(cells):
    df = table(cells)
    assert count_complete_rows(df) == len(df.dropna())
    assert count_complete_rows(df, [0]) == len(df.dropna(subset=[0]))
    assert count_complete_rows(df, []) == len(df)


@given(cells=CELLS)
def test_each_step_of_the_path_is_true_and_the_best_single_one(cells):
    df = table(cells)
    path = dropping_path(df)
    blocks = {block.columns for block in find_blocks(df)}
    kept = set(df.columns)
    before = count_complete_rows(df)
    for left_out, n_columns, n_complete, n_gained in path.itertuples(index=False):
        if left_out:
            without = {block: count_complete_rows(df, kept - set(block)) for block in blocks}
            assert without[left_out] == max(without.values())
            blocks.remove(left_out)
            kept -= set(left_out)
        assert (n_columns, n_complete) == (len(kept), count_complete_rows(df, kept))
        assert n_gained == n_complete - before
        before = n_complete
    assert path["n_complete_rows"].iloc[-1] == len(df)


def test_columns_of_which_none_alone_completes_a_row_are_left_out_one_by_one():
    df = table(np.array([[1, 1, 0], [1, 1, 0], [0, 1, 0]], dtype=bool))
    path = dropping_path(df)
    assert path["left_out"].tolist() == [(), (1,), (0,)]
    assert path["n_complete_rows"].tolist() == [0, 1, 3]


def test_columns_that_are_missing_in_the_same_rows_are_left_out_together():
    df = table(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool))
    path = dropping_path(df)
    assert path["left_out"].tolist() == [(), (0, 1), (2,)]
    assert path["n_columns"].tolist() == [3, 1, 0]
    assert path["n_gained"].tolist() == [0, 2, 1]


def test_a_path_may_begin_with_some_columns():
    df = pd.DataFrame({"a": [1, None], "b": [None, None], "c": [1, 2]})
    assert dropping_path(df, ["a", "c"])["n_complete_rows"].tolist() == [1, 2]
    with pytest.raises(TableError, match="no column 'z'"):
        dropping_path(df, ["a", "z"])


def test_shift_of_a_mean_in_standard_deviations():
    df = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [1.0, 1, None, None]})
    row = dropping_shift(df).loc["x"]
    assert row["shift"] == pytest.approx((1.5 - 2.5) / np.std([1, 2, 3, 4], ddof=1))
    assert row["by_chance"] == pytest.approx(1.959964 * np.sqrt(1 / 2 - 1 / 4))
    assert (row["n_observed"], row["n_kept"]) == (4, 2)


def test_shift_of_labels_is_the_share_that_would_have_to_change():
    df = pd.DataFrame({"label": list("uuvv"), "y": [1.0, 1, 1, None]})
    row = dropping_shift(df).loc["label"]
    assert row["shift"] == pytest.approx(2 / 3 - 1 / 2)
    assert row["kind"] == "categorical"


def test_dropping_at_random_stays_within_what_chance_does():
    rng = np.random.default_rng(0)
    n = 400
    df = pd.DataFrame({"x": rng.normal(size=n), "label": rng.choice(list("uvw"), size=n)})
    schema = Schema.infer(df.assign(y=1.0))
    shifts = []
    for seed in range(150):
        away = np.random.default_rng(seed).permutation(n) < 300
        table_with_holes = df.assign(y=np.where(away, np.nan, 1.0))
        shifts.append(dropping_shift(table_with_holes, ["y"], schema=schema)["shift"])
    bound = dropping_shift(table_with_holes, ["y"], schema=schema)["by_chance"]
    beyond = (pd.DataFrame(shifts).abs() > bound).mean()
    assert 0.01 < beyond["x"] < 0.1
    assert beyond["label"] < 0.1
    assert max(s["label"] for s in shifts) > bound["label"] / 2


def test_nothing_stays():
    df = pd.DataFrame({"x": [1.0, 2.0], "label": ["u", "v"], "empty": [np.nan, np.nan]})
    table = dropping_shift(df)
    assert table["shift"].isna().all()
    assert (table["n_kept"] == 0).all()


def test_all_stays():
    df = pd.DataFrame(
        {"x": [1.0, 2.0], "label": ["u", "v"], "day": pd.date_range("2024", periods=2)}
    )
    table = dropping_shift(df)
    assert (table[["shift", "by_chance"]] == 0).all(axis=None)
    assert np.isnan(table.loc["day", "mean_kept"])
