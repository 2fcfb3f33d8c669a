"""One estimate under every way of handling missing values."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pmae_core.errors import Cancelled, ImputationError, ScoringError
from pmae_core.evaluation.sources import COMPLETE_CASES, TRUE_DATA
from pmae_core.imputers import imputer_info, make_imputer
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic.naive import NaiveImputer
from pmae_core.inference.pooling import pool_estimates
from pmae_core.inference.stability import SINGLE, conclusion_stability


class Broken(BaseImputer):
    def __init__(self, *, schema=None, random_state=None):
        self.schema = schema
        self.random_state = random_state

    def fit(self, X, y=None, **kwargs):
        raise RuntimeError("boom")


@pytest.fixture(scope="module")
def truth() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 150
    x = rng.normal(size=n)
    group = rng.choice(["p", "q", "r"], n)
    return pd.DataFrame(
        {
            "x": x,
            "y": 1.5 * x + 2.0 * (group == "q") + rng.normal(size=n),
            "z": 0.5 * x + rng.normal(size=n),
            "group": group,
            "smoker": pd.array(rng.random(n) < 0.3, dtype="boolean"),
        }
    )


@pytest.fixture(scope="module")
def frame(truth) -> pd.DataFrame:
    # Large y are missing more often, so complete cases are biased and x can mend it.
    rng = np.random.default_rng(1)
    missing = rng.random(len(truth)) < 1 / (1 + np.exp(-2 * truth["x"]))
    return truth.assign(y=truth["y"].mask(missing))


def one(table: pd.DataFrame, spec: tuple, **options) -> pd.Series:
    """Return the row of complete cases."""
    found = conclusion_stability(table, spec, [], **options)
    assert len(found) == 1
    return found.iloc[0]


def test_a_mean_has_the_interval_of_the_t_test(truth):
    row = one(truth, ("mean", "x"))
    expected = stats.ttest_1samp(truth["x"], 0).confidence_interval(0.95)
    assert row["estimate"] == pytest.approx(truth["x"].mean())
    assert (row["low"], row["high"]) == pytest.approx(tuple(expected))
    assert row["std_error"] == pytest.approx(stats.sem(truth["x"]))
    assert row["df"] == 149
    narrow = one(truth, ("mean", "x"), confidence=0.5)
    assert narrow["high"] - narrow["low"] < row["high"] - row["low"]
    assert one(truth, ("mean", "smoker"))["estimate"] == pytest.approx(truth["smoker"].mean())


def test_a_correlation_has_fishers_interval(truth):
    row = one(truth, ("correlation", "x", "z"))
    expected = stats.pearsonr(truth["x"], truth["z"])
    assert row["estimate"] == pytest.approx(expected.statistic)
    assert (row["low"], row["high"]) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert row["std_error"] == pytest.approx((1 - row["estimate"] ** 2) / math.sqrt(147))


def test_a_slope_is_that_of_least_squares(truth):
    row = one(truth, ("slope", "z", "x"))
    expected = stats.linregress(truth["x"], truth["z"])
    assert row["estimate"] == pytest.approx(expected.slope)
    assert row["std_error"] == pytest.approx(expected.stderr)
    reach = stats.t.ppf(0.975, 148) * expected.stderr
    assert (row["low"], row["high"]) == pytest.approx(
        (expected.slope - reach, expected.slope + reach)
    )


def test_controls_may_be_categories(truth):
    row = one(truth, ("slope", "y", "x", "group", "smoker"))
    dummies = [truth["group"] == "q", truth["group"] == "r", truth["smoker"]]
    design = np.column_stack([truth["x"], np.ones(150), *dummies]).astype(float)
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ truth["y"].to_numpy()
    residuals = truth["y"] - design @ coefficients
    assert row["estimate"] == pytest.approx(coefficients[0])
    assert row["std_error"] == pytest.approx(math.sqrt(residuals @ residuals / 145 * inverse[0, 0]))
    assert row["df"] == 145
    assert row["estimand"] == "slope of y on x given group and smoker"


def test_imputations_are_pooled_and_mend_what_complete_cases_get_wrong(truth, frame):
    found = conclusion_stability(
        frame, ("mean", "y"), ["mice", "naive"], truth=truth, n_imputations=10
    ).set_index("method")
    assert list(found.index) == [COMPLETE_CASES, TRUE_DATA, "mice", "naive"]
    assert found["kind"].tolist() == [COMPLETE_CASES, "reference", "pooled", "single"]
    target = found.loc[TRUE_DATA, "estimate"]
    assert abs(found.loc["mice", "estimate"] - target) < 0.5 * abs(
        found.loc[COMPLETE_CASES, "estimate"] - target
    )
    assert found.loc["mice", "low"] < target < found.loc["mice", "high"]
    assert not found.loc[COMPLETE_CASES, "low"] < target < found.loc[COMPLETE_CASES, "high"]
    # A single imputation has a smaller standard error than pooled ones.
    assert found.loc["naive", "std_error"] < found.loc["mice", "std_error"]
    assert found.loc["naive", "note"] == SINGLE
    assert found.loc["mice", "n_imputations"] == 10
    assert 0 < found.loc["mice", "missing_information"] < 1
    assert found.loc["mice", "df"] < 149
    assert "10 imputations by Rubin's rules" in found.loc["mice", "note"]
    n_seen = frame["y"].notna().sum()
    assert found.loc[COMPLETE_CASES, "note"] == f"rows with no missing value in y: {n_seen} of 150"


@pytest.mark.parametrize("is_proper", [True, False])
def test_intervals_of_improper_imputations_are_called_too_narrow(frame, monkeypatch, is_proper):
    known = replace(imputer_info("em"), is_proper=is_proper)
    monkeypatch.setattr("pmae_core.inference.stability.imputer_info", lambda _: known)
    sources = {"name": "em", "imputer": make_imputer("em"), "tables": [frame.fillna(0)] * 2}
    found = conclusion_stability(frame, ("mean", "y"), sources, n_imputations=2)
    notes = found.set_index("method")["note"]
    assert ["one fitted model" in notes[name] for name in ("name", "imputer")] == [
        not is_proper
    ] * 2
    assert "is not known" in notes["tables"]


def test_given_imputations_are_pooled_as_computed_by_hand(truth):
    imputations = [truth.assign(x=truth["x"] + shift) for shift in (0.0, 0.3, 0.6)]
    row = conclusion_stability(truth, ("mean", "x"), {"mine": imputations}).iloc[1]
    pooled = pool_estimates(
        [d["x"].mean() for d in imputations], [d["x"].var() / 150 for d in imputations], 149
    )
    assert row["estimate"] == pytest.approx(pooled.estimate)
    assert row["std_error"] == pytest.approx(math.sqrt(pooled.total))
    reach = stats.t.ppf(0.975, pooled.df) * math.sqrt(pooled.total)
    assert row["high"] == pytest.approx(pooled.estimate + reach)
    # Correlations are pooled on Fisher's scale.
    noisy = [truth.assign(x=truth["x"] + s * truth["z"]) for s in (0.0, 0.5, 1.0)]
    row = conclusion_stability(truth, ("correlation", "x", "z"), {"mine": noisy}).iloc[1]
    z = np.mean([np.arctanh(d["x"].corr(d["z"])) for d in noisy])
    assert row["estimate"] == pytest.approx(np.tanh(z))


def test_several_estimands_one_fit_each_and_plain_data(frame):
    asked = [("mean", "y"), ("correlation", "x", "y"), ("slope", "y", "x", "group")]
    fits = []

    class Counting(NaiveImputer):
        def fit(self, X, y=None, **kwargs):
            fits.append(1)
            return super().fit(X, y, **kwargs)

    found = conclusion_stability(frame, asked, {"counting": Counting()})
    assert len(fits) == 1
    assert found["estimand"].tolist() == [
        "mean of y", "mean of y", "correlation of x and y", "correlation of x and y",
        "slope of y on x given group", "slope of y on x given group",
    ]  # fmt: skip
    assert set(found["status"]) == {"done"}
    records = json.loads(found.to_json(orient="records"))
    assert records[0]["n_rows"] == frame["y"].notna().sum()


def test_same_seed_same_rows(frame):
    runs = [conclusion_stability(frame, ("mean", "y"), ["mice"], n_imputations=3) for _ in range(2)]
    pd.testing.assert_frame_equal(*runs)
    other = conclusion_stability(frame, ("mean", "y"), ["mice"], n_imputations=3, seed=1)
    assert other.loc[1, "estimate"] != runs[0].loc[1, "estimate"]


def test_a_failure_is_a_row_with_its_reason(frame):
    found = conclusion_stability(
        frame, [("mean", "y"), ("mean", "x")], {"broken": Broken(), "unimputed": frame}
    ).set_index(["estimand", "method"])
    assert (
        found.loc[("mean of y", "broken"), "error"]
        == "The method failed unexpectedly: RuntimeError: boom"
    )
    assert "'y' has missing or infinite" in found.loc[("mean of y", "unimputed"), "error"]
    assert np.isnan(found.loc[("mean of y", "unimputed"), "estimate"])
    assert found.loc[("mean of x", "unimputed"), "status"] == "done"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (("mean", "group"), "'group' holds labels, but numbers are needed"),
        (("correlation", "x", "same"), "constant column"),
        (("slope", "y", "x", "twice"), "are collinear"),
        (("mean", "seldom"), "at least 2 rows, but there is 1"),
        (("correlation", "x", "seldom"), "at least 4 rows"),
        (("slope", "x", "seldom"), "needs more rows than that, but there is 1"),
    ],
)
def test_what_has_no_estimate_says_why(truth, spec, sentence):
    odd = truth.assign(same=1.0, twice=2 * truth["x"], seldom=truth["x"].where(truth.index == 0))
    row = one(odd, spec)
    assert row["status"] == "failed"
    assert sentence in row["error"]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (("median", "x"), "is not an estimand"),
        ((("mean",),), "A mean needs one column"),
        (("correlation", "x"), "two columns"),
        (("slope", "y"), "an outcome and a predictor"),
        (("slope", "y", "x", "x"), "named twice"),
        (("mean", "nothing"), "no column nothing"),
        ([], "at least one estimand"),
    ],
)
def test_impossible_estimands(truth, spec, sentence):
    with pytest.raises(ScoringError, match=sentence):
        conclusion_stability(truth, spec, ["naive"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_imputations": 1}, "n_imputations must be at least 2"),
        ({"confidence": 95}, "confidence must be between 0 and 1"),
        ({"methods": {TRUE_DATA: "naive"}}, "reserved for a reference row"),
        ({"methods": {"short": pd.DataFrame({"x": [1.0]})}}, "not have the same rows"),
    ],
)
def test_impossible_settings(truth, options, sentence):
    with pytest.raises((ScoringError, ImputationError), match=sentence):
        conclusion_stability(truth, ("mean", "x"), **{"methods": ["naive"], **options})


def test_progress_and_cancel(frame):
    events = []
    conclusion_stability(frame, ("mean", "y"), ["naive", "em"], callbacks=[events.append])
    assert [(event.done, event.total) for event in events] == [(1, 2), (2, 2)]
    with pytest.raises(Cancelled):
        conclusion_stability(frame, ("mean", "y"), ["naive"], cancel=lambda: True)


def test_complete_cases_can_be_left_out(frame):
    usual = conclusion_stability(frame, ("mean", "y"), ["naive"])

    alone = conclusion_stability(frame, ("mean", "y"), ["naive"], complete_cases=False)

    assert usual["method"].tolist() == [COMPLETE_CASES, "naive"]
    assert alone["method"].tolist() == ["naive"]
    assert alone["estimate"].iloc[0] == usual["estimate"].iloc[1]
