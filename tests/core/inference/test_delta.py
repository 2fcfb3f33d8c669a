"""The shift of imputed values at which a conclusion changes."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from pmae_core.errors import ScoringError
from pmae_core.inference import shifted, tipping_point
from pmae_core.inference.estimands import Estimand
from pmae_core.inference.stability import conclusion_stability
from pmae_core.table import Schema


def test_tipping_point_of_a_mean_is_where_its_interval_ends_at_the_null(frame, imputed):
    curve = tipping_point(frame, imputed, "y", ("mean", "y"), deltas=np.linspace(-4, 4, 9))

    missing = frame["y"].isna().to_numpy()
    step = frame["y"].std()
    t = stats.t.ppf(0.975, len(frame) - 1)

    def lower_end(delta):
        y = imputed["y"].to_numpy() + delta * step * missing
        return y.mean() - t * y.std(ddof=1) / np.sqrt(len(y))

    exact = optimize.brentq(lower_end, -4, 0)
    assert curve.tipping == pytest.approx(exact, abs=0.002)
    assert lower_end(curve.tipping) <= 0
    assert (curve.tipping_down, curve.tipping_up) == (curve.tipping, None)
    assert curve.sentence.startswith(
        "The 95% confidence interval of the mean of y lies above 0. This changes if the imputed "
    )
    assert f"lower by {abs(exact):.3g} standard deviations" in curve.sentence


def test_the_curve_is_conclusion_stability_of_the_shifted_table(frame, imputed):
    spec = ("slope", "y", "x", "kind")
    curve = tipping_point(frame, imputed, "y", spec, deltas=[-1.0, 0.7])

    assert curve.table["delta"].tolist() == [-1.0, 0.0, 0.7]
    for row in curve.table.itertuples():
        table = shifted(imputed, frame.isna(), "y", row.delta)
        found = conclusion_stability(frame, spec, {"it": table}).iloc[-1]
        assert (row.estimate, row.low, row.high) == pytest.approx(
            (found["estimate"], found["low"], found["high"])
        )


def test_categories_among_the_controls_whatever_they_are_called(frame, imputed):
    codes = pd.Series(np.arange(120) % 3, dtype=float)
    renamed = {"kind": "k", "x": "k is b"}
    frame, imputed = (t.rename(columns=renamed).assign(code=codes) for t in (frame, imputed))
    spec = ("slope", "y", "n", "k", "k is b", "code")
    schema = Schema.infer(frame, roles={"code": "categorical"})

    curve = tipping_point(frame, imputed, "y", spec, deltas=[1.0], schema=schema)

    moved = shifted(imputed, frame.isna(), "y", 1.0)
    found = conclusion_stability(frame, spec, {"it": moved}, schema=schema).iloc[-1]
    assert curve.table["estimate"].iloc[-1] == pytest.approx(found["estimate"])
    assert curve.table["low"].iloc[-1] == pytest.approx(found["low"])


def test_a_conclusion_that_holds_says_so(frame, imputed):
    curve = tipping_point(frame, imputed, "y", ("correlation", "x", "y"), deltas=[-0.2, 0.2])

    assert curve.tipping is None
    assert (curve.table["conclusion"] == "above").all()
    assert curve.sentence == (
        "The 95% confidence interval of the correlation of x and y lies above 0 for all shifts "
        "from -0.2 to 0.2 standard deviations."
    )


def test_an_open_question_may_become_decided(frame, imputed):
    mean = imputed["y"].mean()

    curve = tipping_point(frame, imputed, "y", Estimand("mean", ("y",)), null=mean)

    assert curve.table.set_index("delta").loc[0.0, "conclusion"] == "open"
    assert curve.tipping_down < 0 < curve.tipping_up
    assert "the mean of y includes" in curve.sentence
    assert "This changes if" in curve.sentence


def test_imputations_are_pooled_and_whole_numbers_move_exactly(frame, imputed):
    imputations = [imputed.assign(n=imputed["n"].where(frame["n"].notna(), k)) for k in (3, 4, 5)]

    pooled = tipping_point(frame, imputations, "n", ("mean", "n"), deltas=[0.1], scale="units")
    single = tipping_point(frame, imputed, "n", ("mean", "n"), deltas=[0.1], scale="units")

    share = frame["n"].isna().mean()
    first, second = pooled.table["estimate"]
    assert second - first == pytest.approx(0.1 * share)
    width = (pooled.table["high"] - pooled.table["low"])[0]
    assert width > (single.table["high"] - single.table["low"])[0]


def test_the_share_of_a_boolean_tips_by_its_odds(frame, imputed):
    spec = ("mean", "smoker")
    curve = tipping_point(
        frame, imputed, "smoker", spec, category=True, null=0.5, deltas=np.arange(7.0)
    )

    assert curve.table["estimate"].is_monotonic_increasing
    assert curve.table["conclusion"].tolist()[0] == "below"
    assert curve.tipping_up is not None
    assert "odds of True in each imputed cell of smoker" in curve.sentence


def test_tipping_points_that_make_no_sense(frame, imputed):
    with pytest.raises(ScoringError, match="does not depend on n"):
        tipping_point(frame, imputed, "n", ("mean", "y"))
    with pytest.raises(ScoringError, match="no column z"):
        tipping_point(frame, imputed, "y", ("slope", "y", "z"))
    with pytest.raises(ScoringError, match="no imputed table"):
        tipping_point(frame, [], "y", ("mean", "y"))
    with pytest.raises(ScoringError, match="holds labels"):
        tipping_point(frame, imputed, "kind", ("mean", "kind"))
