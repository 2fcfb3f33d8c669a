"""Cox regression by Newton's method, with Efron's handling of tied times.

statsmodels has a Cox regression as well, but on some tables, such as R's ``pbc``, it ends with NaN.
Here a Newton step that goes too far is halved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pmae_core.errors import AnalysisError

FloatArray = npt.NDArray[np.float64]

_MAX_STEPS = 60
_MAX_HALVINGS = 30
# Of a step on the scale of standardized columns.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class CoxFit:
    """Log hazard ratios with their covariance matrix.

    Attributes
    ----------
    estimates : array of shape (n_columns,)
        Log hazard ratio per unit of each column.
    covariance : array of shape (n_columns, n_columns)
        Inverse of the observed information.
    log_likelihood : float
        Partial log-likelihood.
    n_events : int
        Number of events.
    """

    estimates: FloatArray
    covariance: FloatArray
    log_likelihood: float
    n_events: int


def fit_cox(
    time: FloatArray, event: FloatArray, design: FloatArray, weights: FloatArray | None = None
) -> CoxFit:
    """Fit a Cox regression by maximum partial likelihood.

    Parameters
    ----------
    time : array of shape (n_rows,)
        Time until the event or the end of observation.
    event : array of shape (n_rows,)
        1 where the event happened, 0 where observation ended without it.
    design : array of shape (n_rows, n_columns)
        The covariates, without an intercept.
    weights : array of shape (n_rows,), optional
        Case weights; tied events share their mean weight, as in R's ``survival::coxph``.

    Raises
    ------
    AnalysisError
        If the likelihood has no maximum: a hazard ratio is infinite or not defined.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [1.0], [0.0], [1.0], [0.0]])
    >>> fit = fit_cox(np.array([6.0, 2, 3, 4, 5, 5]), np.array([1.0, 1, 1, 0, 1, 1]), x)
    >>> round(float(fit.estimates[0]), 4)
    1.6878
    """
    center, scale = design.mean(axis=0), design.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    problem = _PartialLikelihood.of(
        time, event, (design - center) / scale, np.ones(len(time)) if weights is None else weights
    )
    estimates, at = _maximize(problem)
    covariance = np.linalg.inv(at.information) / np.outer(scale, scale)
    return CoxFit(estimates / scale, covariance, at.value, int(event.sum()))


@dataclass(frozen=True)
class _Likelihood:
    """The log-likelihood at a point, with its first and its negative second derivative."""

    value: float
    score: FloatArray
    information: FloatArray


@dataclass(frozen=True)
class _PartialLikelihood:
    """A partial likelihood; rows are sorted by time, and one step is one event.

    Attributes
    ----------
    design, weights, event : arrays
        The sorted rows.
    first_at_risk : array of shape (n_times,)
        The first row at risk at each time that has events.
    time_of_row : array of shape (n_rows,)
        How many of these times are not after the row's own.
    time_of_step : array of shape (n_events,)
        The time of each event, as a number of these times.
    tied_share : array of shape (n_events,)
        Share of the tied events that is taken to have left the rows at risk (Efron).
    """

    design: FloatArray
    weights: FloatArray
    event: npt.NDArray[np.bool_]
    first_at_risk: npt.NDArray[np.intp]
    time_of_row: npt.NDArray[np.intp]
    time_of_step: npt.NDArray[np.intp]
    tied_share: FloatArray

    @classmethod
    def of(
        cls, time: FloatArray, event: FloatArray, design: FloatArray, weights: FloatArray
    ) -> _PartialLikelihood:
        order = np.argsort(time, kind="stable")
        time, happened = time[order], event[order] > 0
        times, time_of_step, n_tied = np.unique(
            time[happened], return_inverse=True, return_counts=True
        )
        starts = np.cumsum(n_tied) - n_tied
        place_in_tie = np.arange(len(time_of_step)) - starts[time_of_step]
        return cls(
            design[order],
            weights[order],
            happened,
            np.searchsorted(time, times, side="left"),
            np.searchsorted(times, time, side="right"),
            time_of_step,
            place_in_tie / n_tied[time_of_step],
        )

    def at(self, estimates: FloatArray) -> _Likelihood:
        """Return the likelihood at some log hazard ratios."""
        linear = self.design @ estimates
        shift = linear.max()
        risk = self.weights * np.exp(linear - shift)
        step_weight = self._per_time(self.weights)[self.time_of_step]
        step_weight = step_weight / np.bincount(self.time_of_step)[self.time_of_step]
        total = self._at_steps(risk)
        mean = self._at_steps(risk[:, None] * self.design) / total[:, None]
        value = self.weights[self.event] @ linear[self.event]
        value -= step_weight @ (np.log(total) + shift)
        score = self.weights[self.event] @ self.design[self.event] - step_weight @ mean
        spread = risk * self._times_counted(step_weight / total)
        information = self.design.T @ (spread[:, None] * self.design)
        information -= mean.T @ (step_weight[:, None] * mean)
        return _Likelihood(float(value), score, information)

    def _per_time(self, values: FloatArray) -> FloatArray:
        """Sum values of the rows with an event, for each time."""
        per_time = np.zeros((len(self.first_at_risk), *values.shape[1:]))
        np.add.at(per_time, self.time_of_step, values[self.event])
        return per_time

    def _at_steps(self, values: FloatArray) -> FloatArray:
        """Sum values over the rows at risk at each event, with Efron's share of ties removed."""
        from_row = np.cumsum(values[::-1], axis=0)[::-1]
        share = self.tied_share.reshape(-1, *[1] * (values.ndim - 1))
        at_risk = from_row[self.first_at_risk][self.time_of_step]
        return at_risk - share * self._per_time(values)[self.time_of_step]

    def _times_counted(self, of_step: FloatArray) -> FloatArray:
        """Return for each row the sum of a value over all steps at which it is at risk."""
        n_times = len(self.first_at_risk)
        per_time = np.bincount(self.time_of_step, of_step, n_times)
        tied = np.bincount(self.time_of_step, of_step * self.tied_share, n_times)
        counted = np.concatenate([[0.0], np.cumsum(per_time)])[self.time_of_row]
        counted[self.event] -= tied[self.time_of_step]
        return counted


def _maximize(problem: _PartialLikelihood) -> tuple[FloatArray, _Likelihood]:
    """Climb by Newton steps, each halved until the likelihood grows."""
    estimates = np.zeros(problem.design.shape[1])
    with np.errstate(all="ignore"):
        here = problem.at(estimates)
        for _ in range(_MAX_STEPS):
            try:
                step = np.asarray(np.linalg.solve(here.information, here.score), np.float64)
            except np.linalg.LinAlgError:
                break
            if not np.isfinite(step).all():
                break
            if np.abs(step).max(initial=0.0) < _TOLERANCE:
                return estimates, here
            estimates, here = _climb(problem, estimates, here, step)
    raise AnalysisError(
        "The Cox regression did not converge: a hazard ratio seems to be infinite, as when one "
        "category has no events.",
        advice="Merge rare categories, or leave a term out.",
    )


def _climb(
    problem: _PartialLikelihood, start: FloatArray, here: _Likelihood, step: FloatArray
) -> tuple[FloatArray, _Likelihood]:
    for _ in range(_MAX_HALVINGS):
        there = problem.at(start + step)
        # Near the maximum, rounding hides whether the likelihood grows.
        least = here.value - 1e-10 * (1 + abs(here.value))
        if math.isfinite(there.value) and there.value >= least:
            return start + step, there
        step = step / 2
    return start + step, problem.at(start + step)
