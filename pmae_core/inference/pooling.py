"""Rubin's rules: one estimate from several imputations of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pmae_core.errors import ScoringError


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
    """

    estimate: float
    within: float
    between: float
    total: float
    df: float
    missing_information: float


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
    return Pooled(float(found.mean()), within, between, total, df, lost)


def _degrees_of_freedom(share: float, m: int, df_complete: float) -> float:
    """Return Barnard and Rubin's degrees of freedom; ``share`` of the variance is between."""
    if math.isinf(df_complete):
        return (m - 1) / share**2 if share > 0 else math.inf
    observed = (df_complete + 1) / (df_complete + 3) * df_complete * (1 - share)
    if share == 0:
        return observed
    of_imputations = (m - 1) / share**2
    return of_imputations * observed / (of_imputations + observed)
