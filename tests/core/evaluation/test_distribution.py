import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pmae_core.errors import ScoringError
from pmae_core.evaluation.distribution import energy_distance, energy_score


def test_one_dimension_agrees_with_scipy():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=70), rng.exponential(size=50)
    expected = stats.energy_distance(x, y)
    assert energy_distance(x[:, None], y[:, None]) == pytest.approx(expected)


def test_numbers_are_scaled_by_the_true_column():
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"x": rng.normal(size=50)})
    imputed = truth + rng.normal(size=(50, 1))
    everything = truth.notna()
    scale = np.ptp(truth["x"])
    expected = stats.energy_distance(truth["x"] / scale, imputed["x"] / scale)
    assert energy_score(truth, imputed, everything) == pytest.approx(expected)
    assert energy_score(truth * 1000, imputed * 1000, everything) == pytest.approx(expected)


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
