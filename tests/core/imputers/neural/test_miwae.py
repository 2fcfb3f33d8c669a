"""MIWAE on correlated data, its density against scipy's, and its draws."""

import numpy as np
import pytest
import torch
from scipy import stats

from pmae_core.imputers.neural._miwae_network import _student_log_density
from pmae_core.imputers.neural.miwae import MIWAEImputer
from tests.support.correlated import correlated_table, r2


def test_the_density_is_students():
    rng = np.random.default_rng(0)
    x, location = rng.normal(size=(2, 50))
    scale, degrees = rng.random((2, 50)) + 0.5
    arrays = [torch.from_numpy(array) for array in (x, location, scale, degrees)]
    expected = stats.t.logpdf(x, degrees, location, scale)
    np.testing.assert_allclose(_student_log_density(*arrays).numpy(), expected)


@pytest.mark.parametrize("seed", range(5))
def test_beats_the_mean(seed):
    truth, incomplete = correlated_table(seed, n=150)
    imputer = MIWAEImputer(epochs=200, random_state=seed).fit(incomplete)
    assert r2(truth, imputer.transform(incomplete), incomplete) > 0.4
    assert np.mean(imputer.losses_[-10:]) < np.mean(imputer.losses_[:10]) - 1


@pytest.fixture(scope="module")
def twins():
    """Two nearly equal columns and one that has nothing to do with them."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    truth = np.column_stack([x, x + 0.05 * rng.normal(size=300), rng.normal(size=300)])
    incomplete = truth.copy()
    incomplete[:60, 1] = np.nan
    incomplete[60:120, 2] = np.nan
    return truth, incomplete, MIWAEImputer(epochs=250, random_state=0).fit(incomplete)


def test_draws_spread_where_the_table_does_not_know(twins):
    truth, incomplete, imputer = twins
    draws = np.stack(imputer.sample(incomplete, 20, random_state=0))
    known, unknown = draws[:, :60, 1], draws[:, 60:120, 2]
    assert known.std(axis=0).mean() < 0.5 * truth[:, 1].std()
    assert unknown.std(axis=0).mean() == pytest.approx(truth[:, 2].std(), rel=0.3)
    assert np.corrcoef(known.mean(axis=0), truth[:60, 1])[0, 1] > 0.9


def test_new_rows_are_imputed_by_what_was_learned(twins):
    _, _, imputer = twins
    new = np.array([[1.5, np.nan, 0.0], [-1.5, np.nan, 0.0]])
    high, low = imputer.transform(new)[:, 1]
    assert high > 0.7
    assert low < -0.7


def test_max_steps_bounds_the_training(twins):
    _, incomplete, _ = twins
    imputer = MIWAEImputer(epochs=100, batch_size=100, max_steps=7, random_state=0)
    assert len(imputer.fit(incomplete).losses_) == 7
