"""GAIN on correlated data and on new rows."""

import numpy as np
import pytest

from pmae_core.imputers.neural.gain import GAINImputer
from tests.support.correlated import correlated_table, r2


@pytest.fixture(scope="module")
def fits():
    """Five seeds: the truth, the table with missing cells, and the fitted imputer."""
    found = []
    for seed in range(5):
        truth, incomplete = correlated_table(seed, n=150)
        imputer = GAINImputer(iterations=500, random_state=seed).fit(incomplete)
        found.append((truth, incomplete, imputer))
    return found


def test_beats_the_mean_on_average(fits):
    scores = [r2(truth, imputer.transform(x), x) for truth, x, imputer in fits]
    # Adversarial training is unstable: a single seed may fail, the average may not.
    assert np.mean(scores) > 0.25


def test_the_generator_learns_to_repeat_observed_cells(fits):
    for *_, imputer in fits:
        assert len(imputer.losses_) == 500
        assert np.mean(imputer.losses_[-50:]) < 0.5 * np.mean(imputer.losses_[:10])


def test_a_new_row_is_imputed_in_the_same_way_alone_and_among_others(fits):
    _, incomplete, imputer = fits[0]
    together = imputer.transform(incomplete)
    incomplete_row = int(np.flatnonzero(np.isnan(incomplete).any(axis=1))[0])
    alone = imputer.transform(incomplete[[incomplete_row]])
    np.testing.assert_allclose(alone[0], together[incomplete_row], rtol=1e-5)
