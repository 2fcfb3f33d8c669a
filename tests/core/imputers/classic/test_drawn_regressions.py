"""Regressions with drawn coefficients, against the known posterior."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pmae_core.imputers.classic._drawn_regressions import DrawnLinear, DrawnLogistic, MatchedLinear


def own_scale(model) -> np.ndarray:
    """Return the coefficients of features that are not standardized."""
    return (model.drawn[1:].T * model.scaling.factor).T


def indicators(codes: np.ndarray, n_categories: int) -> np.ndarray:
    return (codes[:, None] == np.arange(1, n_categories)).astype(float)


def test_linear_coefficients_are_drawn_from_their_posterior():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2)) * [1, 5]
    y = 1 + x @ [0.5, -0.2] + rng.normal(size=60)
    models = [DrawnLinear.fit(x, y, rng) for _ in range(2000)]
    drawn = np.array([own_scale(model) for model in models])

    design = np.column_stack([np.ones(60), x])
    estimated = np.linalg.solve(design.T @ design, design.T @ y)
    variance = np.sum((y - design @ estimated) ** 2) / (60 - 3)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))[1:]

    np.testing.assert_allclose(drawn.mean(axis=0), estimated[1:], atol=0.1 * errors.max())
    np.testing.assert_allclose(drawn.std(axis=0), errors, rtol=0.06)
    assert np.mean([model.spread for model in models]) == pytest.approx(variance**0.5, rel=0.05)


@pytest.mark.parametrize("n_categories", [2, 4])
def test_logistic_coefficients_are_drawn_around_the_most_likely_ones(n_categories):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 2))
    scores = x @ rng.normal(size=(2, n_categories)) + rng.gumbel(size=(3000, n_categories))
    codes = scores.argmax(axis=1)
    is_code = indicators(codes, n_categories)
    drawn = [own_scale(DrawnLogistic.fit(x, is_code, rng)) for _ in range(200)]

    likely = LogisticRegression(C=1e6).fit(x, codes).coef_
    expected = likely.T if n_categories == 2 else (likely[1:] - likely[0]).T
    np.testing.assert_allclose(np.mean(drawn, axis=0), expected, atol=0.05)
    # The errors of 3,000 rows, whose information per row is at most a quarter.
    assert np.std(drawn, axis=0).min() > np.sqrt(4 / 3000)
    assert np.std(drawn, axis=0).max() < 0.15


def test_codes_are_drawn_with_the_right_shares():
    rng = np.random.default_rng(0)
    codes = rng.choice(3, p=[0.2, 0.7, 0.1], size=5000)
    model = DrawnLogistic.fit(np.zeros((5000, 1)), indicators(codes, 3), rng)
    shares = np.bincount(model.draw(np.zeros((5000, 1)), rng).astype(int)) / 5000
    np.testing.assert_allclose(shares, [0.2, 0.7, 0.1], atol=0.04)


def test_separated_categories_have_finite_coefficients():
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 40)[:, None]
    codes = (x[:, 0] > 0).astype(float)
    model = DrawnLogistic.fit(x, indicators(codes, 2), rng)
    assert np.abs(model.drawn).max() < 30
    assert (model.draw(x, rng) == codes).mean() > 0.8


def test_features_that_never_varied_are_ignored():
    rng = np.random.default_rng(0)
    x = np.column_stack([np.full(20, 0.3), rng.normal(size=20)])
    model = DrawnLinear.fit(x, x[:, 1], rng)
    new = np.array([[1e6, 0.5]])
    assert model.draw(new, rng)[0] == pytest.approx(0.5, abs=0.01)


def test_matching_copies_cells_near_the_line():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    y = x[:, 0] + 0.1 * rng.normal(size=300)
    drawn = MatchedLinear.fit(x, y, rng).draw(x, rng)
    assert set(drawn) <= set(y)
    assert np.std(drawn - x[:, 0]) == pytest.approx(0.1, rel=0.4)
