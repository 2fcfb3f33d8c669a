"""Expectation maximization on tables."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.imputers.classic.em import EMImputer
from tests.support.correlated import correlated_table, r2


@pytest.mark.parametrize("seed", range(5))
def test_explains_much_where_columns_are_correlated(seed):
    truth, incomplete = correlated_table(seed)
    assert r2(truth, EMImputer().fit_transform(incomplete), incomplete) > 0.5


def test_a_linear_relation_is_imputed_exactly_and_for_new_rows_too():
    x = np.random.default_rng(0).random(100)
    table = np.column_stack([x, 3 - 2 * x])
    table[::4, 1] = np.nan
    imputer = EMImputer().fit(table)
    np.testing.assert_allclose(imputer.transform(table)[:, 1], 3 - 2 * x, atol=1e-2)
    np.testing.assert_allclose(imputer.transform([[0.5, np.nan]]), [[0.5, 2.0]], atol=1e-2)


def test_the_fit_does_not_depend_on_the_columns_unit():
    _, incomplete = correlated_table(1)
    unit = np.array([1e-3, 1, 10, 1e4, 1e6, 1])
    imputed = EMImputer().fit_transform(incomplete)
    np.testing.assert_allclose(
        EMImputer().fit_transform(incomplete * unit), imputed * unit, rtol=1e-3
    )


def test_draws_spread_around_the_mean_as_the_truth_does():
    truth, incomplete = correlated_table(2, n=400)
    imputer = EMImputer(random_state=0).fit(incomplete)
    missing = np.isnan(incomplete)
    draws = np.stack(imputer.sample(incomplete, 40))[:, missing]
    mean = imputer.transform(incomplete)[missing]
    error = np.sqrt(np.square(truth[missing] - mean).mean())
    assert draws.std(axis=0).mean() == pytest.approx(error, rel=0.25)
    assert np.abs(draws.mean(axis=0) - mean).mean() < 0.3 * error


def test_random_imputations_follow_a_curve_that_the_mean_cannot():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=400)
    table = np.column_stack([x, x**2 + 0.3 * rng.normal(size=400)])
    truth = table[::4, 1].copy()
    table[::4, 1] = np.nan
    imputer = EMImputer(random_state=0).fit(table)

    line = imputer.transform(table)[::4, 1]
    curve = np.mean([drawn[::4, 1] for drawn in imputer.sample(table, 20)], axis=0)

    assert np.corrcoef(line, truth)[0, 1] < 0.3
    assert np.corrcoef(curve, truth)[0, 1] > 0.9


def test_categories_come_back_as_categories():
    x = np.random.default_rng(0).normal(size=200)
    table = pd.DataFrame({"x": x, "sign": np.where(x > 0, "plus", "minus")})
    missing = table.index % 5 == 0
    table.loc[missing, "sign"] = None
    imputed = EMImputer().fit_transform(table)
    right = imputed["sign"] == np.where(x > 0, "plus", "minus")
    assert right[missing].mean() > 0.85
