"""Forests of one column: what each of them has not seen."""

import numpy as np
import pytest

from pmae_core.errors import ImputationError
from pmae_core.imputers.masked._forests import (
    N_FOLDS,
    ColumnForests,
    Growth,
    enough_trees,
    folds_of_rows,
)


def growth(n_trees: int = 20, n_jobs: int = 1, min_leaf: int | str = 1) -> Growth:
    return Growth(n_trees=n_trees, min_leaf=min_leaf, max_features=1.0, n_jobs=n_jobs)


def grow(inputs, target, fold, n_categories=0, how=None, advance=lambda _: None, seed=0):
    return ColumnForests.grow(
        inputs,
        target,
        fold,
        n_categories,
        how or growth(),
        seed,
        advance=advance,
    )


def noise(n: int = 400, n_inputs: int = 5):
    """Return inputs, a target that has nothing to do with them, and folds."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, n_inputs)), rng.random(n), folds_of_rows(n, rng)


def correlation(found: np.ndarray, target: np.ndarray) -> float:
    return float(np.corrcoef(found, target)[0, 1])


def test_a_fold_never_reaches_its_forest():
    inputs, target, fold = noise()
    forests = grow(inputs, target, fold)

    ordinary = forests.estimate(inputs)[:, 0]
    unseen = forests.estimate_unseen(inputs, fold)[:, 0]

    assert correlation(ordinary, target) > 0.9  # trees with leaves of one row know it by heart
    assert abs(correlation(unseen, target)) < 0.15


def test_classes_of_a_fold_never_reach_its_forest():
    inputs, target, fold = noise()
    codes = (target * 3).astype(int)
    forests = grow(inputs, codes, fold, n_categories=3)

    ordinary, unseen = forests.estimate(inputs), forests.estimate_unseen(inputs, fold)

    for likely in (ordinary, unseen):
        np.testing.assert_allclose(likely.sum(axis=1), 1)
    assert (ordinary.argmax(axis=1) == codes).mean() > 0.9
    assert (unseen.argmax(axis=1) == codes).mean() < 0.45


def test_unseen_estimates_are_good_where_there_is_something_to_learn():
    inputs, _, fold = noise()
    target = inputs[:, 0] ** 2
    forests = grow(inputs, target, fold)

    assert correlation(forests.estimate_unseen(inputs, fold)[:, 0], target) > 0.9


@pytest.mark.parametrize("n_trees", [1, 3, 5, 12, 100])
def test_forests_have_as_many_trees_as_asked_for(n_trees):
    inputs, target, fold = noise(60)
    done = []

    forests = grow(inputs, target, fold, how=growth(n_trees), advance=done.append)

    sizes = {k: len(forest.estimators_) for k, forest in forests.forests.items()}
    assert sum(sizes.values()) == sum(done) == n_trees
    assert len(sizes) == min(n_trees, N_FOLDS)
    assert max(sizes.values()) - min(sizes.values()) <= 1


def test_with_fewer_trees_than_folds_every_row_has_an_estimate():
    inputs, target, fold = noise(60)
    forests = grow(inputs, target, fold, how=growth(2))

    unseen = forests.estimate_unseen(inputs, fold)

    assert np.isfinite(unseen).all()
    without_forest = fold >= 2
    np.testing.assert_array_equal(unseen[without_forest], forests.estimate(inputs[without_forest]))


def test_each_tree_counts_the_same():
    inputs, target, fold = noise(100)
    forests = grow(inputs, target, fold, how=growth(7))  # two forests have a tree more

    trees = [tree for forest in forests.forests.values() for tree in forest.estimators_]
    expected = np.mean([tree.predict(inputs.astype(np.float32)) for tree in trees], axis=0)

    np.testing.assert_allclose(forests.estimate(inputs)[:, 0], expected)


def test_one_class_is_certain_and_others_are_impossible():
    inputs, _, fold = noise(50)

    forests = grow(inputs, np.full(50, 2), fold, n_categories=4)

    assert forests.estimate(inputs).tolist() == [[0, 0, 1, 0]] * 50


def test_a_class_of_one_fold_alone_is_unknown_to_its_forest():
    inputs, _, fold = noise(50)
    codes = np.where(fold == 3, 1, 0)

    forests = grow(inputs, codes, fold, n_categories=2)

    unseen = forests.estimate_unseen(inputs, fold)
    assert (unseen[fold == 3] == [1, 0]).all()


@pytest.mark.parametrize("n_rows", [1, 2, 6])
@pytest.mark.parametrize("n_categories", [0, 2])
def test_few_rows(n_rows, n_categories):
    rng = np.random.default_rng(0)
    inputs, fold = rng.normal(size=(n_rows, 2)), folds_of_rows(n_rows, rng)
    target = np.arange(n_rows) % 2

    forests = grow(inputs, target, fold, n_categories, how=growth(10, min_leaf="auto"))

    for found in (forests.estimate(inputs), forests.estimate_unseen(inputs, fold)):
        assert found.shape == (n_rows, max(1, n_categories))
        assert np.isfinite(found).all()


def test_missing_inputs_are_taken_as_they_are():
    inputs, _, fold = noise()
    target = np.isnan(np.where(inputs[:, 0] > 0, inputs[:, 0], np.nan)).astype(float)
    inputs[inputs[:, 0] <= 0, 0] = np.nan

    forests = grow(inputs, target, fold)

    assert correlation(forests.estimate_unseen(inputs, fold)[:, 0], target) > 0.95


def test_threads_and_seeds():
    inputs, target, fold = noise(100)
    first = grow(inputs, target, fold).estimate(inputs)

    np.testing.assert_array_equal(grow(inputs, target, fold).estimate(inputs), first)
    threads = grow(inputs, target, fold, how=growth(n_jobs=2))
    np.testing.assert_array_equal(threads.estimate(inputs), first)
    assert not np.array_equal(grow(inputs, target, fold, seed=50).estimate(inputs), first)


@pytest.mark.parametrize("n_categories", [0, 3])
def test_arrays_give_the_same_forests_again(n_categories):
    inputs, target, fold = noise(80)
    if n_categories:
        target = (target * n_categories).astype(int)
    forests = grow(inputs, target, fold, n_categories, how=growth(8))

    again = ColumnForests.from_arrays(forests.arrays(), n_categories, inputs.shape[1])

    # A file keeps numbers of single precision.
    saved_once = ColumnForests.from_arrays(again.arrays(), n_categories, inputs.shape[1])
    np.testing.assert_array_equal(again.estimate(inputs), forests.estimate(inputs))
    np.testing.assert_array_equal(saved_once.estimate(inputs), forests.estimate(inputs))


def test_arrays_that_do_not_fit_the_column_are_refused():
    inputs, target, fold = noise(80)
    numbers = grow(inputs, target, fold).arrays()
    classes = grow(inputs, (target * 3).astype(int), fold, n_categories=3).arrays()

    with pytest.raises(ImputationError, match="a column has no forest"):
        ColumnForests.from_arrays({}, 0, 5)
    for arrays, n_categories in ((numbers, 3), (classes, 0), (classes, 2)):
        with pytest.raises(ImputationError, match="a forest does not fit its column"):
            ColumnForests.from_arrays(arrays, n_categories, 5)


@pytest.mark.parametrize("n_rows", [1, 5, 23])
def test_folds_are_of_equal_size(n_rows):
    fold = folds_of_rows(n_rows, np.random.default_rng(0))

    counts = np.bincount(fold, minlength=N_FOLDS)
    assert len(counts) == N_FOLDS
    assert counts.max() - counts.min() <= 1


# ------------------------------------------------------------------ how much is enough


@pytest.mark.parametrize(
    ("n_columns", "n_missing", "n_trees"),
    [
        (10, 500, 100),
        (50, 500, 100),
        (100, 500, 50),
        (10, 4_000_000, 50),
        (100, 4_000_000, 50),
        (10, 40_000_000, 20),
        (5_000, 500, 20),
    ],
)
def test_fewer_trees_for_wide_tables_and_millions_of_missing_cells(n_columns, n_missing, n_trees):
    observed = np.ones((max(1, -(-n_missing // n_columns)), n_columns), dtype=bool)
    observed.ravel()[:n_missing] = False
    assert enough_trees(observed) == n_trees


@pytest.mark.parametrize(("n_inputs", "share"), [(4, 0.5), (100, 0.5), (200, 0.25)])
def test_a_split_chooses_from_half_of_the_inputs_and_at_most_fifty(n_inputs, share):
    inputs, target, fold = noise(n=60, n_inputs=n_inputs)
    automatic = Growth(n_trees=5, min_leaf=5, max_features="auto", n_jobs=1)
    given = Growth(n_trees=5, min_leaf=5, max_features=share, n_jobs=1)

    found = grow(inputs, target, fold, how=automatic).estimate(inputs)

    np.testing.assert_array_equal(found, grow(inputs, target, fold, how=given).estimate(inputs))
