"""Imputed values of a column are shifted, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import ScoringError
from pmae_core.inference import shifted


def test_numbers_move_by_standard_deviations_of_the_observed(frame, imputed):
    moved = shifted(imputed, frame.isna(), "y", -0.5)

    missing = frame["y"].isna()
    step = frame["y"].std()
    assert moved.loc[missing, "y"].to_numpy() == pytest.approx(
        imputed.loc[missing, "y"] - 0.5 * step
    )
    pd.testing.assert_series_equal(moved.loc[~missing, "y"], imputed.loc[~missing, "y"])
    pd.testing.assert_frame_equal(moved.drop(columns="y"), imputed.drop(columns="y"))


def test_whole_numbers_stay_whole_and_keep_their_dtype(frame, imputed):
    moved = shifted(imputed, frame.isna(), "n", 1.4, scale="units")

    assert moved["n"].dtype == "Int64"
    assert (moved.loc[frame["n"].isna(), "n"] == 5).all()


@given(delta=st.floats(-3, 3), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_odds_move_as_asked(delta, seed):
    rng = np.random.default_rng(seed)
    truth = pd.Series(rng.choice(["a", "b", "c"], 6000, p=[0.5, 0.3, 0.2]))
    table = pd.DataFrame({"kind": truth})
    missing = pd.DataFrame({"kind": np.arange(6000) >= 1000})

    moved = shifted(table, missing, "kind", delta, category="b", seed=seed)["kind"]

    def odds(cells):
        share = (cells[1000:] == "b").mean()
        return share / (1 - share)

    assert np.log(odds(moved) / odds(truth)) == pytest.approx(delta, abs=0.2)
    assert (moved[:1000] == truth[:1000]).all()
    # The other two keep their proportion of 5 to 2.
    rest = moved[1000:][moved[1000:] != "b"]
    assert (rest == "a").mean() == pytest.approx(5 / 7, abs=0.05)


def test_no_shift_changes_nothing(frame, imputed):
    missing = frame.isna()
    pd.testing.assert_frame_equal(shifted(imputed, missing, "y", 0.0), imputed)
    pd.testing.assert_frame_equal(shifted(imputed, missing, "n", 0.0), imputed)
    pd.testing.assert_frame_equal(shifted(imputed, missing, "kind", 0.0, category="a"), imputed)


def test_cells_that_changed_stay_changed(frame, imputed):
    missing = frame.isna()
    little, more = (shifted(imputed, missing, "kind", d, category="b")["kind"] for d in (2.0, 4.0))

    assert (more[little == "b"] == "b").all()
    assert (more == "b").sum() > (little == "b").sum() > (imputed["kind"] == "b").sum()
    assert little.dtype == imputed["kind"].dtype


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"column": "x"}, "has no imputed cells"),
        ({"column": "kind"}, "holds labels"),
        ({"column": "y", "scale": "inches"}, "scale must be"),
        ({"column": "kind", "category": "z"}, "no odds to shift"),
    ],
)
def test_shifts_that_make_no_sense(frame, imputed, arguments, message):
    with pytest.raises(ScoringError, match=message):
        shifted(imputed, frame.isna(), delta=1.0, **arguments)


def test_a_column_that_does_not_vary_has_no_standard_deviation():
    table = pd.DataFrame({"x": [1.0, 1.0, 2.0]})
    missing = pd.DataFrame({"x": [False, False, True]})
    with pytest.raises(ScoringError, match="Shift it in units"):
        shifted(table, missing, "x", 1.0)
