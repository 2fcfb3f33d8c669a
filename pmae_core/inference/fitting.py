"""One regression on one table: linear, logistic, Poisson or Cox."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize

from pmae_core.errors import AnalysisError
from pmae_core.inference.cox import fit_cox
from pmae_core.words import count, listed

FloatArray = npt.NDArray[np.float64]

Family = Literal["ols", "logistic", "poisson", "cox"]
FAMILIES: tuple[Family, ...] = get_args(Family)
ROBUST_ERRORS = ("HC0", "HC1", "HC2", "HC3")

# Probabilities and rates nearer to their bounds than this are likely to be there in the limit.
_AT_BOUND = 1e-7
_RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class RegressionData:
    """The numbers of one table.

    Attributes
    ----------
    outcome : array of shape (n_rows,)
        The outcome; of a Cox regression, the times.
    design : array of shape (n_rows, n_coefficients)
        The design matrix.
    names : sequence of str
        Names of the coefficients.
    event : array of shape (n_rows,), optional
        Of a Cox regression, 1 where the event happened.
    weights : array of shape (n_rows,), optional
        Weights of the rows.
    clusters : array of shape (n_rows,), optional
        Labels of the clusters within which rows are not independent.
    """

    outcome: FloatArray
    design: FloatArray
    names: Sequence[str]
    event: FloatArray | None = None
    weights: FloatArray | None = None
    clusters: npt.NDArray[Any] | None = None


@dataclass(frozen=True)
class RegressionFit:
    """Coefficients from one table.

    Attributes
    ----------
    estimates : array of shape (n_coefficients,)
        The coefficients.
    covariance : array of shape (n_coefficients, n_coefficients)
        Their covariance matrix.
    df_complete : float
        Degrees of freedom for pooling: rows (Cox: events; clustered: clusters) less coefficients.
    df_alone : float
        Degrees of freedom if this table is all there is; infinite for the normal distribution.
    means : array of shape (n_coefficients,)
        Mean of each column of the design.
    n_rows : int
        Rows of the table.
    """

    estimates: FloatArray
    covariance: FloatArray
    df_complete: float
    df_alone: float
    means: FloatArray
    n_rows: int


def fit_regression(
    family: Family, data: RegressionData, errors: str = "nonrobust"
) -> RegressionFit:
    """Fit a regression to one table.

    Parameters
    ----------
    family : {"ols", "logistic", "poisson", "cox"}
        The kind of regression.
    data : RegressionData
        The numbers.
    errors : {"nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster"}
        How standard errors are computed; "cluster" by the clusters of `data`.

    Raises
    ------
    AnalysisError
        If a coefficient is not defined or the fit does not converge.
    """
    _check_size(data)
    _check_rank(data, with_constant=family == "cox")
    if family == "cox":
        return _fit_cox(data)
    return _fit_linear(data, errors) if family == "ols" else _fit_glm(family, data, errors)


def _check_size(data: RegressionData) -> None:
    n_rows, n_coefficients = data.design.shape
    if n_rows <= n_coefficients:
        raise AnalysisError(
            f"{count(n_coefficients, 'coefficient')} cannot be estimated from "
            f"{count(n_rows, 'row')}.",
            advice="Leave terms out, or use a table with more rows.",
        )


def _check_rank(data: RegressionData, *, with_constant: bool) -> None:
    """Refuse columns that others determine; a Cox regression has a constant of its own."""
    constant = [np.ones((len(data.design), 1))] if with_constant else []
    names = [*(["a constant"] if with_constant else []), *data.names]
    design = np.concatenate([*constant, data.design], axis=1)
    norms = np.linalg.norm(design, axis=0)
    zero = [name for name, norm in zip(names, norms, strict=True) if norm == 0]
    if zero:
        raise AnalysisError(
            f"{listed(zero)} {'is' if len(zero) == 1 else 'are'} 0 in every row.",
            advice="Leave the term out, or merge rare categories.",
        )
    _, factor, order = linalg.qr(design / norms, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(factor)) > _RANK_TOLERANCE * math.sqrt(len(design))).sum())
    if rank < design.shape[1]:
        weights = np.abs(linalg.lstsq(factor[:rank, :rank], factor[:rank, rank])[0])
        others = [names[order[i]] for i in np.flatnonzero(weights > 1e-6)]
        raise AnalysisError(
            f"{names[order[rank]]} is determined by {listed(sorted(others))}: the terms are "
            "collinear.",
            advice="Leave one of them out.",
        )


# ---------------------------------------------------------------- the regressions


def _fit_linear(data: RegressionData, errors: str) -> RegressionFit:
    from statsmodels.regression.linear_model import WLS

    weights = _weights(data)
    found = WLS(data.outcome, data.design, weights=weights).fit(method="qr")
    bread = np.asarray(found.normalized_cov_params)
    residuals = data.outcome - data.design @ found.params
    n_rows, n_coefficients = data.design.shape
    covariance = bread * float(weights @ residuals**2) / (n_rows - n_coefficients)
    if errors != "nonrobust":
        covariance = _sandwich(data, errors, bread, weights * residuals, weights)
    df = _degrees_of_freedom(data, errors)
    return RegressionFit(np.asarray(found.params), covariance, df, df, _means(data), n_rows)


def _fit_glm(family: Family, data: RegressionData, errors: str) -> RegressionFit:
    from statsmodels.genmod import families
    from statsmodels.genmod.generalized_linear_model import GLM

    kind = families.Binomial() if family == "logistic" else families.Poisson()
    weights = _weights(data)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what they say is checked below
        model = GLM(data.outcome, data.design, family=kind, var_weights=weights)
        try:
            found = model.fit(maxiter=100, tol=1e-10)
        except (ValueError, np.linalg.LinAlgError) as error:  # a step went beyond all numbers
            raise _no_convergence() from error
        estimates, fitted = np.asarray(found.params), np.asarray(found.fittedvalues)
    _check_bounds(family, data, fitted)
    if not found.converged or not np.isfinite(estimates).all():
        raise _no_convergence()
    variance = fitted * (1 - fitted) if family == "logistic" else fitted
    spread = weights * variance
    bread = np.linalg.inv(data.design.T @ (spread[:, None] * data.design))
    covariance = bread
    if errors != "nonrobust":
        residuals = weights * (data.outcome - fitted)
        covariance = _sandwich(data, errors, bread, residuals, spread)
    df = _degrees_of_freedom(data, errors)
    return RegressionFit(estimates, covariance, df, math.inf, _means(data), len(data.outcome))


def _no_convergence() -> AnalysisError:
    return AnalysisError(
        "The regression did not converge.",
        advice="Leave terms out, or rescale columns with very large numbers.",
    )


def _fit_cox(data: RegressionData) -> RegressionFit:
    assert data.event is not None
    found = fit_cox(data.outcome, data.event, data.design, data.weights)
    df = max(found.n_events - data.design.shape[1], 1)
    return RegressionFit(
        found.estimates, found.covariance, df, math.inf, _means(data), len(data.outcome)
    )


def _means(data: RegressionData) -> FloatArray:
    return np.asarray(data.design.mean(axis=0))


def _weights(data: RegressionData) -> FloatArray:
    return np.ones(len(data.outcome)) if data.weights is None else data.weights


# ---------------------------------------------------------------- estimates without bounds


def _check_bounds(family: Family, data: RegressionData, fitted: FloatArray) -> None:
    if not np.isfinite(fitted).all():
        return  # no convergence
    if family == "poisson":
        if (fitted < _AT_BOUND * max(data.outcome.mean(), 1e-300)).any():
            raise AnalysisError(
                "A rate is estimated as 0, so its coefficient is infinite: in some category all "
                "counts are 0.",
                advice="Merge rare categories, or leave a term out.",
            )
    elif np.minimum(fitted, 1 - fitted).min() < _AT_BOUND and _is_separable(data):
        raise AnalysisError(
            "The terms separate the two outcomes perfectly, so a coefficient is infinite.",
            advice="Leave a term out, or merge rare categories.",
        )


def _is_separable(data: RegressionData) -> bool:
    """Say whether a linear combination is never on the wrong side of the outcome (Konis 2007)."""
    scale = np.abs(data.design).max(axis=0)
    toward = np.where(data.outcome > 0, 1.0, -1.0)[:, None] * data.design / scale
    found = optimize.linprog(
        -toward.sum(axis=0), A_ub=-toward, b_ub=np.zeros(len(toward)), bounds=(-1, 1)
    )
    return bool(found.status == 0 and -found.fun > 1e-6)


# ---------------------------------------------------------------- robust standard errors


def _degrees_of_freedom(data: RegressionData, errors: str) -> float:
    n_rows, n_coefficients = data.design.shape
    if errors == "cluster":
        assert data.clusters is not None
        return len(np.unique(data.clusters)) - 1
    return n_rows - n_coefficients


def _sandwich(
    data: RegressionData,
    errors: str,
    bread: FloatArray,
    residuals: FloatArray,
    spread: FloatArray,
) -> FloatArray:
    """Return a covariance matrix that does not trust the variance of the model.

    The same for all families (statsmodels takes HC1 to HC3 of a GLM for HC0): `residuals` times a
    row is its score, `spread` times a row's square is its information.
    """
    scores = residuals[:, None] * data.design
    n_rows, n_coefficients = data.design.shape
    factor = n_rows / (n_rows - n_coefficients) if errors == "HC1" else 1.0
    if errors in ("HC2", "HC3"):
        leverage = spread * np.einsum("ij,jk,ik->i", data.design, bread, data.design)
        free = np.maximum(1 - leverage, 1e-12)
        scores /= (np.sqrt(free) if errors == "HC2" else free)[:, None]
    if errors == "cluster":
        assert data.clusters is not None
        _, cluster = np.unique(data.clusters, return_inverse=True)
        n_clusters = int(cluster.max()) + 1
        if n_clusters < 2:
            raise AnalysisError(
                "All rows are in one cluster, but standard errors need at least 2.",
                advice="Choose another column of clusters.",
            )
        summed = np.zeros((n_clusters, n_coefficients))
        np.add.at(summed, cluster, scores)
        scores = summed
        factor = n_clusters / (n_clusters - 1) * (n_rows - 1) / (n_rows - n_coefficients)
    return factor * bread @ (scores.T @ scores) @ bread
