"""Regressions whose coefficients are drawn from their posterior distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from pmae_core.imputers.classic._mean_matching import Candidates

# Observed cells that a number is copied from, as many as in the R package mice.
N_CANDIDATES = 5
# Share of a feature's sum of squares that is added to it, as there.
_RIDGE = 1e-5
# Prior standard deviation of logistic coefficients of standardized features: it hardly changes
# what the data determine, and keeps the rest finite where categories are separated.
_PRIOR_SPREAD = 2.5
_MOST_NEWTON_STEPS = 25
_SMALL_STEP = 1e-4


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """Centers and scales features, and puts a 1 before them."""

    center: np.ndarray
    factor: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray) -> Self:
        """Return the scaling of features; those that never vary will always be 0."""
        spread = features.std(axis=0)
        # Below this, a column of equal numbers has only rounding errors.
        varies = spread > 1e-9
        return cls(features.mean(axis=0), np.where(varies, 1 / np.where(varies, spread, 1), 0))

    def apply(self, features: np.ndarray) -> np.ndarray:
        """Return standardized features after a 1."""
        scaled = (features - self.center) * self.factor
        return np.column_stack([np.ones(len(scaled)), scaled])


@dataclass(frozen=True, eq=False)
class DrawnLinear:
    """A linear regression with coefficients and residual spread drawn from their posterior.

    Attributes
    ----------
    scaling : FeatureScaling
        Of the features.
    estimated, drawn : ndarray
        The most likely coefficients, and drawn ones.
    spread : float
        Drawn standard deviation of the residuals.
    """

    scaling: FeatureScaling
    estimated: np.ndarray
    drawn: np.ndarray
    spread: float

    @classmethod
    def fit(cls, features: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> Self:
        """Draw a regression of a column on features (van Buuren 2018, algorithm 3.1)."""
        scaling = FeatureScaling.of(features)
        x = scaling.apply(features)
        products = x.T @ x
        factor = np.linalg.cholesky(products + _RIDGE * len(x) * np.eye(len(products)))
        half = solve_triangular(factor, x.T @ target, lower=True)
        estimated = solve_triangular(factor.T, half)
        residual = np.sum((target - x @ estimated) ** 2)
        spread = float(np.sqrt(residual / rng.chisquare(max(len(x) - x.shape[1], 1))))
        noise = solve_triangular(factor.T, rng.normal(size=len(estimated)))
        return cls(scaling, estimated, estimated + spread * noise, spread)

    def predict(self, features: np.ndarray, *, drawn: bool) -> np.ndarray:
        """Return predictions by the drawn or by the estimated coefficients."""
        return self.scaling.apply(features) @ (self.drawn if drawn else self.estimated)

    def draw(self, features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a number per row, with a normal residual."""
        return self.predict(features, drawn=True) + self.spread * rng.normal(size=len(features))


@dataclass(frozen=True, eq=False)
class MatchedLinear:
    """Copies observed cells to rows with similar predictions, those by drawn coefficients.

    Predictive mean matching of type 1 (van Buuren 2018, algorithm 3.3): the predictions of the
    cells to copy from are those by the estimated coefficients.
    """

    regression: DrawnLinear
    donors: Candidates

    @classmethod
    def fit(cls, features: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> Self:
        """Draw a regression of a column on features."""
        regression = DrawnLinear.fit(features, target, rng)
        predictions = regression.predict(features, drawn=False)
        return cls(regression, Candidates.shuffled(predictions, target, rng))

    def draw(self, features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a number per row."""
        wanted = self.regression.predict(features, drawn=True)
        return self.donors.draw(wanted, N_CANDIDATES, rng)


@dataclass(frozen=True, eq=False)
class DrawnLogistic:
    """A multinomial logistic regression with coefficients drawn from their posterior.

    The posterior is taken as normal around its mode. There is one column of coefficients for every
    code but the first.
    """

    scaling: FeatureScaling
    estimated: np.ndarray
    drawn: np.ndarray

    @classmethod
    def fit(cls, features: np.ndarray, is_code: np.ndarray, rng: np.random.Generator) -> Self:
        """Draw a regression of a category, as indicators of its codes but the first."""
        scaling = FeatureScaling.of(features)
        x = scaling.apply(features)
        mode, information = _posterior_mode(x, is_code)
        factor = np.linalg.cholesky(information)
        noise = solve_triangular(factor.T, rng.normal(size=len(information)))
        return cls(scaling, mode, mode + noise.reshape(is_code.shape[1], x.shape[1]).T)

    def chances(self, features: np.ndarray, *, drawn: bool) -> np.ndarray:
        """Return the probability of every code but the first, by drawn or estimated ones."""
        return _chances(self.scaling.apply(features) @ (self.drawn if drawn else self.estimated))

    def draw(self, features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a code per row, with the probabilities of the drawn coefficients."""
        return draw_codes(self.chances(features, drawn=True), rng)


def draw_codes(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a code per row, given the probability of every code but the first."""
    # From the last code to the second; what is left belongs to the first.
    above = np.cumsum(chances[:, ::-1], axis=1) > rng.random((len(chances), 1))
    return above.sum(axis=1).astype(np.float64)


def _chances(scores: np.ndarray) -> np.ndarray:
    """Return the probability of every code but the first, whose score is 0."""
    highest = np.maximum(scores.max(axis=1, initial=0), 0)[:, None]
    weights = np.exp(scores - highest)
    return np.asarray(weights / (np.exp(-highest) + weights.sum(axis=1, keepdims=True)))


def _posterior_mode(x: np.ndarray, is_code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the most likely coefficients, and their information, by Newton's method."""
    coefficients = np.zeros((x.shape[1], is_code.shape[1]))
    precision = np.full((x.shape[1], 1), _PRIOR_SPREAD**-2)
    # The shares of categories are left to the data.
    precision[0] = 1e-6
    for _ in range(_MOST_NEWTON_STEPS):
        chances = _chances(x @ coefficients)
        information = _information(x, chances, precision)
        gradient = x.T @ (is_code - chances) - precision * coefficients
        step = np.linalg.solve(information, gradient.T.ravel()).reshape(gradient.T.shape).T
        # Long steps overshoot where a category is almost certain.
        step *= min(1.0, 2 / max(np.abs(step).max(initial=0), 1e-12))
        coefficients = coefficients + step
        if np.abs(step).max(initial=0) < _SMALL_STEP:
            break
    return coefficients, _information(x, _chances(x @ coefficients), precision)


def _information(x: np.ndarray, chances: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Return the negative second derivative of the log posterior, code by code."""
    n_codes, n_features = chances.shape[1], x.shape[1]
    weighted = (chances[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    information = -(weighted.T @ weighted)
    for k in range(n_codes):
        block = slice(k * n_features, (k + 1) * n_features)
        information[block, block] += weighted[:, block].T @ x
        information[block, block] += np.diag(precision[:, 0])
    return information
