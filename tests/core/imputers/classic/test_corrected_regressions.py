"""Drawn regressions that forests correct."""

import numpy as np
import pytest

from pmae_core.imputers.classic._corrected_regressions import (
    CorrectedLinear,
    CorrectedLogistic,
    ForestSettings,
    ResidualForest,
)

SETTINGS = ForestSettings(n_trees=10, max_depth=8, max_features=1.0, max_samples=None)


def test_noise_is_hardly_corrected_and_a_curve_is():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    noise = rng.normal(size=(400, 1))
    assert ResidualForest.fit(x, noise, rng, SETTINGS).share < 0.4
    curve = x[:, :1] ** 2 - 1
    forest = ResidualForest.fit(x, curve + 0.1 * noise, rng, SETTINGS)
    assert forest.share > 0.8
    assert np.corrcoef(forest.predict(x)[:, 0], curve[:, 0])[0, 1] > 0.9


def test_rows_are_predicted_by_trees_that_have_not_learned_from_them():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(200, 3)), rng.normal(size=(200, 1))
    deep = ForestSettings(20, max_depth=20, max_features=1.0, max_samples=None, min_samples_leaf=1)
    forest = ResidualForest.fit(x, noise, rng, deep)
    own = np.mean([tree.predict(x.astype(np.float32)) for tree in forest.trees], axis=0)
    assert np.corrcoef(own, noise[:, 0])[0, 1] > 0.6
    assert abs(np.corrcoef(forest.unseen[:, 0], noise[:, 0])[0, 1]) < 0.3


def test_a_tree_learns_from_few_rows_only():
    rng = np.random.default_rng(0)
    few = ForestSettings(3, max_depth=8, max_features=1.0, max_samples=30)
    forest = ResidualForest.fit(rng.normal(size=(500, 1)), rng.normal(size=(500, 1)), rng, few)
    assert max(tree.tree_.n_node_samples[0] for tree in forest.trees) <= 30


@pytest.mark.parametrize(("n_features", "n_targets"), [(0, 1), (2, 0)])
def test_nothing_to_learn_is_no_correction(n_features, n_targets):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, n_features))
    forest = ResidualForest.fit(x, rng.normal(size=(9, n_targets)), rng, SETTINGS)
    assert forest.predict(x).shape == (9, n_targets)
    assert not forest.predict(x).any()


def test_numbers_follow_a_curve_and_are_copies():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(600, 1))
    y = x[:, 0] ** 2 + 0.2 * rng.normal(size=600)
    model = CorrectedLinear.fit(x[:400], y[:400], rng, n_candidates=5, settings=SETTINGS)
    drawn = model.draw(x[400:], rng)
    assert set(drawn) <= set(y)
    assert np.corrcoef(drawn, y[400:])[0, 1] > 0.85


def test_categories_follow_a_curve():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(900, 1))
    codes = np.where(np.abs(x[:, 0]) < 0.7, 0, np.where(np.abs(x[:, 0]) < 1.4, 1, 2))
    is_code = (codes[:, None] == [1, 2]).astype(float)
    model = CorrectedLogistic.fit(x[:600], is_code[:600], rng, settings=SETTINGS)
    drawn = model.draw(x[600:], rng)
    assert (drawn == codes[600:]).mean() > 0.75
