"""Errors of categorical columns: what their probabilities are off by."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from pmae_core.imputers.masked._cell_errors import (
    PRIOR_ROWS,
    Features,
    RowCoordinates,
    n_features,
)

# A probability of 0 has no odds.
_MIN_PROBABILITY = 1e-4
_NEWTON_STEPS = 12
_MOST_PER_STEP = 2.0
# A coefficient of log odds is pulled toward 0 like a number; a cell tells a quarter of it at most.
_PRIOR = PRIOR_ROWS / 4


@dataclass(frozen=True, eq=False)
class CategoryErrors:
    """What probabilities of a categorical column are off by, in log odds.

    Parameters
    ----------
    features : Features
        What explains it.
    coefficients : ndarray of shape (categories - 1, features + 1)
        Linear model of what is added to the log odds against the first category.
    root : ndarray of shape (coefficients, coefficients)
        Times standard normal numbers, what the coefficients are off by.
    """

    features: Features
    coefficients: np.ndarray
    root: np.ndarray

    @classmethod
    def fit(
        cls, codes: np.ndarray, probabilities: np.ndarray, known: RowCoordinates
    ) -> CategoryErrors:
        """Learn from cells that the probabilities do not know; see :meth:`NumberErrors.fit`."""
        n_others = probabilities.shape[1] - 1
        features, design = Features.fit(known, n_features(len(codes), n_others))
        offset = _log_odds(probabilities)
        is_code = np.eye(n_others + 1)[codes.astype(np.intp)][:, 1:]
        coefficients = np.zeros((n_others, design.shape[1]))
        curvature = np.eye(coefficients.size)
        for _ in range(_NEWTON_STEPS):
            likely = _probabilities(offset + design @ coefficients.T)[:, 1:]
            curvature = _curvature(design, likely)
            slope = (is_code - likely).T @ design - _PRIOR * coefficients
            step = np.linalg.solve(curvature, slope.ravel()).reshape(coefficients.shape)
            coefficients = coefficients + np.clip(step, -_MOST_PER_STEP, _MOST_PER_STEP)
            if np.abs(step).max(initial=0.0) < 1e-6:
                break
        return cls(features, coefficients, np.linalg.cholesky(np.linalg.inv(curvature)))

    def drawn(self, rng: np.random.Generator) -> CategoryErrors:
        """Return errors with other coefficients, for one imputation."""
        off = self.root @ rng.standard_normal(self.coefficients.size)
        changed = self.coefficients + off.reshape(self.coefficients.shape)
        return replace(self, coefficients=changed)

    def draw(
        self,
        estimate: np.ndarray,
        coordinates: np.ndarray,
        spread: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return random codes; see :class:`CellErrors`."""
        added = self.features.of(coordinates) @ self.coefficients.T
        below = _probabilities(_log_odds(estimate) + added).cumsum(axis=1)[:, :-1]
        return (rng.random((len(below), 1)) > below).sum(axis=1)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a model file keeps."""
        return self.features.arrays() | {"coefficients": self.coefficients, "root": self.root}


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    logs = np.log(np.clip(probabilities, _MIN_PROBABILITY, 1.0))
    return np.asarray(logs[:, 1:] - logs[:, :1])


def _probabilities(log_odds: np.ndarray) -> np.ndarray:
    return np.asarray(softmax(np.column_stack([np.zeros(len(log_odds)), log_odds]), axis=1))


def _curvature(design: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """Return the matrix of a multinomial regression's second derivatives, with the prior."""
    n_others, n_inputs = likely.shape[1], design.shape[1]
    products = (likely[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    found = -products.T @ products
    for k in range(n_others):
        own = slice(k * n_inputs, (k + 1) * n_inputs)
        found[own, own] += (design * likely[:, [k]]).T @ design
    return found + _PRIOR * np.eye(len(found))
