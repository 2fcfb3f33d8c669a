import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer

from pmae_core.table.scaling import MAX_KNOTS, NUMERIC_SCALINGS, fit_scaler, scaler_from_dict

two_or_more_numbers = (
    st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=2, max_size=60)
    .map(np.array)
    .filter(lambda numbers: np.ptp(numbers) > 1e-3)
)


def through_float32(scores):
    return scores.astype(np.float32).astype(np.float64)


@given(two_or_more_numbers)
def test_rank_is_exactly_invertible_through_float32(numbers):
    scaler = fit_scaler(numbers, "rank")
    scores = scaler.scale(numbers)
    assert scores.min() == 0
    assert scores.max() == 1
    np.testing.assert_array_equal(scaler.unscale(through_float32(scores)), numbers)


@given(two_or_more_numbers, st.sampled_from(["standard", "minmax"]))
def test_linear_scalings_are_invertible_up_to_float32(numbers, scaling):
    scaler = fit_scaler(numbers, scaling)
    back = scaler.unscale(through_float32(scaler.scale(numbers)))
    np.testing.assert_allclose(back, numbers, rtol=0, atol=2e-6 * np.ptp(numbers))


@given(two_or_more_numbers, st.sampled_from(NUMERIC_SCALINGS))
def test_unscaled_numbers_stay_in_the_observed_range(numbers, scaling):
    scaler = fit_scaler(numbers, scaling)
    back = scaler.unscale(np.array([-1e6, -0.1, 0.0, 0.3, 1.0, 1.1, 1e6]))
    assert (back >= numbers.min()).all()
    assert (back <= numbers.max()).all()
    assert (np.diff(back) >= 0).all()


@given(two_or_more_numbers, st.sampled_from(NUMERIC_SCALINGS))
def test_json_round_trip_is_exact(numbers, scaling):
    scaler = fit_scaler(numbers, scaling)
    back = scaler_from_dict(json.loads(json.dumps(scaler.to_dict())))
    scores = scaler.scale(numbers)
    np.testing.assert_array_equal(back.scale(numbers), scores)
    np.testing.assert_array_equal(back.unscale(scores), scaler.unscale(scores))


@pytest.mark.parametrize("count", [5, 100, 1000, 7000])
@pytest.mark.parametrize("ties", [False, True])
def test_quantile_gives_the_numbers_of_scikit_learn(count, ties):
    numbers = np.random.default_rng(0).gamma(2.0, size=count)
    numbers = np.floor(numbers) if ties else numbers
    n_quantiles = min(max(min(count // 30, 1000), 10), count)
    theirs = QuantileTransformer(
        n_quantiles=n_quantiles, output_distribution="normal", subsample=None
    ).fit_transform(numbers[:, None])
    theirs = MinMaxScaler().fit_transform(theirs)[:, 0]
    ours = fit_scaler(numbers, "quantile").scale(numbers)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_rank_scores_look_normal():
    numbers = np.random.default_rng(0).exponential(size=5000)
    scaler = fit_scaler(numbers, "rank")
    assert len(scaler.values) == MAX_KNOTS
    scores = scaler.scale(numbers)
    skewness = ((scores - scores.mean()) ** 3).mean() / scores.std() ** 3
    assert abs(skewness) < 0.05
    np.testing.assert_allclose(np.median(scores), 0.5, atol=0.01)


def test_thinned_rank_knots_keep_integers_of_moderate_range():
    numbers = np.random.default_rng(0).integers(0, 200_000, 20_000).astype(float)
    scaler = fit_scaler(numbers, "rank")
    back = scaler.unscale(through_float32(scaler.scale(numbers)))
    np.testing.assert_array_equal(np.rint(back), numbers)


def test_rare_neighbors_among_many_ties_stay_apart():
    numbers = np.repeat([0.0, 1.0, 2.0, 3.0], [1_000_000, 1, 1, 1_000_000])
    scaler = fit_scaler(numbers, "rank")
    four = np.array([0.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(scaler.unscale(through_float32(scaler.scale(four))), four)


def test_nan_stays_nan():
    for scaling in NUMERIC_SCALINGS:
        assert np.isnan(fit_scaler(np.array([1.0, 2.0]), scaling).scale(np.array([np.nan])))[0]


@pytest.mark.parametrize("scaling", ["rank", "minmax"])
def test_a_range_wider_than_the_largest_number_is_scaled(scaling):
    shares = np.linspace(-1, 1, 60)
    huge, plain = (fit_scaler(unit * shares, scaling) for unit in (1.7e308, 1.0))
    between = np.linspace(-0.999, 0.999, 500)

    scores = huge.scale(1.7e308 * between)

    np.testing.assert_allclose(scores, plain.scale(between), atol=1e-9)
    np.testing.assert_allclose(huge.unscale(scores) / 1.7e308, between, atol=1e-5)
