"""What a regression on one table refuses."""

import numpy as np
import pytest

from pmae_core.errors import AnalysisError
from pmae_core.inference.fitting import RegressionData, fit_regression


@pytest.fixture
def design() -> np.ndarray:
    x = np.random.default_rng(0).normal(size=60)
    return np.column_stack([np.ones(60), x])


def data(outcome, design, **more) -> RegressionData:
    names = ["Intercept", "x", "z", "w"][: design.shape[1]]
    return RegressionData(np.asarray(outcome, float), design, names, **more)


def test_an_ordinary_regression_by_hand(design):
    y = design @ [1.0, 2.0] + np.random.default_rng(1).normal(size=60)
    fit = fit_regression("ols", data(y, design))

    bread = np.linalg.inv(design.T @ design)
    expected = bread @ design.T @ y
    np.testing.assert_allclose(fit.estimates, expected)
    residual = np.sum((y - design @ expected) ** 2) / 58
    np.testing.assert_allclose(fit.covariance, residual * bread)
    assert (fit.df_complete, fit.df_alone, fit.n_rows) == (58, 58, 60)


def test_determined_columns_are_named(design):
    more = np.column_stack([design, 3 * design[:, 1] - 2])

    with pytest.raises(AnalysisError, match=r"is determined by .*: the terms are collinear"):
        fit_regression("ols", data(np.arange(60), more))


def test_columns_of_zeros_are_named(design):
    more = np.column_stack([design, np.zeros(60)])

    with pytest.raises(AnalysisError, match="z is 0 in every row"):
        fit_regression("ols", data(np.arange(60), more))


def test_a_constant_is_collinear_in_a_cox_regression(design):
    with pytest.raises(AnalysisError, match="collinear"):
        fit_regression("cox", data(np.arange(60), design[:, :1], event=np.ones(60)))


def test_large_numbers_are_not_collinear(design):
    x = design[:, 1]
    more = np.column_stack([np.ones(60), 1e6 + x, 1e-6 * x**2])

    assert np.isfinite(fit_regression("ols", data(x, more)).estimates).all()


def test_too_few_rows_are_refused(design):
    with pytest.raises(AnalysisError, match="2 coefficients cannot be estimated from 2 rows"):
        fit_regression("ols", data([1, 2], design[:2]))


@pytest.mark.filterwarnings("error")
def test_separation_is_refused(design):
    with pytest.raises(AnalysisError, match="separate the two outcomes perfectly"):
        fit_regression("logistic", data(design[:, 1] > 0, design))


def test_separation_by_one_rare_category_is_refused(design):
    rare = np.zeros(60)
    rare[:4] = 1
    outcome = (np.arange(60) % 2).astype(float)
    outcome[:4] = 1

    with pytest.raises(AnalysisError, match="separate the two outcomes"):
        fit_regression("logistic", data(outcome, np.column_stack([design, rare])))


def test_probabilities_near_their_bounds_are_no_separation(design):
    x = np.concatenate([np.linspace(-3, 3, 59), [400.0]])
    outcome = (np.sin(np.arange(60)) + x > 0).astype(float)

    fit = fit_regression("logistic", data(outcome, np.column_stack([np.ones(60), x])))

    assert np.isfinite(fit.estimates).all()


def test_a_rate_of_zero_is_refused(design):
    rare = (np.arange(60) < 5).astype(float)
    counts = np.where(rare > 0, 0, np.arange(60) % 4)

    with pytest.raises(AnalysisError, match="A rate is estimated as 0"):
        fit_regression("poisson", data(counts, np.column_stack([design, rare])))


def test_one_cluster_is_too_few(design):
    with pytest.raises(AnalysisError, match="All rows are in one cluster"):
        fit_regression("ols", data(np.arange(60), design, clusters=np.zeros(60)), "cluster")


def test_errors_of_one_cluster_per_row_are_hc1_but_for_the_factor(design):
    y = design[:, 1] + np.random.default_rng(2).normal(size=60)
    alone = fit_regression("ols", data(y, design, clusters=np.arange(60)), "cluster")
    robust = fit_regression("ols", data(y, design), "HC1")

    np.testing.assert_allclose(alone.covariance, robust.covariance)


def test_numbers_that_are_too_large_do_not_converge(design):
    with pytest.raises(AnalysisError, match="did not converge"):
        fit_regression("poisson", data([0] * 59 + [1e300], design))
