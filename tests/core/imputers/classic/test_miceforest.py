"""MiceForest: its matching, its imputations and their aggregate."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers.classic._mean_matching import match
from pmae_core.imputers.classic.miceforest import MiceForestImputer
from tests.support.correlated import correlated_table, r2

SMALL = {"n_datasets": 3, "n_rounds": 3, "n_trees": 8, "random_state": 0}


@given(
    candidates=st.lists(st.floats(-5, 5), min_size=1, max_size=12),
    wanted=st.floats(-6, 6),
    n_nearest=st.integers(1, 6),
)
def test_matching_picks_one_of_the_nearest(candidates, wanted, n_nearest):
    candidates = np.sort(candidates)
    place = match(candidates, np.array([wanted]), n_nearest, np.random.default_rng(0))[0]
    distances = np.abs(candidates - wanted)
    assert distances[place] <= np.sort(distances)[: min(n_nearest, len(candidates))].max()


def test_all_of_the_nearest_have_a_chance():
    places = match(np.arange(10.0), np.full(200, 4.2), 5, np.random.default_rng(0))
    assert set(places) == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("seed", range(5))
def test_explains_much_where_columns_are_correlated(seed):
    truth, incomplete = correlated_table(seed)
    assert r2(truth, MiceForestImputer(**SMALL).fit_transform(incomplete), incomplete) > 0.4


def test_each_draw_copies_observed_cells_and_the_imputation_is_their_mean():
    _, incomplete = correlated_table(1)
    imputer = MiceForestImputer(**SMALL).fit(incomplete)
    for draw in imputer.sample(incomplete, 2):
        for j in range(incomplete.shape[1]):
            seen = incomplete[~np.isnan(incomplete[:, j]), j]
            distance = np.abs(draw[:, j, None] - seen).min(axis=1)
            assert distance.max() < 1e-5
    missing = np.isnan(incomplete)
    mean = np.mean(imputer.sample(incomplete, 15), axis=0)[missing]
    imputed = imputer.transform(incomplete)[missing]
    assert np.corrcoef(mean, imputed)[0, 1] > 0.9


def test_draws_spread_as_the_truth_does():
    truth, incomplete = correlated_table(2, n=300)
    imputer = MiceForestImputer(**{**SMALL, "n_trees": 20}).fit(incomplete)
    missing = np.isnan(incomplete)
    draws = np.stack(imputer.sample(incomplete, 10))[:, missing]
    error = np.sqrt(np.square(draws.mean(axis=0) - truth[missing]).mean())
    assert np.sqrt(draws.var(axis=0, ddof=1).mean()) == pytest.approx(error, rel=0.25)


def test_categories_get_the_most_frequent_draw():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    truth = np.where(x > 0.5, "high", np.where(x < -0.5, "low", "middle"))
    table = pd.DataFrame({"x": x, "level": truth})
    missing = rng.random(200) < 0.2
    table.loc[missing, "level"] = None
    imputed = MiceForestImputer(**SMALL).fit_transform(table)
    assert (imputed["level"] == truth)[missing].mean() > 0.9


def test_new_rows_are_imputed_even_in_columns_that_had_no_missing_cells():
    truth, incomplete = correlated_table(3, n=300)
    fitted = incomplete[:200].copy()
    fitted[:, 0] = truth[:200, 0]
    imputer = MiceForestImputer(**SMALL).fit(fitted)
    new = incomplete[200:]
    assert np.isnan(new[:, 0]).any()
    assert r2(truth[200:], imputer.transform(new), new) > 0.4


def test_progress_counts_every_forest():
    truth, incomplete = correlated_table(4, n=60)
    incomplete[:, 0] = truth[:, 0]
    events = []
    MiceForestImputer(**SMALL).fit(incomplete, callbacks=[events.append])
    # Five columns with missing cells in two rounds, all six in the last.
    assert len(events) == events[-1].total == 3 * (2 * 5 + 6)


def test_cancelling_works_between_forests():
    _, incomplete = correlated_table(5)
    events = []
    with pytest.raises(Cancelled):
        MiceForestImputer(**SMALL).fit(
            incomplete, callbacks=[events.append], cancel=lambda: len(events) == 2
        )
    assert len(events) == 2


def test_one_column_is_refused():
    with pytest.raises(ImputationError, match="at least two"):
        MiceForestImputer().fit(correlated_table(0)[1][:, :1])
