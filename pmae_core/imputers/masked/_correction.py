"""From the median to the mean: predicted numbers, corrected as held-out cells teach.

A network that predicts on a scale of ranks gives about the median of a skewed column. Squared
errors, means and sums are those of the column's own scale, where the best guess is the mean.
"""

from __future__ import annotations

import numpy as np

from pmae_core.table import Scaler

FEWEST_CELLS = 30
KNOTS = 5
FOLDS = 5
# Pulls the correction toward none; as a share of what the average knot has learned from.
RIDGE = 0.01
# A correction is kept as the corrected score at so many evenly spaced scores.
GRID_POINTS = 257


def fit_correction(predicted: np.ndarray, true: np.ndarray, scaler: Scaler) -> np.ndarray | None:
    """Learn which scores the predicted ones of a column should have been.

    Parameters
    ----------
    predicted, true : array of shape (cells,)
        Scores of held-out cells: the predicted and the true ones.
    scaler : Scaler
        What makes scores of the column's numbers.

    Returns
    -------
    array or None
        The corrected scores at evenly spaced ones from the lowest to the highest observed;
        ``None`` where cells are too few, or where a correction does not help on cells that it was
        not learned from.
    """
    if len(true) < FEWEST_CELLS:
        return None
    grid = scaler.unscale(_grid(scaler))
    unit = np.abs(grid).max()  # squares of the largest numbers would be infinite
    guesses, numbers = scaler.unscale(predicted) / unit, scaler.unscale(true) / unit
    fold = np.arange(len(numbers)) % FOLDS
    fair = np.empty(len(numbers))
    for k in range(FOLDS):
        learned = _fit_lines(guesses[fold != k], numbers[fold != k])
        fair[fold == k] = learned.at(guesses[fold == k])
    size = np.square(fair).sum()
    # The share of the correction with the least squared error on cells it was not learned from.
    share = np.clip((fair * (numbers - guesses)).sum() / size, 0.0, 1.0) if size > 0 else 0.0
    if share == 0:
        return None
    corrected = grid / unit + share * _fit_lines(guesses, numbers).at(grid / unit)
    inside = np.clip(corrected, grid[0] / unit, grid[-1] / unit)
    return scaler.scale(inside * unit).astype(np.float32)


def correct(scores: np.ndarray, correction: np.ndarray, scaler: Scaler) -> np.ndarray:
    """Return scores of a column after its correction."""
    return np.interp(scores, _grid(scaler), correction)


def _grid(scaler: Scaler) -> np.ndarray:
    return np.linspace(*scaler.bounds, GRID_POINTS)


class _Lines:
    """A function of straight lines between knots."""

    def __init__(self, knots: np.ndarray, heights: np.ndarray) -> None:
        self.knots = knots
        self.heights = heights

    def at(self, points: np.ndarray) -> np.ndarray:
        return np.interp(points, self.knots, self.heights)


def _fit_lines(guesses: np.ndarray, numbers: np.ndarray) -> _Lines:
    """Fit the difference between numbers and guesses, by lines between quantiles of guesses."""
    knots = np.unique(np.quantile(guesses, np.linspace(0, 1, KNOTS)))
    basis = np.stack([np.interp(guesses, knots, unit) for unit in np.eye(len(knots))], axis=1)
    products = basis.T @ basis
    ridge = RIDGE * np.trace(products) / len(knots) * np.eye(len(knots))
    return _Lines(knots, np.linalg.solve(products + ridge, basis.T @ (numbers - guesses)))
