import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pmae_core.errors import ScoringError
from pmae_core.evaluation.distribution import energy_distance, energy_score
from pmae_core.table import Schema


def test_one_dimension_agrees_with_scipy():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=70), rng.exponential(size=50)
    expected = stats.energy_distance(x, y)
    assert energy_distance(x[:, None], y[:, None]) == pytest.approx(expected)


def test_numbers_count_as_ranks_among_the_true_column():
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"x": rng.normal(size=50)})
    imputed = truth.sample(frac=1.0, replace=True, random_state=1).set_axis(truth.index)
    ranks = stats.rankdata(truth["x"])
    places = [ranks[truth["x"].to_list().index(value)] for value in imputed["x"]]
    expected = stats.energy_distance((ranks - 0.5) / 50, (np.array(places) - 0.5) / 50)
    everything = truth.notna()
    assert energy_score(truth, imputed, everything) == pytest.approx(expected)


@given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(-100, 100))
@settings(max_examples=20)
def test_units_and_monotone_transformations_do_not_matter(seed, scale, shift):
    rng = np.random.default_rng(seed)
    truth = pd.DataFrame({"x": rng.normal(size=30), "y": rng.normal(size=30)})
    imputed = truth + rng.normal(size=(30, 2))
    everything = truth.notna()
    expected = energy_score(truth, imputed, everything)
    assert energy_score(scale * truth + shift, scale * imputed + shift, everything) == (
        pytest.approx(expected)
    )
    assert energy_score(np.exp(truth), np.exp(imputed), everything) == pytest.approx(expected)


def test_one_outlier_does_not_excuse_imputing_the_mean():
    """Scaled by minimum and maximum, it shrank the penalty from 0.18 to 0.02."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    missing = pd.DataFrame({"x": rng.random(400) < 0.5})
    missing.loc[0, "x"] = False
    penalties = []
    for first in (0.0, 1000.0):
        truth = pd.DataFrame({"x": np.where(np.arange(400) == 0, first, x)})
        mean = truth["x"][~missing["x"]].iloc[1:].mean()
        penalties.append(energy_score(truth, truth.mask(missing, mean), missing))
    assert penalties[1] == pytest.approx(penalties[0], rel=0.05)
    assert penalties[1] > 0.1


def test_perfect_is_zero(complete):
    assert energy_score(complete, complete, complete.notna()) == 0


def test_different_categories_are_at_distance_one():
    truth = pd.DataFrame({"kind": ["a", "a", "b"]})
    imputed = pd.DataFrame({"kind": ["b", "b", "b"]})
    missing = pd.DataFrame({"kind": [True, True, False]})
    # All pairs of a true and a imputed row differ by 1, all others by 0.
    assert energy_score(truth, imputed, missing) == pytest.approx(np.sqrt(2))


def test_the_mean_is_worse_than_a_draw():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    truth = pd.DataFrame({"x": x, "y": x + rng.normal(size=400)})
    missing = pd.DataFrame({"x": False, "y": rng.random(400) < 0.5})
    by_mean = truth.assign(y=truth["y"].mask(missing["y"], x))
    by_draw = truth.assign(y=truth["y"].mask(missing["y"], x + rng.normal(size=400)))
    assert energy_score(truth, by_draw, missing) < 0.5 * energy_score(truth, by_mean, missing)


def test_cells_of_unknown_truth_do_not_count(complete):
    truth = complete.copy()
    truth.loc[:20, ["x", "kind"]] = None
    missing = pd.DataFrame(False, index=truth.index, columns=truth.columns).assign(y=True)
    for value, kind in ((0.0, "a"), (100.0, "b")):
        imputed = complete.assign(x=truth["x"].fillna(value), kind=truth["kind"].fillna(kind))
        assert energy_score(truth, imputed, missing) == 0


def test_many_rows_are_sampled_with_a_seed():
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"x": rng.normal(size=500)})
    imputed = truth + rng.normal(size=(500, 1))
    everything = truth.notna()
    whole = energy_score(truth, imputed, everything)
    first, again, other = (
        energy_score(truth, imputed, everything, max_rows=100, seed=seed) for seed in (0, 0, 1)
    )
    assert first == again != other
    assert first == pytest.approx(whole, rel=0.5)


def test_nothing_missing_is_refused(complete):
    with pytest.raises(ScoringError):
        energy_score(complete, complete, complete.isna())


def test_a_level_next_to_the_true_one_is_nearer_than_one_far_off():
    truth = pd.DataFrame({"size": ["small", "medium", "large"] * 10})
    missing = truth == "small"
    schema = Schema.infer(truth, {"size": "ordinal"})
    near, far = (
        energy_score(truth, truth.mask(missing, level), missing, schema)
        for level in ("medium", "large")
    )
    assert near < far
