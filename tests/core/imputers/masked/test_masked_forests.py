"""Forests of all columns: their inputs, and what Gaussians have not seen."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers.masked._forests import N_FOLDS, Growth, folds_of_rows
from pmae_core.imputers.masked._masked_forests import (
    FoldedGaussian,
    MaskedForests,
    Masks,
    TreeInputs,
    grow_forests,
    n_inputs,
)
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.table import EncodedTable, TableEncoder


def kinds_table(n: int = 200) -> pd.DataFrame:
    """Return a table with two numbers, a category of three and one of two classes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": x,
            "town": np.array(["Bonn", "Oslo", "Ulm"])[np.digitize(x, [-0.5, 0.5])],
            "y": x**2 + 0.1 * rng.normal(size=n),
            "side": np.where(x > 0, "left", "right"),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.2)


@pytest.fixture(scope="module")
def table() -> tuple[EncodedTable, OwnNumbers, np.ndarray]:
    """Return an encoded table, its own numbers and folds of its rows."""
    encoder = TableEncoder(numeric="rank").fit(kinds_table())
    encoded = encoder.transform(kinds_table())
    fold = folds_of_rows(len(encoded.values), np.random.default_rng(5))
    return encoded, OwnNumbers(encoder.scalers_), fold


@pytest.fixture(scope="module")
def gaussian(table) -> FoldedGaussian:
    return folded(*table)


def folded(encoded, numbers, fold, check=lambda: None) -> FoldedGaussian:
    rng = np.random.default_rng(0)
    return FoldedGaussian.fit(encoded, numbers, fold, rng, on_own_scale=False, check=check)


def grow(table, gaussian, n_jobs=1, masks=None, seed=0, **options):
    encoded, numbers, fold = table
    growth = Growth(n_trees=10, min_leaf="auto", max_features=0.5, n_jobs=n_jobs)
    options = {"advance": lambda _: None} | options
    return list(
        grow_forests(encoded, numbers, fold, gaussian, masks or Masks(), growth, seed, **options)
    )


def all_forests(table, gaussian, n_jobs=1) -> MaskedForests:
    columns = grow(table, gaussian, n_jobs)
    whole = None if gaussian is None else gaussian.whole
    return MaskedForests(table[0].columns, [one.forests for one in columns], whole)


@pytest.mark.parametrize("has_gaussian", [False, True])
@pytest.mark.parametrize("j", range(4))
def test_the_number_of_inputs_is_that_of_the_inputs(table, gaussian, j, has_gaussian):
    encoded, _, _ = table
    expected = gaussian.whole.expect(encoded.values, encoded.observed) if has_gaussian else None
    inputs = TreeInputs(encoded.columns, encoded.values, encoded.observed, expected)

    width = n_inputs(encoded.columns, j, has_gaussian=has_gaussian)

    assert inputs.of(j).shape == (200, width)
    assert inputs.of(j, np.arange(200) < 7).shape == (7, width)


def test_inputs_hold_kept_cells_alone(table):
    encoded, _, _ = table
    kept = encoded.observed & (np.arange(4) != 2)

    cells = TreeInputs(encoded.columns, encoded.values, kept, None).of(2)

    np.testing.assert_array_equal(np.isnan(cells), ~kept)
    np.testing.assert_array_equal(cells[kept], encoded.values[kept])


def test_masked_cells_do_not_reach_inputs_through_the_gaussian(table, gaussian):
    encoded, _, _ = table
    kept = encoded.observed & (np.arange(4) != 2)
    changed = np.where(kept, encoded.values, 0.9).astype(np.float32)

    first, second = (
        TreeInputs(encoded.columns, values, kept, gaussian.whole.expect(values, kept)).of(2)
        for values in (encoded.values, changed)
    )

    np.testing.assert_array_equal(first, second)


def test_a_gaussian_of_a_fold_has_not_seen_its_rows():
    rng = np.random.default_rng(0)
    # With as many columns as rows a Gaussian knows the rows that it was fitted to by heart.
    frame = pd.DataFrame(rng.normal(size=(60, 30))).rename(columns=str)
    encoder = TableEncoder(numeric="rank").fit(frame)
    encoded, numbers = encoder.transform(frame), OwnNumbers(encoder.scalers_)
    fold = folds_of_rows(60, rng)
    gaussian = folded(encoded, numbers, fold)
    kept = encoded.observed & (np.arange(30) != 4)

    unseen = gaussian.expect_unseen(encoded.values, kept, fold)[:, 4]
    seen = gaussian.whole.expect(encoded.values, kept)[:, 4]

    truth = encoded.values[:, 4]
    assert np.corrcoef(seen, truth)[0, 1] > 0.5
    assert np.corrcoef(unseen, truth)[0, 1] < 0.3
    assert len(gaussian.folds) == N_FOLDS


