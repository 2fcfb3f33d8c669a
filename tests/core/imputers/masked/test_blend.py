"""Several models of one table as one."""

from dataclasses import replace

import numpy as np
import pytest

from pmae_core.imputers.masked import _blend
from pmae_core.imputers.masked._blend import Blend
from pmae_core.imputers.masked._forests import Growth, folds_of_rows
from pmae_core.imputers.masked._masked_forests import (
    FoldedGaussian,
    MaskedForests,
    Masks,
    grow_forests,
)
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._table_gaussian import TableGaussian
from pmae_core.table import EncodedTable, TableEncoder
from tests.support.mixed_tables import mixed_table


class Constant:
    """A member in the place of the network: the same answer for all cells of a column."""

    def __init__(self, columns, number=0.5, code=0):
        self.columns, self.number, self.code = columns, number, code

    def estimate(self, values, kept, wanted):
        found = {}
        for j in np.flatnonzero(wanted.any(axis=0)).tolist():
            n_categories, n_cells = self.columns[j].n_categories, int(wanted[:, j].sum())
            one = np.eye(n_categories)[self.code] if n_categories else [self.number]
            found[j] = np.tile(one, (n_cells, 1))
        return found


@pytest.fixture(scope="module")
def table() -> tuple[EncodedTable, OwnNumbers]:
    _, incomplete = mixed_table(120)
    encoder = TableEncoder(numeric="rank").fit(incomplete)
    return encoder.transform(incomplete), OwnNumbers(encoder.scalers_)


@pytest.fixture(scope="module")
def blend(table) -> Blend:
    """Two Gaussians, trees and a constant, with shares of their own in each column."""
    encoded, numbers = table
    fold = folds_of_rows(len(encoded.values), np.random.default_rng(0))
    gaussians = [
        FoldedGaussian.fit(
            encoded,
            numbers,
            fold,
            np.random.default_rng(0),
            on_own_scale=own,
            check=lambda: None,
        )
        for own in (False, True)
    ]
    growth = Growth(n_trees=5, min_leaf="auto", max_features=0.5, n_jobs=1)
    grown = grow_forests(
        encoded, numbers, fold, gaussians[0], Masks(), growth, 0, advance=lambda _: None
    )
    columns = encoded.columns
    forests = MaskedForests(columns, [one.forests for one in grown], gaussians[0].whole)
    return Blend(
        columns,
        numbers,
        [one.whole for one in gaussians],
        forests,
        Constant(columns),
        np.random.default_rng(1).dirichlet(np.ones(4), size=len(columns)),
        {j: FixedErrors([-0.1, 0.0, 0.1]) for j in range(5)},
    )


def test_members_are_named_in_their_order(blend, table):
    assert blend.members == ["gaussian-ranks", "gaussian-own-scale", "trees", "network"]
    assert replace(blend, gaussians=()).members == ["trees", "network"]
    assert Blend(*table).members == []


def test_estimates_are_mixed_by_the_shares_of_each_column(blend, table):
    encoded, _ = table
    cells = (encoded.values, encoded.observed, ~encoded.observed)

    parts, mixed = blend.parts(*cells), blend.estimate(*cells)

    assert len(parts) == 4
    for j, found in mixed.items():
        expected = sum(s * part[j] for s, part in zip(blend.shares[j], parts, strict=True))
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("member", range(4))
def test_a_share_of_one_is_that_member_alone(blend, table, member):
    encoded, _ = table
    cells = (encoded.values, encoded.observed, ~encoded.observed)
    alone = replace(blend, shares=np.tile(np.eye(4)[member], (5, 1)))

    for j, found in alone.estimate(*cells).items():
        np.testing.assert_allclose(found, blend.parts(*cells)[member][j])


def test_missing_cells_are_imputed_and_others_are_kept(blend, table):
    encoded, numbers = table

    imputed = blend.impute(encoded)

    np.testing.assert_array_equal(imputed[encoded.observed], encoded.values[encoded.observed])
    estimates = blend.estimate(encoded.values, encoded.observed, ~encoded.observed)
    for j, found in estimates.items():
        cells = imputed[~encoded.observed[:, j], j]
        if numbers.is_number(j):
            np.testing.assert_allclose(numbers.of_scores(cells, j), found[:, 0], atol=1e-4)
        else:
            np.testing.assert_array_equal(cells, found.argmax(axis=1))


