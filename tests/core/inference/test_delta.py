"""Shifts of filled cells, and the shift at which a conclusion tips."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from pmae_core.errors import ScoringError
from pmae_core.inference import shifted, tipping_point
from pmae_core.inference.stability import Estimand, conclusion_stability
from pmae_core.table import Schema


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    table = pd.DataFrame(
        {
            "x": x,
            "y": 1.0 + 0.8 * x + 0.5 * rng.normal(size=120),
            "n": pd.array(rng.integers(0, 9, 120), dtype="Int64"),
            "kind": rng.choice(["a", "b", "c"], 120, p=[0.5, 0.3, 0.2]),
            "smoker": pd.array(rng.random(120) < 0.4, dtype="boolean"),
        }
    )
    table.loc[rng.random(120) < 0.3, ["y", "n", "kind", "smoker"]] = None
    return table


@pytest.fixture
def filled(frame) -> pd.DataFrame:
    values = {"y": 1.0 + 0.8 * frame["x"], "n": 4, "kind": "a", "smoker": False}
    return frame.fillna(values)


def test_numbers_move_by_standard_deviations_of_the_observed(frame, filled):
    moved = shifted(filled, frame.isna(), "y", -0.5)

    holes = frame["y"].isna()
    step = frame["y"].std()
    assert moved.loc[holes, "y"].to_numpy() == pytest.approx(filled.loc[holes, "y"] - 0.5 * step)
    pd.testing.assert_series_equal(moved.loc[~holes, "y"], filled.loc[~holes, "y"])
    pd.testing.assert_frame_equal(moved.drop(columns="y"), filled.drop(columns="y"))


def test_whole_numbers_stay_whole_and_keep_their_dtype(frame, filled):
    moved = shifted(filled, frame.isna(), "n", 1.4, scale="units")

    assert moved["n"].dtype == "Int64"
    assert (moved.loc[frame["n"].isna(), "n"] == 5).all()


@given(delta=st.floats(-3, 3), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
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


def test_no_shift_changes_nothing(frame, filled):
    missing = frame.isna()
    pd.testing.assert_frame_equal(shifted(filled, missing, "y", 0.0), filled)
    pd.testing.assert_frame_equal(shifted(filled, missing, "n", 0.0), filled)
    pd.testing.assert_frame_equal(shifted(filled, missing, "kind", 0.0, category="a"), filled)


def test_cells_that_turned_stay_turned(frame, filled):
    missing = frame.isna()
    little, more = (shifted(filled, missing, "kind", d, category="b")["kind"] for d in (2.0, 4.0))

    assert (more[little == "b"] == "b").all()
    assert (more == "b").sum() > (little == "b").sum() > (filled["kind"] == "b").sum()
    assert little.dtype == filled["kind"].dtype


def test_tipping_point_of_a_mean_is_where_its_interval_ends_at_the_null(frame, filled):
    curve = tipping_point(frame, filled, "y", ("mean", "y"), deltas=np.linspace(-4, 4, 9))

    holes = frame["y"].isna().to_numpy()
    step = frame["y"].std()
    t = stats.t.ppf(0.975, len(frame) - 1)

    def lower_end(delta):
        y = filled["y"].to_numpy() + delta * step * holes
        return y.mean() - t * y.std(ddof=1) / np.sqrt(len(y))

    exact = optimize.brentq(lower_end, -4, 0)
    assert curve.tipping == pytest.approx(exact, abs=0.002)
    assert lower_end(curve.tipping) <= 0
    assert (curve.tipping_down, curve.tipping_up) == (curve.tipping, None)
    assert curve.sentence.startswith("The mean of y lies above 0; no longer if the filled cells")
    assert f"lower by {abs(exact):.3g} standard deviations" in curve.sentence


def test_the_curve_is_conclusion_stability_of_the_shifted_table(frame, filled):
    spec = ("slope", "y", "x", "kind")
    curve = tipping_point(frame, filled, "y", spec, deltas=[-1.0, 0.7])

    assert curve.table["delta"].tolist() == [-1.0, 0.0, 0.7]
    for row in curve.table.itertuples():
        table = shifted(filled, frame.isna(), "y", row.delta)
        found = conclusion_stability(frame, spec, {"it": table}).iloc[-1]
        assert (row.estimate, row.low, row.high) == pytest.approx(
            (found["estimate"], found["low"], found["high"])
        )


def test_categories_among_the_controls_whatever_they_are_called(frame, filled):
    codes = pd.Series(np.arange(120) % 3, dtype=float)
    renamed = {"kind": "k", "x": "k is b"}
    frame, filled = (t.rename(columns=renamed).assign(code=codes) for t in (frame, filled))
    spec = ("slope", "y", "n", "k", "k is b", "code")
    schema = Schema.infer(frame, roles={"code": "categorical"})

    curve = tipping_point(frame, filled, "y", spec, deltas=[1.0], schema=schema)

    moved = shifted(filled, frame.isna(), "y", 1.0)
    found = conclusion_stability(frame, spec, {"it": moved}, schema=schema).iloc[-1]
    assert curve.table["estimate"].iloc[-1] == pytest.approx(found["estimate"])
    assert curve.table["low"].iloc[-1] == pytest.approx(found["low"])


def test_a_conclusion_that_stands_says_so(frame, filled):
    curve = tipping_point(frame, filled, "y", ("correlation", "x", "y"), deltas=[-0.2, 0.2])

    assert curve.tipping is None
    assert (curve.table["conclusion"] == "above").all()
    assert curve.sentence == (
        "The correlation of x and y lies above 0 for all shifts from -0.2 to "
        "0.2 standard deviations."
    )


def test_an_open_question_may_become_decided(frame, filled):
    mean = filled["y"].mean()

    curve = tipping_point(frame, filled, "y", Estimand("mean", ("y",)), null=mean)

    assert curve.table.set_index("delta").loc[0.0, "conclusion"] == "open"
    assert curve.tipping_down < 0 < curve.tipping_up
    assert "cannot be told from" in curve.sentence
    assert "but it can if" in curve.sentence


def test_draws_are_pooled_and_whole_numbers_move_exactly(frame, filled):
    draws = [filled.assign(n=filled["n"].where(frame["n"].notna(), k)) for k in (3, 4, 5)]

    pooled = tipping_point(frame, draws, "n", ("mean", "n"), deltas=[0.1], scale="units")
    single = tipping_point(frame, filled, "n", ("mean", "n"), deltas=[0.1], scale="units")

    share = frame["n"].isna().mean()
    first, second = pooled.table["estimate"]
    assert second - first == pytest.approx(0.1 * share)
    width = (pooled.table["high"] - pooled.table["low"])[0]
    assert width > (single.table["high"] - single.table["low"])[0]


def test_the_share_of_a_boolean_tips_by_its_odds(frame, filled):
    spec = ("mean", "smoker")
    curve = tipping_point(
        frame, filled, "smoker", spec, category=True, null=0.5, deltas=np.arange(7.0)
    )

    assert curve.table["estimate"].is_monotonic_increasing
    assert curve.table["conclusion"].tolist()[0] == "below"
    assert curve.tipping_up is not None
    assert "odds of True among the filled cells of smoker" in curve.sentence


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"column": "x"}, "has no filled cells"),
        ({"column": "kind"}, "holds labels"),
        ({"column": "y", "scale": "inches"}, "scale must be"),
        ({"column": "kind", "category": "z"}, "no odds to shift"),
    ],
)
def test_shifts_that_make_no_sense(frame, filled, arguments, message):
    with pytest.raises(ScoringError, match=message):
        shifted(filled, frame.isna(), delta=1.0, **arguments)


def test_a_column_that_does_not_vary_has_no_standard_deviation():
    table = pd.DataFrame({"x": [1.0, 1.0, 2.0]})
    missing = pd.DataFrame({"x": [False, False, True]})
    with pytest.raises(ScoringError, match="shift it in units"):
        shifted(table, missing, "x", 1.0)


def test_tipping_points_that_make_no_sense(frame, filled):
    with pytest.raises(ScoringError, match="does not depend on n"):
        tipping_point(frame, filled, "n", ("mean", "y"))
    with pytest.raises(ScoringError, match="no column z"):
        tipping_point(frame, filled, "y", ("slope", "y", "z"))
    with pytest.raises(ScoringError, match="no filled table"):
        tipping_point(frame, [], "y", ("mean", "y"))
    with pytest.raises(ScoringError, match="holds labels"):
        tipping_point(frame, filled, "kind", ("mean", "kind"))
