"""The Gaussian of incomplete tables, against closed forms and sampled truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core import gaussian
from pmae_core.gaussian import GaussianModel


def random_gaussian(rng: np.random.Generator, d: int) -> GaussianModel:
    root = rng.normal(size=(d, d))
    return GaussianModel(rng.normal(size=d), root @ root.T / d + 0.1 * np.eye(d))


def draw_rows(model: GaussianModel, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.multivariate_normal(model.mean, model.covariance, size=n)


def conditional_by_the_book(model, row, observed):
    """Return mean and covariance of the missing cells by the textbook's formula."""
    o, m = np.flatnonzero(observed), np.flatnonzero(~observed)
    weights = model.covariance[np.ix_(m, o)] @ np.linalg.inv(model.covariance[np.ix_(o, o)])
    mean = model.mean[m] + weights @ (row[o] - model.mean[o])
    return mean, model.covariance[np.ix_(m, m)] - weights @ model.covariance[np.ix_(o, m)]


def test_monotone_pair_has_the_closed_form_estimate():
    """With x complete, the estimate of y is the regression on x carried over to all of x."""
    rng = np.random.default_rng(0)
    n, n_pairs = 300, 180
    x = rng.normal(2, 1.5, size=n)
    y = 1 - 0.7 * x + rng.normal(0, 0.5, size=n)
    observed = np.ones((n, 2), dtype=bool)
    observed[n_pairs:, 1] = False

    slope = np.cov(x[:n_pairs], y[:n_pairs], ddof=0)[0, 1] / x[:n_pairs].var()
    residual = (y - slope * x)[:n_pairs].var()
    mean_y = y[:n_pairs].mean() + slope * (x.mean() - x[:n_pairs].mean())
    covariance = slope * x.var()
    expected = [[x.var(), covariance], [covariance, residual + slope**2 * x.var()]]

    model = GaussianModel.fit(
        np.column_stack([x, y]), observed, max_iter=2000, tol=1e-13, ridge=0.0
    )
    np.testing.assert_allclose(model.mean, [x.mean(), mean_y], atol=1e-9)
    np.testing.assert_allclose(model.covariance, expected, atol=1e-9)


def test_complete_table_has_its_own_moments():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50, 4))
    model = GaussianModel.fit(values, np.ones(values.shape, dtype=bool), ridge=0.0)
    np.testing.assert_allclose(model.mean, values.mean(axis=0))
    np.testing.assert_allclose(model.covariance, np.cov(values.T, ddof=0))
    assert model.n_iterations == 2


def test_sampled_truth_is_found_again():
    rng = np.random.default_rng(2)
    truth = random_gaussian(rng, 5)
    values = draw_rows(truth, 20_000, rng)
    observed = rng.random(values.shape) > 0.3
    model = GaussianModel.fit(values, observed, max_iter=200)
    deviation = np.sqrt(np.diag(truth.covariance))
    assert np.abs((model.mean - truth.mean) / deviation).max() < 0.03
    assert (
        np.abs((model.covariance - truth.covariance) / np.outer(deviation, deviation)).max() < 0.04
    )


@given(seed=st.integers(0, 10_000), d=st.integers(1, 9))
@settings(max_examples=25)
def test_conditional_mean_is_the_textbooks(seed, d):
    rng = np.random.default_rng(seed)
    model = random_gaussian(rng, d)
    values = draw_rows(model, 12, rng)
    observed = rng.random(values.shape) > rng.random()
    imputed = model.conditional_mean(np.where(observed, values, np.nan), observed)
    for row, kept, result in zip(values, observed, imputed, strict=True):
        np.testing.assert_array_equal(result[kept], row[kept])
        mean, _ = conditional_by_the_book(model, row, kept)
        np.testing.assert_allclose(result[~kept], mean, atol=1e-7)


def test_moments_of_missing_cells_given_the_others():
    model = GaussianModel(np.zeros(2), np.array([[1.0, 0.8], [0.8, 1.0]]))
    values, observed = np.array([[2.0, 0.0], [2.0, 1.0]]), np.array([[True, False], [True, True]])

    mean, variance = model.conditional_moments(values, observed)

    np.testing.assert_allclose(mean, [[2.0, 1.6], [2.0, 1.0]])
    np.testing.assert_allclose(variance, [[0.0, 0.36], [0.0, 0.0]])
    np.testing.assert_allclose(mean, model.conditional_mean(values, observed))


