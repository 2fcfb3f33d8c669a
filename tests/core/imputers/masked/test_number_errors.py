"""Errors of numbers: corrected where estimates are off, spread as held-out cells are."""

import numpy as np
import pytest

from pmae_core.imputers.masked._cell_errors import RowCoordinates, no_coordinates
from pmae_core.imputers.masked._number_errors import NumberErrors


def rows(n=2000, seed=0):
    """Return a generator and one coordinate of rows, whose Gaussian expects a spread of 1."""
    rng = np.random.default_rng(seed)
    return rng, RowCoordinates(np.array([0]), rng.normal(size=(n, 1)), np.ones(n))


def drawn_cells(errors, estimate, coordinates, spread=1.0, n=30, seed=1):
    """Return one line of cells per imputation."""
    rng = np.random.default_rng(seed)
    spreads = np.full(len(estimate), spread)
    return np.array([errors.drawn(rng).draw(estimate, coordinates, spreads, rng) for _ in range(n)])


def test_estimates_that_are_off_are_corrected():
    rng, known = rows()
    x = known.values[:, 0]
    estimates = 0.2 * rng.normal(size=2000)
    errors = NumberErrors.fit(estimates + 1 + 0.5 * x + rng.normal(size=2000), estimates, known)

    at = np.array([[-1.0], [1.0]]).repeat(500, axis=0)
    cells = drawn_cells(errors, np.zeros(1000), at)

    assert cells[:, :500].mean() == pytest.approx(0.5, abs=0.1)
    assert cells[:, 500:].mean() == pytest.approx(1.5, abs=0.1)
    assert cells[:, 500:].std() == pytest.approx(1.0, abs=0.1)


def two_coordinates(n, seed=0):
    """Return a generator and two coordinates of rows, whose Gaussian expects a spread of 1."""
    rng = np.random.default_rng(seed)
    return rng, RowCoordinates(np.arange(2), rng.normal(size=(n, 2)), np.ones(n))


def test_curves_and_interactions_are_followed_where_wanted():
    rng, known = two_coordinates(2000)
    x, z = known.values.T
    cells = x**2 + x * z + 0.5 * rng.normal(size=2000)
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    at = corners.repeat(300, axis=0)

    def means(**options):
        errors = NumberErrors.fit(cells, np.zeros(2000), known, **options)
        return drawn_cells(errors, np.zeros(900), at).reshape(-1, 3, 300).mean(axis=(0, 2))

    np.testing.assert_allclose(means(follow_curves=True), [0.0, 2.0, 0.0], atol=0.2)
    assert np.ptp(means()) < 0.5


def test_a_curve_does_not_go_on_far_outside_of_what_was_observed():
    rng, known = two_coordinates(2000)
    cells = known.values[:, 0] ** 2 + 0.1 * rng.normal(size=2000)
    errors = NumberErrors.fit(cells, np.zeros(2000), known, follow_curves=True)

    drawn = drawn_cells(errors, np.zeros(100), np.full((100, 2), [8.0, 0.0]))

    assert np.median(drawn) == pytest.approx(9, abs=2)


@pytest.mark.parametrize(("n_cells", "n_curved"), [(20, 0), (30, 1), (50, 2), (2000, 2)])
def test_curves_are_learned_from_cells_enough_only(n_cells, n_curved):
    rng, known = two_coordinates(n_cells)
    errors = NumberErrors.fit(
        rng.normal(size=n_cells), np.zeros(n_cells), known, follow_curves=True
    )
    assert errors.n_curved == n_curved
    assert len(errors.coefficients) == 4 + n_curved * (n_curved + 1) // 2


def test_few_cells_without_a_curve_hardly_make_one():
    curves = []
    for seed in range(20):
        rng, known = two_coordinates(60, seed)
        errors = NumberErrors.fit(rng.normal(size=60), np.zeros(60), known, follow_curves=True)
        curves.append(errors.coefficients[4:])
    # Least squares would give 0.1 on average.
    assert np.abs(curves).mean() < 0.075


