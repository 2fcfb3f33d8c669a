"""Rubin's rules, checked by hand."""

import math

import pytest

from pmae_core.errors import ScoringError
from pmae_core.inference.pooling import pool_estimates


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
