"""95% confidence intervals of many tables at once, with and without Rubin's rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True, eq=False)
class ConfidenceIntervals:
    """The ends and the estimate of each interval, all of one shape."""

    low: np.ndarray
    center: np.ndarray
    high: np.ndarray

    @property
    def width(self) -> np.ndarray:
        """From end to end."""
        return self.high - self.low

    def contain(self, value: float) -> np.ndarray:
        """Return which intervals contain a value."""
        return (self.low <= value) & (value <= self.high)


def intervals(estimate: np.ndarray, variance: np.ndarray, df: np.ndarray) -> ConfidenceIntervals:
    """Return intervals by Student's t from estimates and their squared standard errors."""
    half = stdtrit(df, 0.975) * np.sqrt(variance)
    return ConfidenceIntervals(estimate - half, estimate, estimate + half)


def pooled_intervals(
    estimates: np.ndarray, variances: np.ndarray, df_complete: float
) -> ConfidenceIntervals:
    """Pool the imputations of each table by Rubin's rules.

    The same as :func:`pmae_core.inference.pooling.pool_estimates`, for many tables at once.

    Parameters
    ----------
    estimates, variances
        Estimate and squared standard error of each imputation, which lie along the last axis.
    df_complete
        Degrees of freedom if nothing were missing.
    """
    m = estimates.shape[-1]
    between = (1 + 1 / m) * estimates.var(axis=-1, ddof=1)
    total = variances.mean(axis=-1) + between
    share = between / total
    df_imputations = (m - 1) / share**2
    df_observed = (df_complete + 1) / (df_complete + 3) * df_complete * (1 - share)
    df = df_imputations * df_observed / (df_imputations + df_observed)
    return intervals(estimates.mean(axis=-1), total, df)
