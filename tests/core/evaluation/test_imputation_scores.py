import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import ScoringError
from pmae_core.evaluation.imputation_scores import (
    category_score,
    cell_scores,
    ensemble_crps,
    expected_coverage,
    interval_ranks,
    mean_difference,
    score_imputations,
    spread_of,
)
from pmae_core.table import Schema

SEEDS = st.integers(0, 10_000)


def draws(rng, m, n, mean=0.0, sd=1.0):
    return rng.normal(mean, sd, size=(m, n))


def test_the_score_by_its_definition():
    values = np.random.default_rng(0).normal(size=(6, 9))
    truth = np.random.default_rng(1).normal(size=9)
    pairs = np.abs(values[:, None] - values[None]).sum(axis=(0, 1)) / (6 * 5)
    expected = np.abs(values - truth).mean(axis=0) - pairs / 2
    np.testing.assert_allclose(mean_difference(values), pairs)
    np.testing.assert_allclose(ensemble_crps(values, truth), expected)


@given(SEEDS, st.floats(-50, 50), st.floats(0.01, 100))
@settings(max_examples=30)
def test_crps_moves_with_the_unit_and_not_with_the_origin(seed, shift, scale):
    rng = np.random.default_rng(seed)
    values, truth = draws(rng, 5, 7), rng.normal(size=7)
    moved = ensemble_crps(shift + scale * values, shift + scale * truth)
    np.testing.assert_allclose(moved, scale * ensemble_crps(values, truth), atol=1e-9 * scale)
    again = ensemble_crps(rng.permutation(values, axis=0), truth)
    np.testing.assert_allclose(again, ensemble_crps(values, truth))


def test_one_imputation_is_scored_by_its_absolute_error():
    np.testing.assert_allclose(ensemble_crps(np.array([[1.0, -2.0]]), np.zeros(2)), [1, 2])


