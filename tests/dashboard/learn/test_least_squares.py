import numpy as np
import pytest

from dashboard.learn.least_squares import coefficients, slope


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    x, z, noise = rng.normal(size=(3, 4, 50))
    return x, z, 1 + 2 * x - z + noise, rng.random((4, 50)) < 0.6


def test_coefficients_are_those_of_each_table_alone(tables):
    x, z, y, kept = tables

    found = coefficients(y, x, z, kept=kept)

    for k in range(len(y)):
        rows = kept[k]
        design = np.column_stack([np.ones(rows.sum()), x[k][rows], z[k][rows]])
        assert found[k] == pytest.approx(np.linalg.lstsq(design, y[k][rows])[0])


def test_slopes_are_those_of_each_table_alone(tables):
    x, _, y, kept = tables

    assert slope(x, y) == pytest.approx([np.polyfit(a, b, 1)[0] for a, b in zip(x, y, strict=True)])
    assert slope(x[0], y[0], kept=kept[0]) == pytest.approx(
        np.polyfit(x[0][kept[0]], y[0][kept[0]], 1)[0]
    )


def test_slopes_do_not_lose_digits_far_from_zero():
    x = np.arange(100.0)

    assert slope(1e9 + x, 1e6 + 3 * x) == pytest.approx(3)
