"""A Gaussian of numbers as they are, as a second opinion."""

import numpy as np
import pandas as pd
import pytest
from pmae_core.imputers.masked._own_scale import OwnScale, best_share

from pmae_core.imputers import PMAENetworkImputer, load_imputer
from pmae_core.table.scaling import fit_scaler


def long_tails(n, unit=1.0, seed=0):
    """Return two columns with long tails, the second a straight line of the first."""
    rng = np.random.default_rng(seed)
    first = np.exp(2 * rng.normal(size=n))
    return unit * np.column_stack([first, 3 * first + rng.exponential(size=n)])


def fitted(numbers, n_categories=(0, 0)):
    scalers = [fit_scaler(column, "rank") for column in numbers.T]
    scores = np.column_stack([s.scale(c) for s, c in zip(scalers, numbers.T, strict=True)])
    scores = scores.astype(np.float32)
    kept = np.ones(scores.shape, dtype=bool)
    kept[::2, 1] = False
    rng = np.random.default_rng(0)
    return OwnScale.fit(scores, kept, n_categories, scalers, rng), scores, kept


@pytest.mark.parametrize("unit", [1.0, -1.0, 1e-300, 1e303])
def test_it_knows_straight_lines_of_numbers_of_any_size(unit):
    numbers = long_tails(2000, unit)
    own_scale, scores, kept = fitted(numbers)
    expected = own_scale.numbers(scores, kept)
    missing = ~kept[:, 1]
    ratio = expected[missing, 1] / numbers[missing, 1]
    large = np.abs(numbers[missing, 0] / unit) > 20
    np.testing.assert_allclose(ratio[large], 1, atol=0.1)
    assert np.isfinite(expected).all()


def test_expectations_stay_inside_the_observed_range():
    numbers = long_tails(500)
    own_scale, scores, _ = fitted(numbers)
    scores[0, 0] = 1.0
    nothing = np.zeros(scores.shape, dtype=bool)
    nothing[0, 0] = True
    expected = own_scale.numbers(scores, nothing)
    assert numbers.min() <= expected.min() and expected.max() <= numbers.max()


def test_held_out_cells_teach_how_much_it_counts():
    numbers = long_tails(2000)
    own_scale, scores, kept = fitted(numbers)
    expected = own_scale.numbers(scores, kept)
    middle = np.full_like(scores, 0.5)
    taught = own_scale.learn_shares(middle, expected, scores, ~kept)
    assert taught.shares[0] == 0  # no cell of it is held out
    assert taught.shares[1] > 0.9
    mixed = taught.mix(middle, expected)
    np.testing.assert_array_equal(mixed[:, 0], middle[:, 0])
    missing = ~kept[:, 1]
    errors = np.abs(mixed - scores)[missing, 1].mean(), np.abs(middle - scores)[missing, 1].mean()
    assert errors[0] < 0.5 * errors[1]
    right = own_scale.learn_shares(scores, expected, scores, ~kept)
    assert not right.shares.any()
    few = ~kept & (np.arange(len(kept)) < 50)[:, None]
    assert not own_scale.learn_shares(middle, expected, scores, few).shares.any()


def test_a_share_that_does_not_help_elsewhere_counts_for_nothing():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=1000)
    assert best_share(errors, 10 * rng.normal(size=1000)) < 0.02
    assert best_share(errors, np.zeros(1000)) == 0
    assert best_share(errors, -errors) == 0
    assert best_share(errors, errors) == 1
    lucky = np.zeros(10)
    lucky[0] = 1.0
    assert best_share(np.eye(10)[0] * 5 - 0.1, lucky) == 0


def test_codes_of_categories_are_seen_and_not_answered():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=600)
    numbers = 100.0 * codes + rng.normal(size=600)
    scaler = fit_scaler(numbers, "rank")
    values = np.column_stack([codes, scaler.scale(numbers)]).astype(np.float32)
    kept = np.ones(values.shape, dtype=bool)
    kept[:100, 1] = False
    own_scale = OwnScale.fit(values, kept, [3, 0], [None, scaler], rng)
    expected = own_scale.numbers(values, kept)
    assert np.isnan(expected[:, 0]).all()
    np.testing.assert_allclose(expected[:100, 1], 100 * codes[:100], atol=5)


def test_an_imputer_imputes_long_tails_better_and_keeps_what_it_learned(tmp_path):
    truth = pd.DataFrame(long_tails(3000), columns=["first", "second"])
    truth["third"] = np.random.default_rng(1).normal(size=3000)
    table = truth.copy()
    missing = np.random.default_rng(2).random(3000) < 0.3
    table.loc[missing, "second"] = np.nan
    errors = {}
    for own in (False, True):
        imputer = PMAENetworkImputer(
            preset="fast", steps=20, correct_means=own, device="cpu", random_state=0
        ).fit(table)
        imputed = imputer.transform(table)
        errors[own] = np.square(imputed["second"] - truth["second"])[missing].mean()
    assert errors[True] < 0.5 * errors[False]
    assert imputer.network_.calibration.own_scale.shares[1] > 0
    imputer.save(tmp_path / "model.safetensors")
    again = load_imputer(tmp_path / "model.safetensors").transform(table)
    pd.testing.assert_frame_equal(again, imputed)
