"""Rubin's rules, checked by hand."""

import math

import pytest

from pmae_core.errors import ScoringError
from pmae_core.inference.pooling import enough_imputations, pool_estimates, pool_wald


def test_rubins_rules_by_hand():
    pooled = pool_estimates([10.0, 12.0, 11.0], [1.0, 1.2, 0.8], df_complete=20)
    assert pooled.estimate == pytest.approx(11.0)
    assert pooled.within == pytest.approx(1.0)
    assert pooled.between == pytest.approx(1.0)
    assert pooled.total == pytest.approx(1 + 4 / 3)
    # Share of variance between imputations 4/7; Rubin: 2 / (4/7)² = 6.125; observed data:
    # 21/23 · 20 · 3/7 = 7.826087; together 6.125 · 7.826087 / (6.125 + 7.826087).
    assert pooled.df == pytest.approx(3.435917, abs=1e-6)
    # 4/7 + 3/7 · 2 / (3.435917 + 3)
    assert pooled.missing_information == pytest.approx(0.704610, abs=1e-6)


def test_degrees_of_freedom_at_their_ends():
    assert pool_estimates([1.0, 3.0], [1.0, 1.0]).df == pytest.approx(1 / (3 / 4) ** 2)
    unchanged = pool_estimates([2.0, 2.0, 2.0], [0.5, 0.5, 0.5], df_complete=10)
    assert unchanged.df == pytest.approx(11 / 13 * 10)
    assert unchanged.total == 0.5
    assert unchanged.missing_information == 0
    assert math.isinf(pool_estimates([2.0, 2.0], [0.5, 0.5]).df)
    # More imputations never go beyond what the observed data give.
    many = pool_estimates([1.0, 2.0] * 500, [1.0] * 1000, df_complete=30)
    assert many.df < 31 / 33 * 30
    with pytest.raises(ScoringError, match="at least two imputations"):
        pool_estimates([1.0], [1.0])


def test_relative_increase_and_monte_carlo_error_by_hand():
    pooled = pool_estimates([10.0, 12.0, 11.0], [1.0, 1.2, 0.8])

    assert pooled.relative_increase == pytest.approx(4 / 3)
    assert pooled.monte_carlo_error == pytest.approx(math.sqrt(1 / 3))
    assert pooled.std_error == pytest.approx(math.sqrt(7 / 3))
    assert pool_estimates([1.0, 1.0], [1.0, 1.0]).relative_increase == 0
    assert math.isinf(pool_estimates([1.0, 2.0], [0.0, 0.0]).relative_increase)


def test_the_test_of_one_coefficient_is_the_square_of_its_statistic():
    estimates, variances = [1.0, 1.4, 1.1, 1.3], [0.2, 0.25, 0.2, 0.3]
    pooled = pool_estimates(estimates, variances)
    test = pool_wald([[one] for one in estimates], [[[one]] for one in variances])

    assert test.statistic == pytest.approx((pooled.estimate / pooled.std_error) ** 2)
    assert test.relative_increase == pytest.approx(pooled.relative_increase)


def test_degrees_of_freedom_of_a_test_at_their_ends():
    same = [[1.0, 2.0]] * 4
    unit = [[[1.0, 0.0], [0.0, 1.0]]] * 4
    assert math.isinf(pool_wald(same, unit).df2)
    assert pool_wald(same, unit, df_complete=30).df2 == pytest.approx(31 / 33 * 30)
    assert pool_wald([[1.0], [2.0]], [[[1.0]], [[1.0]]], df_complete=3).df2 > 0
    with pytest.raises(ScoringError, match="at least two"):
        pool_wald([[1.0, 2.0]], unit[:1])


def test_enough_imputations_grow_with_the_square_of_missing_information():
    # The upper end of the interval of 0.5 from 8 imputations is expit(1.96 · 0.5) = 0.7271.
    assert enough_imputations(0.5, 8) == math.ceil(1 + 0.5 * (0.7271 / 0.05) ** 2)
    assert enough_imputations(0.5, 8) > enough_imputations(0.5, 100) > enough_imputations(0.3, 100)
    assert enough_imputations(0.0, 5) == 2
    assert enough_imputations(1.0, 5) == 201
