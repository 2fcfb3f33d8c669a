import numpy as np
import pytest
from scipy import stats

from dashboard.learn.pooling import ConfidenceIntervals, intervals, pooled_intervals
from pmae_core.inference.pooling import pool_estimates


@pytest.mark.parametrize("m", [2, 5, 20])
def test_pooling_many_tables_agrees_with_the_library(m):
    rng = np.random.default_rng(m)
    estimates, variances = rng.normal(size=(7, m)), rng.uniform(0.5, 2, (7, m))

    many = pooled_intervals(estimates, variances, df_complete=59)

    for k in range(7):
        one = pool_estimates(estimates[k], variances[k], df_complete=59)
        half = stats.t.ppf(0.975, one.df) * one.std_error
        assert many.center[k] == pytest.approx(one.estimate)
        assert many.low[k] == pytest.approx(one.estimate - half)
        assert many.high[k] == pytest.approx(one.estimate + half)


def test_intervals_are_those_of_students_t():
    values = np.random.default_rng(0).normal(5, 2, 30)
    by_scipy = stats.ttest_1samp(values, 0).confidence_interval(0.95)

    found = intervals(values.mean(), values.var(ddof=1) / 30, np.float64(29))

    assert (found.low, found.high) == pytest.approx((by_scipy.low, by_scipy.high))
    assert found.width == pytest.approx(by_scipy.high - by_scipy.low)


def test_the_ends_belong_to_an_interval():
    three = ConfidenceIntervals(np.array([0.0, 1, 2]), np.array([1.0, 2, 3]), np.array([2.0, 3, 4]))

    assert three.contain(2.0).tolist() == [True, True, True]
    assert three.contain(0.5).tolist() == [True, False, False]
