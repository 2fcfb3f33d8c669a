"""Nearest neighbors against scikit-learn's own."""

import numpy as np
import pytest
from sklearn.impute import KNNImputer as SklearnKNNImputer

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers.classic import knn
from pmae_core.imputers.classic.knn import KNNImputer
from tests.support.correlated import correlated_table, min_max, r2, undo_min_max


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_agrees_with_scikit_learn_on_numbers(weights):
    _, incomplete = correlated_table(0)
    expected = SklearnKNNImputer(weights=weights).fit_transform(min_max(incomplete))
    imputed = KNNImputer(weights=weights).fit_transform(incomplete)
    np.testing.assert_allclose(imputed, undo_min_max(expected, incomplete), atol=1e-4)


def test_new_rows_agree_with_scikit_learn():
    _, incomplete = correlated_table(1)
    # The extremes are among the fitted rows, so that both scale alike.
    by_size = np.argsort(-np.nanmax(np.abs(incomplete - np.nanmean(incomplete, axis=0)), axis=1))
    fitted, new = incomplete[by_size[:150]], incomplete[by_size[150:]]
    low, high = np.nanmin(fitted, axis=0), np.nanmax(fitted, axis=0)
    expected = SklearnKNNImputer().fit((fitted - low) / (high - low))
    expected = expected.transform((new - low) / (high - low)) * (high - low) + low
    np.testing.assert_allclose(KNNImputer().fit(fitted).transform(new), expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_explains_much_where_columns_are_correlated(seed):
    truth, incomplete = correlated_table(seed)
    assert r2(truth, KNNImputer().fit_transform(incomplete), incomplete) > 0.5


def test_blocks_of_rows_change_nothing(monkeypatch):
    _, incomplete = correlated_table(2)
    whole = KNNImputer().fit_transform(incomplete)
    monkeypatch.setattr(knn, "_ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(KNNImputer().fit_transform(incomplete), whole)


def test_fewer_donors_are_still_good_ones():
    truth, incomplete = correlated_table(3, n=600)
    few = KNNImputer(max_donors=100, random_state=0)
    assert len(few.fit(incomplete)._neighbors._fit_X) == 100
    assert r2(truth, few.transform(incomplete), incomplete) > 0.5


def test_rarely_observed_columns_keep_their_donors():
    _, incomplete = correlated_table(4, n=400)
    incomplete[6:, 0] = np.nan
    incomplete[:6, 0] = np.linspace(0.05, 0.3, 6)
    imputer = KNNImputer(max_donors=50, random_state=0).fit(incomplete)
    donors = imputer._neighbors._fit_X
    assert (~np.isnan(donors[:, 0])).sum() >= 5
    assert imputer.transform(incomplete).shape == incomplete.shape


def test_cancelling_works_between_blocks(monkeypatch):
    monkeypatch.setattr(knn, "_ROWS_AT_ONCE", 10)
    _, incomplete = correlated_table(5)
    events = []
    with pytest.raises(Cancelled):
        KNNImputer().fit(incomplete, callbacks=[events.append], cancel=lambda: len(events) == 2)
    assert len(events) == 2


def test_senseless_numbers_are_refused():
    with pytest.raises(ImputationError, match="n_neighbors must be at least 1, not 0"):
        KNNImputer(n_neighbors=0).fit(correlated_table(0)[1])
