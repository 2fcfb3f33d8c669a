"""Cox regression: by hand, against the definition of the partial likelihood, and at its bounds."""

import math

import numpy as np
import pytest

from pmae_core.errors import AnalysisError
from pmae_core.inference.cox import fit_cox


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(80, 2)) * [1.0, 10.0] + [0.0, 50.0]
    time = np.ceil(rng.exponential(np.exp(-design[:, 0]) * 4))
    return time, (rng.random(80) < 0.7).astype(float), design


def log_likelihood(estimates, time, event, design):
    """Efron's partial likelihood as textbooks write it."""
    risk = np.exp(design @ estimates)
    total = 0.0
    for at in np.unique(time[event > 0]):
        tied = (time == at) & (event > 0)
        for place in range(tied.sum()):
            left = risk[time >= at].sum() - place / tied.sum() * risk[tied].sum()
            total -= math.log(left)
        total += (design[tied] @ estimates).sum()
    return total


def test_the_maximum_is_that_of_the_likelihood(rows):
    fit = fit_cox(*rows)

    assert fit.log_likelihood == pytest.approx(log_likelihood(fit.estimates, *rows))
    for column in range(2):
        for step in (-1e-3, 1e-3):
            moved = fit.estimates.copy()
            moved[column] += step
            assert log_likelihood(moved, *rows) < fit.log_likelihood


def test_the_covariance_is_the_inverse_of_the_curvature(rows):
    fit = fit_cox(*rows)
    step = np.sqrt(np.diag(fit.covariance)) * 1e-3
    curvature = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                at = fit.estimates.copy()
                at[i] += a * step[i]
                at[j] += b * step[j]
                curvature[i, j] -= a * b * log_likelihood(at, *rows) / (4 * step[i] * step[j])

    np.testing.assert_allclose(np.linalg.inv(curvature), fit.covariance, rtol=1e-3)


def test_weights_of_two_halve_the_variance():
    rng = np.random.default_rng(1)
    time, design = rng.permutation(40) + 1.0, rng.normal(size=(40, 1))

    once = fit_cox(time, np.ones(40), design)
    twice = fit_cox(time, np.ones(40), design, np.full(40, 2.0))

    np.testing.assert_allclose(twice.estimates, once.estimates)
    np.testing.assert_allclose(twice.covariance, once.covariance / 2)


def test_the_unit_of_a_column_does_not_matter(rows):
    time, event, design = rows
    fit, scaled = fit_cox(time, event, design), fit_cox(time, event, design * [1e6, 1e-6] + 1e3)

    np.testing.assert_allclose(scaled.estimates * [1e6, 1e-6], fit.estimates, rtol=1e-6)


def test_an_infinite_hazard_ratio_is_refused():
    design = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])

    with pytest.raises(AnalysisError, match="did not converge: a hazard ratio"):
        fit_cox(np.arange(1.0, 7.0), np.array([1.0, 1, 1, 0, 0, 0]), design)
