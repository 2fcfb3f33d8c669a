"""MICE against scikit-learn's own."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import BayesianRidge

from pmae_core.errors import Cancelled, ImputationError, ImputationWarning
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


def test_numbers_are_copied_from_observed_cells_or_drawn_between_them():
    _, incomplete = correlated_table(2)
    missing = np.isnan(incomplete[:, 0])
    seen = incomplete[~missing, 0]

    def distances(**params) -> np.ndarray:
        (draw,) = MICEImputer(random_state=0, **params).fit(incomplete).sample(incomplete, 1)
        return np.abs(draw[missing, 0, None] - seen).min(axis=1)

    assert distances().max() < 1e-5
    assert np.median(distances(numbers="normal")) > 1e-5


def test_an_imputation_does_not_depend_on_how_many_there_are():
    _, incomplete = correlated_table(2)
    imputer = MICEImputer(random_state=0).fit(incomplete)
    np.testing.assert_array_equal(
        imputer.sample(incomplete, 1)[0], imputer.sample(incomplete, 3)[0]
    )


def labeled_table(n: int = 400) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table with a rare middle category, and the same with missing cells."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    group = np.array(["high", "low", "middle"])[np.digitize(x + rng.normal(size=n), [-0.2, 0.2])]
    complete = pd.DataFrame({"x": x, "group": group, "y": x + (group == "middle")})
    missing = rng.random((n, 3)) < [0.2, 0.3, 0]
    return complete, complete.mask(missing)


def test_categories_keep_their_shares_whatever_their_codes():
    complete, incomplete = labeled_table()
    missing = incomplete["group"].isna()
    draws = MICEImputer(random_state=0).fit(incomplete).sample(incomplete, 10)
    drawn = pd.concat(draw.loc[missing, "group"] for draw in draws).value_counts(normalize=True)
    truth = complete.loc[missing, "group"].value_counts(normalize=True)
    assert (drawn - truth).abs().max() < 0.08


def test_new_rows_are_drawn_from_the_chains_of_the_fitted_table():
    complete, incomplete = labeled_table()
    fitted = incomplete[:300].assign(x=complete["x"][:300])
    imputer = MICEImputer(random_state=0).fit(fitted)
    new = incomplete[300:]
    draws = imputer.sample(new, 10)
    missing = new["x"].isna()
    mean = np.mean([draw.loc[missing, "x"] for draw in draws], axis=0)
    assert np.corrcoef(mean, complete["x"][300:][missing])[0, 1] > 0.8
    assert not any(draw.isna().any(axis=None) for draw in draws)
    assert not draws[0].equals(draws[1])


def test_more_columns_than_rows_are_no_obstacle():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(40, 2))
    truth = factors @ rng.normal(size=(2, 60)) + 0.3 * rng.normal(size=(40, 60))
    incomplete = np.where(rng.random(truth.shape) < 0.1, np.nan, truth)
    imputer = MICEImputer(max_iter=2, n_nearest_features=5, random_state=0).fit(incomplete)
    for nearest in (5, None):
        imputer.set_params(n_nearest_features=nearest)
        assert r2(truth, np.mean(imputer.sample(incomplete, 3), axis=0), incomplete) > 0.5


def test_columns_that_determine_each_other_are_no_obstacle():
    x = np.random.default_rng(0).normal(size=100)
    table = np.column_stack([x, 2 * x, np.where(x > 0, x, 0), np.ones(100)])
    incomplete = table.copy()
    incomplete[:20, 0] = incomplete[20:40, 1] = np.nan
    draw = MICEImputer(random_state=0).fit(incomplete).sample(incomplete, 1)[0]
    assert r2(table[:, :2], draw[:, :2], incomplete[:, :2]) > 0.9


@pytest.mark.parametrize("shape", [(1, 3), (2, 10), (10, 2)])
def test_tiny_tables_are_drawn_too(shape):
    tiny = pd.DataFrame(np.random.default_rng(0).normal(size=shape)).add_prefix("c")
    tiny.iloc[0, 0] = np.nan
    tiny["label"] = ["a", *"b" * (len(tiny) - 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImputationWarning)
        draw = MICEImputer().fit(tiny).sample(tiny, 1)[0]
    assert not draw.loc[:, tiny.notna().any()].isna().any(axis=None)


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
