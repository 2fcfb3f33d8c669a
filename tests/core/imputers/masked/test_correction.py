"""Corrections of predicted numbers toward their mean."""

import numpy as np
import pytest

from pmae_core.imputers import PMAENetworkImputer, load_imputer
from pmae_core.imputers.masked._correction import GRID_POINTS, correct, fit_correction
from pmae_core.table.scaling import fit_scaler


@pytest.fixture
def skewed():
    """Return a skewed column's scaler, the truth, and predictions of its median."""
    rng = np.random.default_rng(0)
    signal, noise = rng.normal(size=(2, 2000))
    numbers = np.exp(0.7 * (signal + noise))
    scaler = fit_scaler(numbers, "rank")
    return scaler, scaler.scale(numbers), scaler.scale(np.exp(0.7 * signal))


def squared_error(scaler, predicted, true):
    return np.square(scaler.unscale(predicted) - scaler.unscale(true)).mean()


def test_medians_become_means(skewed):
    scaler, true, medians = skewed
    learned, fresh = slice(0, 1000), slice(1000, None)
    correction = fit_correction(medians[learned], true[learned], scaler)
    corrected = correct(medians[fresh], correction, scaler)
    mean = scaler.unscale(true[fresh]).mean()
    assert scaler.unscale(medians[fresh]).mean() < 0.85 * mean
    assert scaler.unscale(corrected).mean() == pytest.approx(mean, rel=0.15)
    assert squared_error(scaler, corrected, true[fresh]) < 0.95 * squared_error(
        scaler, medians[fresh], true[fresh]
    )


def test_corrected_scores_stay_inside_the_observed_range(skewed):
    scaler, true, medians = skewed
    correction = fit_correction(medians, true, scaler)
    assert correction.shape == (GRID_POINTS,)
    assert 0 <= correction.min() <= correction.max() <= 1


@pytest.mark.parametrize("unit", [1e-300, 1e304])
def test_the_smallest_and_the_largest_numbers_are_corrected_alike(skewed, unit):
    scaler, true, medians = skewed
    extreme = fit_scaler(unit * scaler.unscale(true), "rank")
    correction = fit_correction(medians, true, extreme)
    np.testing.assert_allclose(correction, fit_correction(medians, true, scaler), atol=5e-3)


def test_nothing_is_learned_from_few_cells_or_from_good_predictions(skewed):
    scaler, true, medians = skewed
    assert fit_correction(medians[:29], true[:29], scaler) is None
    assert fit_correction(true, true, scaler) is None


def test_one_and_the_same_prediction_is_corrected_to_the_mean(skewed):
    scaler, true, _ = skewed
    middle = np.full(len(true), 0.5)
    corrected = correct(middle, fit_correction(middle, true, scaler), scaler)
    mean = scaler.unscale(true).mean()
    assert scaler.unscale(corrected)[0] == pytest.approx(mean, rel=0.05)


def test_an_imputer_imputes_means_if_asked_to_and_keeps_its_corrections(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    signal, noise = rng.normal(size=(2, 3000))
    table = pd.DataFrame({"signal": signal, "income": np.exp(0.7 * (signal + noise))})
    truth = table["income"].copy()
    missing = rng.random(3000) < 0.4
    table.loc[missing, "income"] = np.nan
    means = {}
    for corrected in (False, True):
        imputer = PMAENetworkImputer(
            preset="fast", steps=40, correct_means=corrected, device="cpu", random_state=0
        ).fit(table)
        imputed = imputer.transform(table)
        means[corrected] = imputed["income"][missing].mean()
    assert means[False] < 0.9 * truth[missing].mean()
    assert means[True] == pytest.approx(truth[missing].mean(), rel=0.1)
    imputer.save(tmp_path / "model.safetensors")
    pd.testing.assert_frame_equal(
        load_imputer(tmp_path / "model.safetensors").transform(table), imputed
    )
