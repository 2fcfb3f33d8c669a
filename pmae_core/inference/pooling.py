"""Rubin's rules: one estimate from several imputations of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from pmae_core.errors import ScoringError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pooled:
    """Several estimates of one quantity, pooled by Rubin's rules.

    Attributes
    ----------
    estimate : float
        Their mean.
    within, between, total : float
        Mean variance within imputations, variance between them, and total variance of the
        pooled estimate.
    df : float
        Degrees of freedom (Barnard and Rubin 1999).
    missing_information : float
        Fraction of missing information: the share of the information about the estimate that
        is lost to missing values.
    n_imputations : int
        How many estimates were pooled.
    """

    estimate: float
    within: float
    between: float
    total: float
    df: float
    missing_information: float
    n_imputations: int

    @property
    def std_error(self) -> float:
        """Standard error of the pooled estimate."""
        return math.sqrt(self.total)

    @property
    def relative_increase(self) -> float:
        """Relative increase in variance because values are missing."""
        added = (1 + 1 / self.n_imputations) * self.between
        if added == 0:
            return 0.0
        return added / self.within if self.within > 0 else math.inf

    @property
    def monte_carlo_error(self) -> float:
        """How much the estimate would vary if the table were imputed again as often."""
        return math.sqrt(self.between / self.n_imputations)


def pool_estimates(
    estimates: Sequence[float], variances: Sequence[float], df_complete: float = math.inf
) -> Pooled:
    """Pool the estimates from several imputations of a table by Rubin's rules.

    Parameters
    ----------
    estimates, variances : sequence of float
        Estimate and squared standard error from each imputation, at least two.
    df_complete : float
        Degrees of freedom of the estimate if nothing were missing; infinite for large tables.

    Examples
    --------
    >>> pooled = pool_estimates([1.0, 3.0], [1.0, 1.0])
    >>> pooled.estimate, pooled.total
    (2.0, 4.0)
    """
    found = np.asarray(estimates, dtype=np.float64)
    m = len(found)
    if m < 2 or len(variances) != m:
        raise ScoringError("Pooling needs at least two imputations, each with its variance.")
    within = float(np.mean(variances))
    between = float(found.var(ddof=1))
    total = within + (1 + 1 / m) * between
    share = (1 + 1 / m) * between / total if total > 0 else 0.0
    df = _degrees_of_freedom(share, m, df_complete)
    lost = share + (1 - share) * 2 / (df + 3) if share > 0 else 0.0
    return Pooled(float(found.mean()), within, between, total, df, lost, m)


def _degrees_of_freedom(share: float, m: int, df_complete: float) -> float:
    """Return Barnard and Rubin's degrees of freedom; ``share`` of the variance is between."""
    if math.isinf(df_complete):
        return (m - 1) / share**2 if share > 0 else math.inf
    observed = (df_complete + 1) / (df_complete + 3) * df_complete * (1 - share)
    if share == 0:
        return observed
    of_imputations = (m - 1) / share**2
    return of_imputations * observed / (of_imputations + observed)


@dataclass(frozen=True)
class PooledWald:
    """A test that several coefficients are zero, pooled over imputations (D1).

    Attributes
    ----------
    statistic : float
        The F statistic.
    df1, df2 : float
        Its degrees of freedom.
    p_value : float
        Probability of a statistic at least as large if all coefficients were zero.
    relative_increase : float
        Average relative increase in variance because values are missing.
    """

    statistic: float
    df1: int
    df2: float
    p_value: float
    relative_increase: float