def test_small_batches_change_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    values = draw_rows(random_gaussian(rng, 6), 300, rng)
    observed = rng.random(values.shape) > 0.4
    whole = GaussianModel.fit(values, observed)
    monkeypatch.setattr(gaussian, "_BATCH_NUMBERS", 50)
    pieces = GaussianModel.fit(values, observed)
    np.testing.assert_allclose(pieces.covariance, whole.covariance, rtol=1e-10)
    np.testing.assert_allclose(
        pieces.conditional_mean(values, observed), whole.conditional_mean(values, observed)
    )


def test_columns_that_determine_each_other_do_no_harm():
    rng = np.random.default_rng(5)
    x = rng.random(200)
    values = np.column_stack([x, 2 * x, 1 - x])
    observed = rng.random(values.shape) > 0.3
    observed[~observed.any(axis=1), 0] = True
    imputed = GaussianModel.fit(values, observed, max_iter=200).conditional_mean(values, observed)
    np.testing.assert_allclose(imputed, values, atol=1e-3)


def test_more_columns_than_rows():
    rng = np.random.default_rng(6)
    values = rng.random((5, 12))
    observed = rng.random(values.shape) > 0.3
    observed[0] = True
    imputed = GaussianModel.fit(values, observed).conditional_mean(values, observed)
    assert np.isfinite(imputed).all()


def test_listeners_can_stop_the_fit():
    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    values = np.random.default_rng(7).random((20, 3))
    observed = np.ones(values.shape, dtype=bool)
    with pytest.raises(Stop):
        GaussianModel.fit(values, observed, advance=stop)
    observed[3, 1] = False
    with pytest.raises(Stop):
        GaussianModel.fit(values, observed, check=stop)


def test_pairs_of_a_complete_table_give_its_own_moments():
    rng = np.random.default_rng(0)
    values = draw_rows(random_gaussian(rng, 4), 200, rng)
    model = GaussianModel.from_pairs(values, np.ones(values.shape, dtype=bool), prior_rows=0)
    np.testing.assert_allclose(model.mean, values.mean(axis=0))
    np.testing.assert_allclose(model.covariance, np.cov(values.T, ddof=0), rtol=1e-6)


def test_pairs_find_a_sampled_truth_again():
    rng = np.random.default_rng(1)
    truth = random_gaussian(rng, 5)
    values = draw_rows(truth, 20_000, rng)
    observed = rng.random(values.shape) < 0.6
    model = GaussianModel.from_pairs(np.where(observed, values, np.nan), observed)
    np.testing.assert_allclose(model.mean, truth.mean, atol=0.05)
    np.testing.assert_allclose(model.covariance, truth.covariance, atol=0.05)


@given(seed=st.integers(0, 1000), n=st.integers(1, 12), d=st.integers(1, 8))
def test_pairs_always_give_a_usable_gaussian(seed, n, d):
    """Few rows, columns never observed together or not at all, columns that do not vary."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)).round(1) * (rng.random(d) < 0.8)
    observed = rng.random((n, d)) < rng.random(d)
    model = GaussianModel.from_pairs(values, observed)
    assert np.isfinite(model.mean).all()
    assert np.linalg.eigvalsh(model.covariance).min() > 0


def incomplete_rows(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    values = draw_rows(random_gaussian(rng, 4), n, rng)
    return values, rng.random(values.shape) < 0.7


def test_a_start_at_the_answer_needs_hardly_an_iteration():
    values, observed = incomplete_rows()
    straight = GaussianModel.fit(values, observed, max_iter=500)

    again = GaussianModel.fit(values, observed, max_iter=500, start=straight)

    assert again.n_iterations <= 2 < straight.n_iterations
    np.testing.assert_allclose(again.mean, straight.mean, atol=1e-5)
    np.testing.assert_allclose(again.covariance, straight.covariance, atol=1e-5)


def test_every_start_leads_to_the_same_answer():
    values, observed = incomplete_rows()
    straight = GaussianModel.fit(values, observed, max_iter=3000, tol=1e-10)
    far_away = GaussianModel(np.full(4, 5.0), 3 * np.eye(4))

    found = GaussianModel.fit(values, observed, max_iter=3000, tol=1e-10, start=far_away)

    np.testing.assert_allclose(found.mean, straight.mean, atol=1e-6)
    np.testing.assert_allclose(found.covariance, straight.covariance, atol=1e-6)


def test_from_a_good_start_few_iterations_are_enough():
    values, observed = incomplete_rows()
    nearly = GaussianModel.fit(values[20:], observed[20:], max_iter=500)
    straight = GaussianModel.fit(values, observed, max_iter=500)

    with_start, without = (
        GaussianModel.fit(values, observed, max_iter=4, start=start) for start in (nearly, None)
    )

    def distance(model: GaussianModel) -> float:
        return float(np.abs(model.covariance - straight.covariance).max())

    assert distance(with_start) < 0.2 * distance(without)
