"""One Gaussian of all columns: what the network, its second prediction and the trees start from."""

from __future__ import annotations

import numpy as np

from pmae_core.gaussian import GaussianModel

ROWS_OF_A_GAUSSIAN = 5000
# Expectation maximization is a little better and grows with the cube of the coordinates.
MOST_COORDINATES_FOR_EM = 256
ITERATIONS_FROM_A_START = 6


def fit_joint_gaussian(
    coordinates: np.ndarray, observed: np.ndarray, start: GaussianModel | None = None
) -> GaussianModel:
    """Fit a Gaussian to rows of coordinates, by the best method that is still fast.

    Parameters
    ----------
    coordinates, observed : ndarray of shape (rows, coordinates)
        The coordinates, and which of them are observed.
    start : GaussianModel, optional
        The Gaussian of nearly the same rows: a few iterations lead from it to the new one.
    """
    if coordinates.shape[1] > MOST_COORDINATES_FOR_EM:
        return GaussianModel.from_pairs(coordinates, observed)
    if start is None:
        return GaussianModel.fit(coordinates, observed)
    return GaussianModel.fit(coordinates, observed, start=start, max_iter=ITERATIONS_FROM_A_START)
