"""SoftImpute: its optimality conditions, and what it is for."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import ImputationError
from pmae_core.imputers.classic.softimpute import SoftImputeImputer, _moments, _regress_on_factors
from tests.support.correlated import correlated_table, r2


def solve(incomplete, shrinkage):
    """Return the low-rank table on standardized columns, and its residual on observed cells."""
    observed = ~np.isnan(incomplete)
    imputer = SoftImputeImputer(shrinkage=shrinkage, max_iter=5000, tol=1e-12).fit(incomplete)
    encoded = imputer.encoder_.transform(_frame(incomplete))
    center, scale = _moments(encoded.values, observed)
    table = np.where(observed, (encoded.values - center) / scale, 0.0)
    low_rank = _regress_on_factors(table, observed, imputer._factors, imputer.shrinkage_)
    return low_rank, np.where(observed, table - low_rank, 0.0), imputer


def _frame(array):
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])


@pytest.mark.parametrize("shape", [(60, 6), (12, 20)])
@pytest.mark.parametrize("shrinkage", [1.0, 4.0])
def test_the_solution_is_optimal(shape, shrinkage):
    """Residual = shrinkage * (U V' + W), with W orthogonal to U, V and no longer than 1."""
    _, incomplete = correlated_table(0, n=shape[0], d=shape[1])
    low_rank, residual, imputer = solve(incomplete, shrinkage)
    u, singular, v = np.linalg.svd(low_rank, full_matrices=False)
    rank = imputer.rank_
    assert rank > 0
    assert (singular[rank:] < 1e-6).all()
    subgradient = residual / shrinkage
    np.testing.assert_allclose(u[:, :rank].T @ subgradient, v[:rank], atol=1e-3)
    np.testing.assert_allclose(subgradient @ v[:rank].T, u[:, :rank], atol=1e-3)
    assert np.linalg.norm(subgradient, ord=2) <= 1 + 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_explains_much_where_columns_are_correlated(seed):
    truth, incomplete = correlated_table(seed)
    imputed = SoftImputeImputer(random_state=0).fit_transform(incomplete)
    assert r2(truth, imputed, incomplete) > 0.4


def test_unrelated_columns_are_imputed_near_their_mean():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(300, 6))
    incomplete = np.where(rng.random(truth.shape) < 0.2, np.nan, truth)
    imputer = SoftImputeImputer(random_state=0).fit(incomplete)
    assert r2(truth, imputer.transform(incomplete), incomplete) > -0.05


def test_the_chosen_shrinkage_is_a_good_one():
    truth, incomplete = correlated_table(1)
    chosen = SoftImputeImputer(random_state=0).fit(incomplete)
    scores = [
        r2(truth, SoftImputeImputer(shrinkage=s).fit_transform(incomplete), incomplete)
        for s in np.geomspace(0.1, 30, 8)
    ]
    assert r2(truth, chosen.transform(incomplete), incomplete) > max(scores) - 0.05


def test_new_rows_get_what_they_would_have_got_among_the_fitted():
    _, incomplete = correlated_table(2)
    imputer = SoftImputeImputer(random_state=0).fit(incomplete)
    np.testing.assert_allclose(
        imputer.transform(incomplete[:9]), imputer.transform(incomplete)[:9], atol=1e-6
    )


def test_overwhelming_shrinkage_leaves_the_mean():
    _, incomplete = correlated_table(3)
    imputer = SoftImputeImputer(shrinkage=1e6).fit(incomplete)
    assert imputer.rank_ == 0
    missing = np.isnan(incomplete)
    means = np.broadcast_to(np.nanmean(incomplete, axis=0), incomplete.shape)
    np.testing.assert_allclose(imputer.transform(incomplete)[missing], means[missing], atol=1e-5)


@pytest.mark.parametrize("params", [{"shrinkage": 0.0}, {"holdout_share": 1.0}, {"max_iter": 0}])
def test_senseless_numbers_are_refused(params):
    with pytest.raises(ImputationError, match=next(iter(params))):
        SoftImputeImputer(**params).fit(correlated_table(0)[1])
