import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.amputation import ampute
from pmae_core.errors import ScoringError
from pmae_core.evaluation.holdout import MIN_CELLS, HoldoutPlan, hold_out_like_mine
from pmae_core.table import Schema


def hold_out(table, **kwargs):
    return hold_out_like_mine(table, Schema.infer(table), **kwargs)


def test_what_is_missing_together_is_held_out_together(incomplete):
    held_out = hold_out(incomplete, seed=3).missing
    both_there = incomplete[["z", "kind"]].notna().all(axis=1)
    assert (held_out["z"] == held_out["kind"])[both_there].all()
    assert (held_out["y"] != held_out["z"]).any()


def test_only_observed_cells_of_incomplete_columns_are_held_out(incomplete):
    held_out = hold_out(incomplete)
    assert not held_out.missing["x"].any()
    assert not (held_out.missing & incomplete.isna()).any(axis=None)
    assert (held_out.incomplete.isna() == (incomplete.isna() | held_out.missing)).all(axis=None)
    pd.testing.assert_frame_equal(held_out.truth, incomplete)


def test_seed_decides_the_cells(incomplete):
    first, again, other = (hold_out(incomplete, seed=seed).missing for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_a_rarely_missing_column_is_scored_on_enough_cells():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("abcd"))
    table.loc[:499, "a"] = np.nan
    table.loc[999, "b"] = np.nan
    held_out = hold_out(table).missing.sum()
    assert held_out["b"] >= MIN_CELLS
    assert held_out["a"] == pytest.approx(0.1 * 500, abs=55)


@pytest.mark.parametrize(("n_rows", "least", "most"), [(2000, MIN_CELLS, 40), (200, 5, 5)])
def test_a_sparse_column_keeps_most_of_its_cells(n_rows, least, most):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n_rows, 5)), columns=list("abcde"))
    table = table.mask(rng.random(table.shape) < 0.1)
    table["a"] = np.where(np.arange(n_rows) < n_rows // 10, rng.normal(size=n_rows), np.nan)
    assert least <= hold_out(table, share=0.1).missing["a"].sum() <= most


def test_the_share_is_about_what_was_asked_for():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(2000, 6)), columns=list("abcdef"))
    table = table.mask(rng.random(table.shape) < 0.3)
    for share in (0.05, 0.2):
        held_out = hold_out(table, share=share).missing.to_numpy().sum()
        assert held_out / table.notna().to_numpy().sum() == pytest.approx(share, rel=0.1)


def test_a_complete_table_loses_random_cells_of_every_column(complete):
    held_out = hold_out(complete, share=0.2).missing
    assert (held_out.sum() == 32).all()
    assert (held_out.sum(axis=1) < complete.shape[1]).all()


def test_columns_without_content_are_left_alone(incomplete):
    table = incomplete.assign(id=range(len(incomplete)), same=1.0, nothing=np.nan)
    table.loc[:9, "same"] = np.nan
    held_out = hold_out(table).missing
    assert not held_out[["id", "same", "nothing"]].any(axis=None)
    assert held_out[["y", "z", "kind"]].any().all()


@settings(max_examples=40)
@given(
    n_rows=st.integers(2, 60),
    n_columns=st.integers(2, 6),
    p_missing=st.floats(0, 0.9),
    share=st.floats(0.01, 0.5),
    seed=st.integers(0, 10_000),
)
def test_no_row_and_no_column_loses_everything(n_rows, n_columns, p_missing, share, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n_rows, n_columns)))
    table = table.mask(rng.random(table.shape) < p_missing)
    try:
        held_out = hold_out(table, share=share, seed=seed)
    except ScoringError:
        return
    left = held_out.incomplete.notna()
    had = table.notna()
    assert (left.any(axis=1) | ~had.any(axis=1)).all()
    assert (left.any() | ~had.any()).all()
    assert held_out.missing.to_numpy().any()
    assert not (held_out.missing & ~had).any(axis=None)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"same": [1.0, 1.0, None]}),
        pd.DataFrame({"lone": [1.0, 2.0, None]}),
    ],
)
def test_a_table_that_spares_no_cell_is_refused(table):
    with pytest.raises(ScoringError):
        hold_out(table)


def test_amputation_is_that_of_the_library(complete):
    schema = Schema.infer(complete)
    plan = HoldoutPlan(kind="amputation", amputation={"pattern": "monotone"})
    held_out = plan.make(complete, schema, seed=4)
    expected = ampute(complete, "monotone", seed=4, schema=schema)
    assert held_out.missing.equals(expected.missing)
    assert held_out.incomplete.equals(expected.incomplete)


def test_known_truth_scores_the_missing_cells_of_the_table(incomplete, complete):
    plan = HoldoutPlan(kind="known-truth")
    held_out = plan.make(
        incomplete, Schema.infer(incomplete), seed=0, truth=complete[["kind", *"zyx"]]
    )
    assert held_out.missing.equals(incomplete.isna())
    assert list(held_out.truth.columns) == list(incomplete.columns)


def test_truth_that_does_not_fit_is_refused(incomplete, complete):
    plan, schema = HoldoutPlan(kind="known-truth"), Schema.infer(incomplete)
    for truth, reason in (
        (None, "needs `truth`"),
        (complete.iloc[1:], "different rows"),
        (complete[["x"]], "lacks the column"),
        (incomplete, "nothing to score"),
    ):
        with pytest.raises(ScoringError, match=reason):
            plan.make(incomplete, schema, seed=0, truth=truth)


@pytest.mark.parametrize(
    "wrong", [{"kind": "magic"}, {"share": 0.0}, {"share": 0.6}, {"amputation": {"seed": 1}}]
)
def test_wrong_plans_are_refused(wrong):
    with pytest.raises(ScoringError):
        HoldoutPlan(**wrong)