def test_imputations_differ_by_as_much_as_few_cells_leave_open():
    between = {}
    for n in (40, 160):
        means = []
        for seed in range(20):
            rng, known = rows(n, seed)
            errors = NumberErrors.fit(rng.normal(size=n), np.zeros(n), known)
            cells = drawn_cells(errors, np.zeros(4000), np.zeros((4000, 1)), n=15, seed=seed)
            means.append(cells.mean(axis=1).std())
        between[n] = np.mean(means)
    for n, found in between.items():  # the error of a mean of n cells
        assert found == pytest.approx(1 / np.sqrt(n), rel=0.25)


def test_the_spread_follows_the_row():
    rng, known = rows()
    x = known.values[:, 0]
    errors = NumberErrors.fit(np.exp(x) * rng.normal(size=2000), np.zeros(2000), known)

    at = np.array([[-1.0], [1.0]]).repeat(2000, axis=0)
    cells = drawn_cells(errors, np.zeros(4000), at, n=3)

    assert np.log(cells[:, 2000:].std() / cells[:, :2000].std()) == pytest.approx(2, abs=0.5)


def test_the_spread_follows_what_a_gaussian_expects():
    rng = np.random.default_rng(0)
    spread = rng.choice([0.1, 1.0], size=2000)
    known = RowCoordinates(np.array([0]), rng.normal(size=(2000, 1)), spread)
    errors = NumberErrors.fit(spread * rng.normal(size=2000), np.zeros(2000), known)

    for expected in (0.1, 1.0):
        cells = drawn_cells(errors, np.zeros(3000), np.zeros((3000, 1)), expected, n=3)
        assert cells.std() == pytest.approx(expected, rel=0.15)


def test_without_a_pattern_the_spread_is_nearly_constant():
    rng, known = rows(200)
    errors = NumberErrors.fit(rng.normal(size=200), np.zeros(200), known)
    assert np.abs(errors.spread[1:]).max() < 0.15


def test_nothing_piles_up_at_the_ends_of_what_was_observed():
    rng, known = rows()
    cells = rng.exponential(size=2000)
    errors = NumberErrors.fit(cells, np.full(2000, 1.0), known)

    drawn = drawn_cells(errors, np.full(2000, 0.2), np.zeros((2000, 1)))

    assert drawn.min() >= cells.min() and drawn.max() <= cells.max()
    assert ((drawn == cells.min()) | (drawn == cells.max())).mean() < 0.005


def test_two_peaks_stay_apart():
    rng, known = rows()
    cells = rng.choice([-2.0, 2.0], size=2000) + 0.2 * rng.normal(size=2000)
    errors = NumberErrors.fit(cells, np.zeros(2000), known)

    drawn = drawn_cells(errors, np.zeros(2000), known.values)

    assert (np.abs(drawn) < 1).mean() < 0.01


def test_an_end_that_many_observed_cells_have_is_reached():
    rng, known = rows()
    cells = np.maximum(0.0, rng.normal(size=2000))
    errors = NumberErrors.fit(cells, np.full(2000, 0.4), known)

    drawn = drawn_cells(errors, np.full(2000, 0.4), np.zeros((2000, 1)))

    assert (drawn == 0).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_few_cells_are_enough(n):
    cells = np.arange(float(n))
    errors = NumberErrors.fit(cells, cells * 0, no_coordinates(n))

    drawn = drawn_cells(errors, np.zeros(5), np.zeros((5, 0)))

    assert np.isfinite(drawn).all()
    assert drawn.min() >= 0 and drawn.max() <= n - 1


def test_perfect_estimates_are_not_changed_much():
    _, known = rows(500)
    cells = known.values[:, 0]
    errors = NumberErrors.fit(cells, cells, known)

    drawn = drawn_cells(errors, cells, known.values, n=2)

    np.testing.assert_allclose(drawn, np.stack([cells] * 2), atol=1e-3)
