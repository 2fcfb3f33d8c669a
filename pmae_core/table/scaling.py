"""Numbers to [0, 1] and back: one fitted, saveable scaler for each numerical column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

NumericScaling = Literal["rank", "quantile", "standard", "minmax"]
NUMERIC_SCALINGS: tuple[str, ...] = get_args(NumericScaling)

MAX_KNOTS = 1000
# float32 near 1 has steps of 6e-8. Knots this far apart stay distinct, and a score this near to a
# knot means the knot itself.
_SMALLEST_GAP = 1e-6
_SNAP = 1.5e-7
_LARGE = 1e280
# scikit-learn's QuantileTransformer never goes nearer than this to probability 0 or 1.
_QUANTILE_EDGE = 1e-7


@dataclass(frozen=True, eq=False)
class KnotScaler:
    """Straight lines between knots, the same both ways; outside of the knots it is flat.

    Parameters
    ----------
    values, scores
        The knots, both strictly increasing.
    """

    values: np.ndarray
    scores: np.ndarray

    @property
    def bounds(self) -> tuple[float, float]:
        """The scores of the lowest and the highest observed number."""
        return float(self.scores[0]), float(self.scores[-1])

    def scale(self, numbers: np.ndarray) -> np.ndarray:
        """Return the scores of numbers (NaN stays NaN)."""
        return np.interp(numbers / self._unit, self.values / self._unit, self.scores)

    def unscale(self, scores: np.ndarray) -> np.ndarray:
        """Return the numbers of scores, inside the observed range."""
        numbers = np.interp(scores, self.scores, self.values / self._unit) * self._unit
        # A knot must come back exactly although scores travel as float32.
        right = np.searchsorted(self.scores, scores).clip(1, len(self.scores) - 1)
        for near in (right - 1, right):
            exact = np.abs(scores - self.scores[near]) <= _SNAP
            numbers = np.where(exact, self.values[near], numbers)
        return numbers

    @property
    def _unit(self) -> float:
        """A power of 2 in which slopes between the largest numbers are finite; usually 1."""
        return 2.0**64 if np.abs(self.values[[0, -1]]).max() > _LARGE else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the scaler as JSON-able data."""
        return {
            "scaler": "knots",
            "values": self.values.tolist(),
            "scores": self.scores.tolist(),
        }


@dataclass(frozen=True, eq=False)
class QuantileScaler:
    """The paper's scaling: quantiles to a normal distribution, then min-max to [0, 1].

    Gives the numbers of scikit-learn's ``QuantileTransformer(output_distribution="normal")``
    fitted on all observed values, followed by a ``MinMaxScaler``.

    Parameters
    ----------
    quantiles
        Evenly spaced quantiles of the observed values, not decreasing.
    lowest, highest
        Range of the normal scores of the observed values.
    """

    quantiles: np.ndarray
    lowest: float
    highest: float

    @property
    def bounds(self) -> tuple[float, float]:
        """The scores of the lowest and the highest observed number."""
        return 0.0, 1.0

    def scale(self, numbers: np.ndarray) -> np.ndarray:
        """Return the scores of numbers (NaN stays NaN)."""
        scores = _normal_scores(numbers, self.quantiles)
        return np.clip((scores - self.lowest) / (self.highest - self.lowest), 0, 1)

    def unscale(self, scores: np.ndarray) -> np.ndarray:
        """Return the numbers of scores, inside the observed range."""
        normal = self.lowest + np.clip(scores, 0, 1) * (self.highest - self.lowest)
        return np.interp(ndtr(normal), _levels(self.quantiles), self.quantiles)

    def to_dict(self) -> dict[str, Any]:
        """Return the scaler as JSON-able data."""
        return {
            "scaler": "quantile",
            "quantiles": self.quantiles.tolist(),
            "lowest": self.lowest,
            "highest": self.highest,
        }


Scaler = KnotScaler | QuantileScaler
"""What scales the numbers of a column, and scales them back."""


def fit_scaler(numbers: np.ndarray, scaling: str) -> Scaler:
    """Fit a scaler to finite numbers of which at least two differ.

    Parameters
    ----------
    numbers
        The observed numbers of one column.
    scaling
        "rank" (normal scores of mid-ranks, exactly invertible, safe with ties), "quantile" (the
        paper's), "minmax", or "standard" (mean ± 3 standard deviations span [0, 1], so outliers
        lie outside of it).

    Examples
    --------
    >>> scaler = fit_scaler(np.array([1.0, 2.0, 4.0, 4.0]), "minmax")
    >>> scaler.scale(np.array([2.5])), scaler.unscale(np.array([0.5]))
    (array([0.5]), array([2.5]))
    """
    if scaling == "rank":
        return _fit_rank(numbers)
    if scaling == "quantile":
        return _fit_quantile(numbers)
    ends = np.array([numbers.min(), numbers.max()])
    if scaling == "minmax":
        return KnotScaler(ends, np.array([0.0, 1.0]))
    return KnotScaler(ends, 0.5 + (ends - numbers.mean()) / (6 * numbers.std()))


def scaler_from_dict(data: dict[str, Any]) -> Scaler:
    """Return the scaler that `to_dict` wrote."""
    if data["scaler"] == "knots":
        return KnotScaler(np.array(data["values"]), np.array(data["scores"]))
    return QuantileScaler(np.array(data["quantiles"]), data["lowest"], data["highest"])


def _fit_rank(numbers: np.ndarray) -> KnotScaler:
    values, counts = np.unique(numbers, return_counts=True)
    mid_ranks = (np.cumsum(counts) - counts / 2) / len(numbers)
    if len(values) > MAX_KNOTS:
        kept = np.linspace(0, len(values) - 1, MAX_KNOTS).round().astype(int)
        values, mid_ranks = values[kept], mid_ranks[kept]
    normal = ndtri(mid_ranks)
    gaps = np.maximum(np.diff(normal) / (normal[-1] - normal[0]), _SMALLEST_GAP)
    scores = np.concatenate([[0.0], np.cumsum(gaps)])
    return KnotScaler(values, scores / scores[-1])


def _fit_quantile(numbers: np.ndarray) -> QuantileScaler:
    count = len(numbers)
    n_quantiles = min(max(min(count // 30, MAX_KNOTS), 10), count)
    quantiles = np.maximum.accumulate(np.quantile(numbers, np.linspace(0, 1, n_quantiles)))
    scores = _normal_scores(np.array([numbers.min(), numbers.max()]), quantiles)
    return QuantileScaler(quantiles, float(scores[0]), float(scores[1]))


def _levels(quantiles: np.ndarray) -> np.ndarray:
    return np.linspace(0, 1, len(quantiles))


def _normal_scores(numbers: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Return the normal score of the middle of the quantile levels that each number holds."""
    levels = _levels(quantiles)
    upper = np.interp(numbers, quantiles, levels)
    lower = -np.interp(-numbers, -quantiles[::-1], -levels[::-1])
    middle = 0.5 * (upper + lower)
    middle = np.where(numbers == quantiles[-1], 1.0, np.where(numbers == quantiles[0], 0.0, middle))
    return ndtri(np.clip(middle, _QUANTILE_EDGE, 1 - _QUANTILE_EDGE))
