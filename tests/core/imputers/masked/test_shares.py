"""Shares of several estimates: against brute force, and what held-out cells teach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.imputers.masked._shares import best_shares, learn_shares, member_errors, mix


def random_moments(seed: int, n_members: int) -> np.ndarray:
    """Return mean products of errors that have much in common."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(50, 1))
    errors = rng.exponential(size=n_members) * (common + rng.normal(size=(50, n_members)))
    return errors.T @ errors / 50


def grid_of_shares(n_members: int, steps: int) -> np.ndarray:
    """Return all shares that are multiples of one part."""
    counts = np.indices((steps + 1,) * (n_members - 1)).reshape(n_members - 1, -1).T
    last = steps - counts.sum(axis=1, keepdims=True)
    return np.hstack([counts, last])[last[:, 0] >= 0] / steps


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n_members", "steps"), [(2, 400), (3, 60), (4, 24)])
def test_no_shares_of_a_grid_are_better(seed, n_members, steps):
    moments = random_moments(seed, n_members)
    grid = grid_of_shares(n_members, steps)
    on_grid = np.einsum("ki,ij,kj->k", grid, moments, grid)

    shares = best_shares(moments)

    error = shares @ moments @ shares
    assert error <= on_grid.min() * (1 + 1e-12)
    # The nearest point of the grid is not much worse, so the test above is no idle one.
    assert on_grid.min() <= error + np.trace(moments) * n_members**2 / steps**2


@given(seed=st.integers(0, 10_000), n_members=st.integers(1, 5))
def test_shares_are_shares_and_never_worse_than_the_best_member(seed, n_members):
    moments = random_moments(seed, n_members)

    shares = best_shares(moments)

    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1)
    assert shares @ moments @ shares <= moments.diagonal().min() * (1 + 1e-9)


@given(
    seed=st.integers(0, 10_000),
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    n_members=st.integers(1, 4),
)
def test_learned_shares_are_shares(seed, counts, n_members):
    rng = np.random.default_rng(seed)
    errors = {j: rng.normal(size=(n, 1 + j % 2, n_members)) for j, n in enumerate(counts)}

    shares = learn_shares(errors, len(counts) + 1, n_members)

    assert shares.shape == (len(counts) + 1, n_members)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def errors_of_size(sizes, n_cells, seed=0):
    """Return independent errors of members, each of its own size."""
    return np.random.default_rng(seed).normal(size=(n_cells, 1, len(sizes))) * np.array(sizes)


def test_without_any_cell_all_members_count_the_same():
    np.testing.assert_allclose(learn_shares({}, 3, 4), 0.25)
    np.testing.assert_allclose(learn_shares({0: np.zeros((0, 1, 4))}, 3, 4), 0.25)


def test_members_without_any_error_count_the_same():
    np.testing.assert_allclose(learn_shares({0: np.zeros((50, 1, 2))}, 1, 2), 0.5)


def test_a_member_that_is_much_worse_gets_nearly_nothing():
    shares = learn_shares({0: errors_of_size([1.0, 20.0], 500)}, 1, 2)

    assert shares[0, 1] < 0.05
    assert learn_shares({0: errors_of_size([1.0, 1.2], 500)}, 1, 2)[0, 1] > 0.3


def test_a_column_with_few_cells_follows_the_table():
    table = {j: errors_of_size([1.0, 5.0], 1000, seed=j) for j in range(4)}
    opposite = errors_of_size([5.0, 1.0], 1000, seed=9)

    few = learn_shares(table | {4: opposite[:3]}, 5, 2)
    many = learn_shares(table | {4: opposite}, 5, 2)

    assert few[4, 0] > 0.8
    assert many[4, 0] < 0.25
    assert few[0, 0] > 0.8


def test_the_unit_of_a_column_does_not_count():
    table = {0: errors_of_size([1.0, 5.0], 300), 1: errors_of_size([4.0, 1.0], 300, seed=1)}
    larger = table | {1: 1000 * table[1]}

    np.testing.assert_allclose(learn_shares(larger, 3, 2), learn_shares(table, 3, 2))


def test_optimism_lowers_the_share_of_a_member():
    errors = {0: errors_of_size([1.0, 1.0], 400)}

    fair, cautious, very = (
        learn_shares(errors, 1, 2, optimism)[0, 1] for optimism in (None, (0, 0.1), (0, 1.0))
    )

    assert very < cautious < fair
    np.testing.assert_allclose(learn_shares(errors, 1, 2, (0.0, 0.0))[0, 1], fair)


def test_a_lucky_member_does_not_get_everything():
    errors = {0: errors_of_size([0.0, 1.0], 500)}

    shares = learn_shares(errors, 1, 2)[0]

    assert 0.9 < shares[0] < 0.99


def test_errors_and_mixtures_fit_each_other():
    truth = np.array([[1.0, 0.0], [0.0, 1.0]])
    estimates = [np.full((2, 2), 0.5), np.array([[0.8, 0.2], [0.4, 0.6]])]
    shares = np.array([0.25, 0.75])

    errors = member_errors(truth, estimates)

    assert errors.shape == (2, 2, 2)
    np.testing.assert_allclose(truth - mix(shares, estimates), errors @ shares)
