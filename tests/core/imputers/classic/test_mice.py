"""MICE against scikit-learn's own."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import BayesianRidge

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers.classic.mice import MICEImputer
from tests.support.correlated import correlated_table, min_max, r2, undo_min_max


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_learn_on_numbers(seed):
    _, incomplete = correlated_table(seed)
    expected = IterativeImputer(BayesianRidge(), random_state=0).fit_transform(min_max(incomplete))
    imputed = MICEImputer(random_state=0).fit_transform(incomplete)
    np.testing.assert_allclose(imputed, undo_min_max(expected, incomplete), atol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_explains_much_where_columns_are_correlated(seed):
    truth, incomplete = correlated_table(seed)
    assert r2(truth, MICEImputer().fit_transform(incomplete), incomplete) > 0.5


def test_new_rows_are_imputed_by_the_fitted_chain():
    truth, incomplete = correlated_table(1, n=400)
    imputer = MICEImputer().fit(incomplete[:300])
    assert r2(truth[300:], imputer.transform(incomplete[300:]), incomplete[300:]) > 0.5


def test_draws_spread_around_the_mean_as_the_truth_does():
    truth, incomplete = correlated_table(2, n=300)
    imputer = MICEImputer(random_state=0).fit(incomplete)
    missing = np.isnan(incomplete)
    draws = np.stack(imputer.sample(incomplete, 20))[:, missing]
    error = np.sqrt(np.square(truth[missing] - imputer.transform(incomplete)[missing]).mean())
    assert draws.std(axis=0).mean() == pytest.approx(error, rel=0.3)


def test_reaching_the_last_round_is_told_by_an_attribute_not_a_warning(recwarn):
    _, incomplete = correlated_table(3)
    assert MICEImputer(max_iter=1, tol=1e-9).fit(incomplete).n_rounds_ == 1
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]


def test_cancelling_works_between_regressions():
    _, incomplete = correlated_table(4)
    events = []
    with pytest.raises(Cancelled):
        MICEImputer().fit(incomplete, callbacks=[events.append], cancel=lambda: len(events) == 3)
    assert len(events) == 3


def test_a_watched_fit_can_be_pickled():
    _, incomplete = correlated_table(5)
    imputer = MICEImputer().fit(incomplete, callbacks=[lambda event: None])
    again = pickle.loads(pickle.dumps(imputer))
    np.testing.assert_array_equal(again.transform(incomplete), imputer.transform(incomplete))


def test_one_column_is_refused():
    with pytest.raises(ImputationError, match="at least two"):
        MICEImputer().fit(correlated_table(0)[1][:, :1])
