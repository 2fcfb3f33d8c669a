"""Least squares in many tables at once: the last axis has the rows, those before it the tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def coefficients(
    outcome: FloatArray,
    *predictors: FloatArray,
    kept: npt.ArrayLike | None = None,
    last_spread: npt.ArrayLike = 0.0,
) -> FloatArray:
    """Return the intercept and the coefficients of the predictors, along the last axis.

    Parameters
    ----------
    outcome, predictors
        Arrays of one shape.
    kept
        True for the rows to use; all rows if not given.
    last_spread
        Added to the sum of squares of the last predictor: if missing values of it are set to
        their expectation, their sum of squares around it. This is the last step of EM.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> coefficients(1 + 2 * x, x).round(6).tolist()
    [1.0, 2.0]
    """
    design = np.stack([np.ones_like(outcome), *predictors], axis=-1)
    weighted = design if kept is None else design * np.asarray(kept)[..., None]
    transposed = np.swapaxes(weighted, -1, -2)
    products = transposed @ design
    products[..., -1, -1] += last_spread
    return np.linalg.solve(products, transposed @ outcome[..., None])[..., 0]


def slope(x: FloatArray, y: FloatArray, kept: npt.ArrayLike | None = None) -> FloatArray:
    """Return the slope of y on x, along the last axis; of the kept rows alone if they are given.

    Examples
    --------
    >>> float(slope(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])))
    2.0
    """
    weights = np.ones_like(x) if kept is None else np.asarray(kept, dtype=float)
    share = weights / weights.sum(axis=-1, keepdims=True)
    x_around = x - (share * x).sum(axis=-1, keepdims=True)
    y_around = y - (share * y).sum(axis=-1, keepdims=True)
    return (share * x_around * y_around).sum(axis=-1) / (share * x_around**2).sum(axis=-1)