@pytest.mark.parametrize("m", [2, 5, 20])
def test_the_fair_score_does_not_depend_on_the_number_of_imputations(m):
    rng = np.random.default_rng(m)
    score = ensemble_crps(draws(rng, m, 40_000), rng.normal(size=40_000)).mean()
    # Of a normal distribution about itself: 1 / √π.
    assert score == pytest.approx(1 / np.sqrt(np.pi), abs=0.02)


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 0.5), (0.0, 1.6), (0.6, 1.0), (0.0, 0.0)])
def test_the_true_distribution_scores_best(mean, sd):
    """A point at the mean (SD 0) has the lowest squared error, and yet loses here."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20_000)
    perfect = ensemble_crps(draws(rng, 5, 20_000), truth).mean()
    assert perfect < ensemble_crps(draws(rng, 5, 20_000, mean, sd), truth).mean() - 0.01


@pytest.mark.parametrize("shares", [(1.0, 0.0, 0.0), (0.6, 0.2, 0.2), (1 / 3, 1 / 3, 1 / 3)])
@pytest.mark.parametrize("metric", ["brier", "distribution_skill", "log_score"])
def test_the_true_frequencies_score_best(shares, metric):
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"kind": rng.choice(list("abc"), 8000, p=[0.8, 0.15, 0.05])})
    missing = pd.DataFrame({"kind": np.arange(8000) < 6000})

    def score(p):
        tables = [truth.assign(kind=rng.choice(list("abc"), 8000, p=p)) for _ in range(10)]
        return score_imputations(truth, tables, missing).loc["kind", metric]

    better = 1 if metric == "distribution_skill" else -1
    assert better * score([0.8, 0.15, 0.05]) > better * score(shares)


def test_the_brier_score_of_one_imputation_is_the_share_of_errors():
    truth = pd.DataFrame({"x": ["a", "b", "b", "c"]})
    imputed = pd.Series(["a", "b", "a", "a"], name="x")
    scores = cell_scores(truth["x"], [imputed], Schema.infer(truth))
    assert scores.tolist() == [0, 0, 1, 1]


def test_the_brier_score_is_half_the_sum_of_squares_in_the_limit():
    shares = np.array([[0.5, 0.3, 0.2]])
    expected = ((shares - [[0, 1, 0]]) ** 2).sum() / 2
    assert category_score(shares, np.array([1]), 10**9)[0] == pytest.approx(expected)


@pytest.mark.parametrize("m", [2, 5, 10, 19, 20, 40])
def test_perfect_imputations_cover_as_often_as_expected(m):
    rng = np.random.default_rng(m)
    truth = pd.DataFrame({"x": rng.normal(size=20_000)})
    missing = pd.DataFrame({"x": np.arange(20_000) < 18_000})
    tables = [pd.DataFrame({"x": rng.normal(size=20_000)}) for _ in range(m)]
    scores = score_imputations(truth, tables, missing).loc["x"]
    assert scores["coverage"] == pytest.approx(expected_coverage(m), abs=0.015)


@given(st.integers(1, 2000))
def test_intervals_promise_ninety_percent_where_they_can(m):
    low, high = interval_ranks(m)
    assert 0 <= low <= high < m or m == 1
    assert low == m - 1 - high
    if m >= 19:
        assert 0.9 - 1e-9 <= expected_coverage(m) < 0.9 + 2 / (m + 1)
    else:
        assert (low, high) == (0, m - 1)


def test_random_observed_cells_have_no_skill_and_the_truth_has_all():
    rng = np.random.default_rng(0)
    truth = pd.DataFrame(
        {"x": rng.exponential(size=6000), "kind": rng.choice(["a", "b"], 6000, p=[0.9, 0.1])}
    )
    missing = pd.DataFrame(rng.random((6000, 2)) < 0.5, columns=truth.columns)
    random = [
        pd.DataFrame({name: rng.choice(truth[name], 6000) for name in truth}) for _ in range(5)
    ]
    skills = score_imputations(truth, random, missing)["distribution_skill"]
    np.testing.assert_allclose(skills, 0, atol=0.05)
    assert score_imputations(truth, [truth], missing)["distribution_skill"].tolist() == [1, 1]


@given(SEEDS)
@settings(max_examples=15)
def test_skill_does_not_depend_on_units_or_order(seed):
    rng = np.random.default_rng(seed)
    truth = pd.DataFrame({"x": rng.normal(size=40)})
    missing = pd.DataFrame({"x": rng.random(40) < 0.5}).assign()
    missing.iloc[:2] = [[True], [False]]
    tables = [pd.DataFrame({"x": rng.normal(size=40)}) for _ in range(4)]
    first = score_imputations(truth, tables, missing)
    other = score_imputations(
        truth * 1000 + 7, [one * 1000 + 7 for one in reversed(tables)], missing
    )
    np.testing.assert_allclose(other.to_numpy(float), first.to_numpy(float), rtol=1e-6)


def test_one_imputation_has_no_interval():
    truth = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    scores = score_imputations(truth, [truth], truth > 1).loc["x"]
    assert scores["crps"] == 0
    assert np.isnan(scores["coverage"])
    assert np.isnan(scores["width"])


def test_dates_are_scored_in_units_of_their_spread():
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=20)})
    missing = pd.DataFrame({"day": np.arange(20) % 2 == 0})
    late = days + pd.Timedelta(days=1)
    as_numbers = score_imputations(
        pd.DataFrame({"day": np.arange(20.0)}),
        [pd.DataFrame({"day": np.arange(20) + 1.0})],
        missing,
    )
    as_dates = score_imputations(days, [late], missing)
    assert as_dates.loc["day", "crps"] == pytest.approx(as_numbers.loc["day", "crps"])


def test_the_spread_ignores_an_outlier_and_never_is_zero():
    numbers = np.random.default_rng(0).normal(size=2000)
    assert spread_of(numbers) == pytest.approx(1, abs=0.1)
    assert spread_of(np.append(numbers, 1e6)) == pytest.approx(spread_of(numbers), rel=0.01)
    assert spread_of(np.array([0.0] * 9 + [10.0])) == pytest.approx(3)
    assert spread_of(np.zeros(4)) == spread_of(np.array([])) == 1


def test_no_imputation_is_refused():
    truth = pd.DataFrame({"x": [0.0, 1.0]})
    with pytest.raises(ScoringError, match="at least one"):
        score_imputations(truth, [], truth.notna())


def test_levels_are_scored_by_their_ranks():
    truth = pd.DataFrame({"size": ["small", "large", "medium", "small"]})
    missing = pd.DataFrame({"size": [True, True, False, False]})
    schema = Schema.infer(truth, {"size": "ordinal"})
    near, far = (truth.mask(missing, level) for level in ("medium", "large"))

    scores = score_imputations(truth, [near, far], missing, schema).loc["size"]

    ranks = pd.DataFrame({"size": truth["size"].map({"small": 0.0, "medium": 1.0, "large": 2.0})})
    as_numbers = score_imputations(
        ranks, [ranks.mask(missing, 1.0), ranks.mask(missing, 2.0)], missing, Schema.infer(ranks)
    ).loc["size"]
    pd.testing.assert_series_equal(scores, as_numbers)
    assert scores[["crps", "coverage"]].notna().all()