def pool_wald(
    estimates: npt.ArrayLike, covariances: npt.ArrayLike, df_complete: float = math.inf
) -> PooledWald:
    """Test that several coefficients are zero, from their estimates in several imputations.

    Parameters
    ----------
    estimates : array of shape (n_imputations, n_coefficients)
        Estimates from each imputation, at least two.
    covariances : array of shape (n_imputations, n_coefficients, n_coefficients)
        Their covariance matrices.
    df_complete : float
        Degrees of freedom of the model if nothing were missing; infinite for large tables.

    Notes
    -----
    The statistic D1 of Li, Raghunathan and Rubin (1991), with the degrees of freedom of Reiter
    (2007) for tables that are not large. It assumes that the fraction of missing information is
    about the same for all of the coefficients. ``mice::D1`` in R gives the same.

    Examples
    --------
    >>> test = pool_wald([[1.0, 0.0], [2.0, 1.0], [1.5, 0.2]], [[[0.5, 0.0], [0.0, 0.5]]] * 3)
    >>> round(test.statistic, 3), test.df1
    (1.412, 2)
    """
    found, of_each = np.asarray(estimates, np.float64), np.asarray(covariances, np.float64)
    m, k = found.shape
    if m < 2 or of_each.shape != (m, k, k):
        raise ScoringError("Pooling needs at least two imputations, each with its covariances.")
    within = of_each.mean(axis=0)
    between = np.atleast_2d(np.cov(found, rowvar=False))
    increase = (1 + 1 / m) * float(np.trace(np.linalg.solve(within, between))) / k
    mean = found.mean(axis=0)
    statistic = float(mean @ np.linalg.solve(within, mean)) / (k * (1 + increase))
    df = _wald_degrees_of_freedom(increase, k * (m - 1), k, df_complete)
    return PooledWald(statistic, k, df, float(stats.f.sf(statistic, k, df)), increase)


def _wald_degrees_of_freedom(increase: float, t: int, k: int, df_complete: float) -> float:
    """Return the second degrees of freedom; `t` is the number of imputations less 1, times k."""
    observed = (
        (df_complete + 1) / (df_complete + 3) * df_complete if df_complete < 1e9 else math.inf
    )
    a = increase * t / (t - 2) if t > 2 else math.inf
    if t > 4 and math.isfinite(observed) and observed > 4 * (1 + a):
        return _reiter(a, t, observed)
    if increase <= 0:
        return observed
    if t > 4:
        return 4 + (t - 4) * (1 + (1 - 2 / t) / increase) ** 2
    return t * (1 + 1 / k) * (1 + 1 / increase) ** 2 / 2


def _reiter(a: float, t: int, observed: float) -> float:
    c1, c2 = observed - 2 * (1 + a), observed - 4 * (1 + a)
    of_imputations = (
        a**2 * c1 / ((1 + a) ** 2 * c2)
        + 8 * a**2 * c1 / ((1 + a) * c2**2)
        + 4 * a**2 / ((1 + a) * c2)
        + 4 * a**2 / (c2 * c1)
        + 16 * a**2 * c1 / c2**3
        + 8 * a**2 / c2**2
    )
    return 4 + 1 / (1 / c2 + of_imputations / (t - 4))


def enough_imputations(
    missing_information: float,
    n_imputations: int,
    *,
    variation: float = 0.05,
    confidence: float = 0.95,
) -> int:
    """Return how many imputations keep the standard error from changing much on repetition.

    Parameters
    ----------
    missing_information : float
        Fraction of missing information, estimated from imputations that are at hand.
    n_imputations : int
        How many those are.
    variation : float, default 0.05
        Coefficient of variation of the standard error that is acceptable if the table were
        imputed again: 0.05 means that it would change by about 5%.
    confidence : float, default 0.95
        The upper end of this confidence interval of the fraction is used, as it is itself
        uncertain with few imputations.

    Notes
    -----
    The second stage of the quadratic rule of von Hippel (2020, Sociological Methods & Research 49;
    online 2018): 1 + (f / variation)² / 2 imputations for a fraction f. Point estimates need fewer.

    Examples
    --------
    >>> enough_imputations(0.4, 20), enough_imputations(0.05, 20)
    (63, 3)
    """
    if not 0 < missing_information < 1:
        return 2 if missing_information <= 0 else math.ceil(1 + 0.5 / variation**2)
    reach = stats.norm.ppf((1 + confidence) / 2) * math.sqrt(2 / n_imputations)
    odds = math.log(missing_information / (1 - missing_information)) + reach
    upper = 1 / (1 + math.exp(-odds))
    return max(2, math.ceil(1 + (upper / variation) ** 2 / 2))
