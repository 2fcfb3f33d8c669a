"""Errors of categories: probabilities that were wrong, and how sure that is."""

import numpy as np
import pytest

from pmae_core.imputers.masked._category_errors import CategoryErrors
from pmae_core.imputers.masked._cell_errors import RowCoordinates, no_coordinates


def codes_of(rng, likely):
    return (rng.random((len(likely), 1)) > likely.cumsum(axis=1)[:, :-1]).sum(axis=1)


def shares(errors, likely, coordinates, n=40):
    rng = np.random.default_rng(1)
    spread = np.ones(len(likely))
    found = [errors.drawn(rng).draw(likely, coordinates, spread, rng) for _ in range(n)]
    return np.array([np.bincount(one, minlength=likely.shape[1]) / len(one) for one in found])


def test_right_probabilities_are_kept():
    rng = np.random.default_rng(0)
    likely = np.tile([0.82, 0.11, 0.07], (3000, 1))
    known = RowCoordinates(np.array([0]), rng.normal(size=(3000, 1)), np.ones(3000))
    errors = CategoryErrors.fit(codes_of(rng, likely), likely, known)

    drawn = shares(errors, likely, known.values).mean(axis=0)

    np.testing.assert_allclose(drawn, [0.82, 0.11, 0.07], atol=0.02)


def test_wrong_probabilities_are_corrected_row_by_row():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1))
    true = 1 / (1 + np.exp(-2 * x[:, 0]))
    codes = (rng.random(4000) < true).astype(int)
    even = np.full((4000, 2), 0.5)
    errors = CategoryErrors.fit(codes, even, RowCoordinates(np.array([0]), x, np.ones(4000)))

    for value in (-1.0, 1.0):
        found = shares(errors, even, np.full((4000, 1), value)).mean(axis=0)[1]
        assert found == pytest.approx(1 / (1 + np.exp(-2 * value)), abs=0.03)


def test_imputations_differ_by_as_much_as_few_cells_leave_open():
    rng = np.random.default_rng(0)
    n, between = 60, []
    for _ in range(20):
        even = np.full((n, 2), 0.5)
        errors = CategoryErrors.fit(codes_of(rng, even), even, no_coordinates(n))
        between.append(shares(errors, np.full((4000, 2), 0.5), np.zeros((4000, 0)))[:, 1].std())
    assert np.mean(between) == pytest.approx(0.5 / np.sqrt(n), rel=0.2)


def test_a_category_that_separates_does_no_harm():
    x = np.linspace(-1, 1, 200)[:, None]
    codes = (x[:, 0] > 0).astype(int)
    even = np.full((200, 2), 0.5)
    errors = CategoryErrors.fit(codes, even, RowCoordinates(np.array([0]), x, np.ones(200)))

    assert np.isfinite(errors.coefficients).all() and np.isfinite(errors.root).all()
    assert shares(errors, even, np.ones((200, 1))).mean(axis=0)[1] > 0.95


@pytest.mark.parametrize("n_categories", [1, 2, 40])
def test_few_cells_and_any_number_of_categories(n_categories):
    likely = np.full((12, n_categories), 1 / n_categories)
    errors = CategoryErrors.fit(np.arange(12) % n_categories, likely, no_coordinates(12))

    found = shares(errors, likely, np.zeros((12, 0)))

    np.testing.assert_allclose(found.sum(axis=1), 1)