def test_pieces_do_not_change_the_result(blend, table, monkeypatch):
    encoded, _ = table
    whole = blend.impute(encoded)
    monkeypatch.setattr(_blend, "_CELLS_AT_ONCE", 60)

    np.testing.assert_allclose(blend.impute(encoded), whole, atol=1e-6)


def test_what_the_gaussian_expects_is_computed_once_for_itself_and_the_trees(
    blend, table, monkeypatch
):
    encoded, _ = table
    asked = []
    expect = TableGaussian.expect

    def counting(self, values, kept):
        asked.append(self.on_own_scale)
        return expect(self, values, kept)

    monkeypatch.setattr(TableGaussian, "expect", counting)
    blend.estimate(encoded.values, encoded.observed, ~encoded.observed)
    assert asked == [False, True]
    asked.clear()
    replace(blend, gaussians=(), shares=blend.shares[:, 2:]).estimate(
        encoded.values, encoded.observed, ~encoded.observed
    )
    assert asked == [False]


class FixedErrors:
    """Errors of a column that are always the same: some numbers to add, or nothing."""

    def __init__(self, added=()):
        self.added, self.asked = added, []

    def drawn(self, rng):
        return self

    def draw(self, estimate, coordinates, spread, rng):
        self.asked.append((coordinates.shape, spread))
        if estimate.ndim == 2:
            return estimate.argmax(axis=1)
        return estimate + rng.choice(self.added, size=len(estimate))


def constant_blend(table, errors, **answer) -> Blend:
    encoded, numbers = table
    columns = encoded.columns
    shares = np.ones((len(columns), 1))
    network = Constant(columns, **answer)
    return Blend(columns, numbers, network=network, shares=shares, errors=errors)


def test_drawn_cells_are_the_estimate_and_what_its_errors_add(table):
    encoded, numbers = table
    errors = {j: FixedErrors([-0.1, 0.2]) for j in range(5)}
    blend = constant_blend(table, errors, number=0.4)

    drawn = next(iter(blend.draw(encoded, 1, np.random.default_rng(0))))

    np.testing.assert_array_equal(drawn[encoded.observed], encoded.values[encoded.observed])
    for j in (0, 1, 3):
        score = numbers.to_scores(np.array([0.4]), j)[0]
        cells = drawn[~encoded.observed[:, j], j]
        both = np.array([score - 0.1, score + 0.2])
        assert np.abs(cells[:, None] - both).min(axis=1).max() < 1e-6
        assert len(np.unique(cells)) == 2


def test_columns_are_drawn_one_after_the_other_each_given_those_before(table):
    encoded, _ = table
    errors = {j: FixedErrors([0.0]) for j in range(5)}
    blend = constant_blend(table, errors, number=0.4)
    known = []

    class Watching(Constant):
        def estimate(self, values, kept, wanted):
            known.append((kept.copy(), wanted.copy()))
            return super().estimate(values, kept, wanted)

    watched = replace(blend, network=Watching(encoded.columns, number=0.4))
    next(iter(watched.draw(encoded, 1, np.random.default_rng(0))))

    assert [wanted.any(axis=0).sum() for _, wanted in known] == [1] * len(known)
    assert all(wanted.any(axis=1).all() for _, wanted in known)  # no row is asked for nothing
    order = [int(wanted.any(axis=0).argmax()) for _, wanted in known]
    last_kept = known[-1][0]
    assert last_kept[:, order[:-1]].all()


def test_without_a_gaussian_errors_have_no_coordinates(table, blend):
    encoded, _ = table
    errors = {j: FixedErrors([0.0]) for j in range(5)}
    next(iter(constant_blend(table, errors).draw(encoded, 1, np.random.default_rng(0))))
    assert all(shape[1] == 0 and (spread == 1).all() for shape, spread in errors[0].asked)

    next(iter(replace(blend, errors=errors).draw(encoded, 1, np.random.default_rng(0))))
    shape, spread = errors[0].asked[-1]
    assert shape[1] == len(blend.reference.column)
    assert (spread > 0).all()


def test_draws_repeat_with_their_seed_and_differ_without(blend, table):
    encoded, _ = table

    first, second = blend.draw(encoded, 2, np.random.default_rng(0))
    again, _ = blend.draw(encoded, 2, np.random.default_rng(0))

    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)
