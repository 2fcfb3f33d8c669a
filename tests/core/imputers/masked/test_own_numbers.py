"""Scores of ranks as numbers on the column's own scale, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.table.scaling import NUMERIC_SCALINGS, fit_scaler


def numbers_of(column: np.ndarray, how: str = "rank") -> tuple[OwnNumbers, np.ndarray]:
    """Return the own numbers of a column, and its scores."""
    scaler = fit_scaler(column, how)
    return OwnNumbers([scaler]), scaler.scale(column)


@pytest.mark.parametrize(
    ("how", "unit"), [*((how, -3.0) for how in NUMERIC_SCALINGS), ("rank", 1e-300), ("rank", 1e303)]
)
def test_they_are_proportional_to_the_columns_numbers(how, unit):
    column = np.exp(np.random.default_rng(0).normal(size=500)) * unit
    own, scores = numbers_of(column, how)

    numbers = own.of_scores(scores, 0)

    # The range of the largest numbers would be infinite in their own unit.
    small = column / abs(unit)
    low, high = small.min(), small.max()
    np.testing.assert_allclose(numbers, (small - low) / (high - low), atol=5e-3)
    assert (numbers.min(), numbers.max()) == (pytest.approx(0), pytest.approx(1))
    np.testing.assert_allclose(own.to_scores(numbers, 0), scores, atol=1e-6)


def test_a_range_wider_than_the_largest_number_is_finite():
    own, scores = numbers_of(np.array([-1.7e308, -1e307, 0.0, 5e307, 1.7e308]))

    numbers = own.of_scores(scores, 0)

    np.testing.assert_allclose(numbers, [0, 0.4706, 0.5, 0.6471, 1], atol=1e-3)
    assert np.isfinite(own.to_scores(np.array([-1.0, 0.0, 0.3, 1.0, 2.0]), 0)).all()


@given(
    st.lists(
        st.floats(-1.7e308, 1.7e308, allow_subnormal=False), min_size=2, max_size=20, unique=True
    ),
    st.floats(-2, 3),
)
def test_scores_stay_in_the_observed_range(column, number):
    own, _ = numbers_of(np.array(column, dtype=np.float64))

    score = own.to_scores(np.array([number]), 0)

    low, high = own.bounds(0)
    assert low <= score[0] <= high


def test_a_categorical_column_has_no_numbers():
    own = OwnNumbers([None, fit_scaler(np.arange(5.0), "rank")])

    assert [own.is_number(j) for j in range(2)] == [False, True]
    with pytest.raises(ValueError, match="Column 0 is categorical"):
        own.of_scores(np.zeros(1), 0)
