"""Predictive mean matching: missing cells are copied from observed ones predicted alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor


@dataclass(frozen=True, eq=False)
class Candidates:
    """Observed cells to copy from, in ascending order of their predictions."""

    predictions: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, predictions: np.ndarray, values: np.ndarray) -> Candidates:
        """Return cells with their predictions, which may be in any order."""
        order = np.argsort(predictions, kind="stable")
        return cls(predictions[order], values[order])

    @classmethod
    def shuffled(
        cls, predictions: np.ndarray, values: np.ndarray, rng: np.random.Generator
    ) -> Candidates:
        """Return cells among which equal predictions are in random order, to be matched so."""
        order = rng.permutation(len(values))
        return cls.of(predictions[order], values[order])

    def draw(self, wanted: np.ndarray, n_nearest: int, rng: np.random.Generator) -> np.ndarray:
        """Return for each wanted prediction one of the values with the nearest predictions."""
        return self.values[match(self.predictions, wanted, n_nearest, rng)]


@dataclass(frozen=True, eq=False)
class NumericalModel:
    """Copies numbers of column ``j`` from observed cells with similar predictions."""

    j: int
    forest: RandomForestRegressor
    candidates: Candidates

    def draw(self, features: np.ndarray, n_candidates: int, rng: np.random.Generator) -> np.ndarray:
        """Return a number per row."""
        return self.candidates.draw(self.forest.predict(features), n_candidates, rng)


@dataclass(frozen=True, eq=False)
class CategoricalModel:
    """Draws the codes of column ``j`` with the probabilities that its forest predicts."""

    j: int
    forest: RandomForestClassifier

    def draw(self, features: np.ndarray, n_candidates: int, rng: np.random.Generator) -> np.ndarray:
        """Return a code per row; the predicted probabilities are all it needs."""
        shares = self.forest.predict_proba(features)
        below = np.cumsum(shares, axis=1)[:, :-1] <= rng.random((len(shares), 1))
        return np.asarray(self.forest.classes_[below.sum(axis=1)])


ColumnModel = CategoricalModel | NumericalModel


def match(
    candidates: np.ndarray, wanted: np.ndarray, n_nearest: int, rng: np.random.Generator
) -> np.ndarray:
    """Return for each wanted number the position of one of its nearest candidates, at random.

    Parameters
    ----------
    candidates : ndarray
        Numbers in ascending order.
    wanted : ndarray
        Numbers to find neighbors of.
    n_nearest : int
        How many of the nearest candidates one is drawn from.
    rng : Generator
        Source of randomness.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> match(np.array([1.0, 2.0, 9.0]), np.array([8.0, 1.4]), 1, rng)
    array([2, 0])
    """
    n_nearest = min(n_nearest, len(candidates))
    # The nearest ones are among as many to the left and to the right.
    places = np.searchsorted(candidates, wanted)[:, None] + np.arange(-n_nearest, n_nearest)
    outside = (places < 0) | (places >= len(candidates))
    places = places.clip(0, len(candidates) - 1)
    distances = np.where(outside, np.inf, np.abs(candidates[places] - wanted[:, None]))
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_nearest]
    picked = nearest[np.arange(len(wanted)), rng.integers(n_nearest, size=len(wanted))]
    return np.asarray(places[np.arange(len(wanted)), picked])