def test_fitting_gaussians_can_be_cancelled_between_folds(table):
    asked = []

    def check() -> None:
        asked.append(None)
        if len(asked) == 3:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        folded(*table, check=check)
    assert len(asked) == 3


@pytest.mark.parametrize("has_gaussian", [False, True])
def test_threads_do_not_change_a_bit(table, gaussian, has_gaussian):
    encoded, _, _ = table
    given = gaussian if has_gaussian else None

    alone, together = (
        all_forests(table, given, n_jobs).estimate(
            encoded.values, encoded.observed, ~encoded.observed
        )
        for n_jobs in (1, 2)
    )

    assert list(alone) == list(together) == [0, 1, 2, 3]
    for j in alone:
        np.testing.assert_array_equal(alone[j], together[j])


def test_what_a_gaussian_expects_can_be_given(table, gaussian):
    encoded, _, _ = table
    forests = all_forests(table, gaussian)
    cells = (encoded.values, encoded.observed, ~encoded.observed)
    expected = gaussian.whole.expect(encoded.values, encoded.observed)

    own, given = forests.estimate(*cells), forests.estimate(*cells, expected)

    for j in own:
        np.testing.assert_array_equal(own[j], given[j])


def test_estimates_are_numbers_and_probabilities(table, gaussian):
    encoded, _, _ = table
    found = all_forests(table, gaussian).estimate(
        encoded.values, encoded.observed, ~encoded.observed
    )

    assert {j: one.shape[1] for j, one in found.items()} == {0: 1, 1: 3, 2: 1, 3: 2}
    for j, one in found.items():
        assert one.min() >= 0
        assert one.max() <= 1 + 1e-9
        assert len(one) == (~encoded.observed[:, j]).sum()


@pytest.mark.parametrize("has_gaussian", [False, True])
def test_arrays_give_the_same_forests_again(table, gaussian, has_gaussian):
    encoded, _, _ = table
    forests = all_forests(table, gaussian if has_gaussian else None)
    cells = (encoded.values, encoded.observed, ~encoded.observed)

    again = MaskedForests.from_arrays(forests.arrays(), encoded.columns, forests.gaussian)

    ours, theirs = forests.estimate(*cells), again.estimate(*cells)
    for j in ours:
        np.testing.assert_array_equal(ours[j], theirs[j])


def test_forests_that_do_not_fit_the_gaussian_are_refused(table, gaussian):
    arrays = all_forests(table, gaussian).arrays()

    with pytest.raises(ImputationError, match="damaged"):
        MaskedForests.from_arrays(arrays, table[0].columns, None)


def test_unseen_estimates_are_those_of_the_first_examples(table, gaussian):
    encoded, _, _ = table
    masks = Masks(n_copies=1)

    columns = grow(table, gaussian, masks=masks, most_unseen=30)

    for column, kind in zip(columns, encoded.columns, strict=True):
        assert column.unseen.shape == (30, max(1, kind.n_categories))
    assert all(len(column.unseen) == 0 for column in grow(table, gaussian, masks=masks))


def test_trees_are_counted_and_growing_can_be_cancelled(table):
    counted = []
    grow(table, None, advance=counted.append)
    assert sum(counted) == 40

    def stop(_: int) -> None:
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        grow(table, None, advance=stop)


def test_fewer_examples_are_the_first_of_more():
    observed = np.random.default_rng(0).random((300, 3)) < 0.7
    masks = Masks(most_rows=250)

    rows, kept = masks.examples(observed, 1, seed=4)
    fewer_rows, fewer_kept = masks.examples(observed, 1, seed=4, most_rows=40)

    assert len(rows) == 250
    np.testing.assert_array_equal(fewer_rows, rows[:40])
    np.testing.assert_array_equal(fewer_kept, kept[:40])
    assert not np.array_equal(masks.examples(observed, 1, seed=5)[0], rows)


def test_masks_by_a_function_differ_from_copied_ones():
    observed = np.ones((300, 3), dtype=bool)
    observed[:100, :2] = False
    observed[100:200, 2] = False

    _, copied = Masks().examples(observed, 0, seed=0)
    _, by_function = Masks(copy_share=0.0).examples(observed, 0, seed=0)

    assert not copied[:, 1].any()
    assert by_function[:, 1].all()
