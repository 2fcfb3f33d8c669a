"""MissForest against scikit-learn's own forests in its own chain."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers.classic.missforest import MissForestImputer
from pmae_core.imputers.classic.naive import NaiveImputer
from tests.support.correlated import correlated_table, min_max, r2, undo_min_max

N_TREES = 30


def by_scikit_learn(incomplete: np.ndarray, seed: int, rounds: int) -> np.ndarray:
    """Return the imputation by scikit-learn's chained equations over its random forests."""
    chain = IterativeImputer(
        RandomForestRegressor(N_TREES, max_features="sqrt", random_state=seed),
        max_iter=rounds,
        tol=0,
        skip_complete=True,
        random_state=seed,
    )
    return undo_min_max(chain.fit_transform(min_max(incomplete)), incomplete)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_agrees_with_scikit_learn_on_numbers():
    """The distance to scikit-learn's imputation is that between two of its own seeds."""
    truth, incomplete = correlated_table(0, n=150, d=5)
    imputer = MissForestImputer(n_trees=N_TREES, random_state=0)
    imputed = imputer.fit_transform(incomplete)
    first, second = (by_scikit_learn(incomplete, s, imputer.n_rounds_) for s in (0, 1))
    missing = np.isnan(incomplete)
    to_scikit_learn = np.sqrt(np.square(imputed - first)[missing].mean())
    between_seeds = np.sqrt(np.square(second - first)[missing].mean())
    assert to_scikit_learn < 1.3 * between_seeds
    assert abs(r2(truth, imputed, incomplete) - r2(truth, first, incomplete)) < 0.03


def test_one_forest_is_exactly_scikit_learns():
    """One column with missing cells and one round: a forest, grown in slices or not."""
    truth, _ = correlated_table(1, n=80, d=4)
    incomplete = truth.copy()
    incomplete[:15, 2] = np.nan
    imputer = MissForestImputer(n_trees=25, max_iter=1, random_state=0).fit(incomplete)
    scaled = min_max(incomplete).astype(np.float32)
    forest = RandomForestRegressor(
        25, max_features="sqrt", random_state=imputer._forest_seed(1, 2)
    ).fit(np.delete(scaled[15:], 2, axis=1), scaled[15:, 2])
    expected = forest.predict(np.delete(scaled[:15], 2, axis=1))
    low, high = np.nanmin(incomplete[:, 2]), np.nanmax(incomplete[:, 2])
    imputed = imputer.transform(incomplete)[:15, 2]
    np.testing.assert_allclose(imputed, expected * (high - low) + low, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_explains_much_where_columns_are_correlated(seed):
    truth, incomplete = correlated_table(seed)
    imputer = MissForestImputer(n_trees=10, max_iter=3, random_state=0)
    assert r2(truth, imputer.fit_transform(incomplete), incomplete) > 0.5


def test_sees_what_no_line_can():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=300)
    table = pd.DataFrame({"x": x, "y": x**2, "far": np.where(np.abs(x) > 0.5, "yes", "no")})
    missing = rng.random(len(x)) < 0.2
    incomplete = table.mask(np.column_stack([np.zeros_like(missing), missing, missing]))
    imputed = MissForestImputer(n_trees=20, random_state=0).fit_transform(incomplete)
    naive = NaiveImputer().fit_transform(incomplete)
    error = (imputed["y"] - table["y"])[missing].abs().mean()
    assert error < 0.3 * (naive["y"] - table["y"])[missing].abs().mean()
    assert (imputed["far"] == table["far"])[missing].mean() > 0.9


def test_stops_when_the_change_grows_and_returns_the_round_before():
    _, incomplete = correlated_table(2, n=100, d=4)
    long = MissForestImputer(n_trees=5, max_iter=10, random_state=0).fit(incomplete)
    assert 1 <= long.n_rounds_ < 10
    short = MissForestImputer(n_trees=5, max_iter=long.n_rounds_, random_state=0)
    np.testing.assert_array_equal(short.fit_transform(incomplete), long.transform(incomplete))


def test_new_rows_are_imputed_even_in_columns_that_had_no_missing_cells():
    truth, incomplete = correlated_table(3, n=300)
    fitted = incomplete[:200].copy()
    fitted[:, 0] = truth[:200, 0]
    imputer = MissForestImputer(n_trees=10, max_iter=2, random_state=0).fit(fitted)
    new = incomplete[200:]
    imputed = imputer.transform(new)
    assert np.isnan(new[:, 0]).any()
    assert r2(truth[200:, :1], imputed[:, :1], new[:, :1]) > 0.3
    assert r2(truth[200:], imputed, new) > 0.5


def test_the_cap_on_samples_makes_smaller_trees():
    _, incomplete = correlated_table(4)
    capped, whole = (
        MissForestImputer(n_trees=3, max_iter=1, max_samples=cap, random_state=0)
        for cap in (20, None)
    )
    for imputer in (capped, whole):
        imputer.fit(incomplete)
    frame = pd.DataFrame(incomplete, columns=[f"x{j}" for j in range(6)])
    encoded = capped.encoder_.transform(frame)
    sizes = [
        imputer._grow(encoded, imputer._completed, encoded.observed, 0, 0)[0].tree_.node_count
        for imputer in (capped, whole)
    ]
    assert sizes[0] < 40 < sizes[1]


def test_cancelling_works_inside_a_forest():
    _, incomplete = correlated_table(5)
    asked = []

    def cancel() -> bool:
        asked.append(1)
        return len(asked) == 4

    events = []
    with pytest.raises(Cancelled):
        MissForestImputer(n_trees=100).fit(incomplete, callbacks=[events.append], cancel=cancel)
    assert not events


@pytest.mark.parametrize("params", [{"n_trees": 0}, {"max_iter": 0}])
def test_senseless_numbers_are_refused(params):
    with pytest.raises(ImputationError, match="must be at least 1, not 0"):
        MissForestImputer(**params).fit(correlated_table(0)[1])


def test_one_column_is_refused():
    with pytest.raises(ImputationError, match="at least two"):
        MissForestImputer().fit(correlated_table(0)[1][:, :1])
