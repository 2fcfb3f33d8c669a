"""One Gaussian of all columns: what the network, its second prediction and the trees start from."""

from __future__ import annotations

import numpy as np

from pmae_core.gaussian import GaussianModel

ROWS_OF_A_GAUSSIAN = 5000
# Expectation maximization is a little better and grows with the cube of the coordinates.
MOST_COORDINATES_FOR_EM = 256


def fit_joint_gaussian(coordinates: np.ndarray, observed: np.ndarray) -> GaussianModel:
    """Fit a Gaussian to rows of coordinates, by the best method that is still fast."""
    if coordinates.shape[1] > MOST_COORDINATES_FOR_EM:
        return GaussianModel.from_pairs(coordinates, observed)
    return GaussianModel.fit(coordinates, observed)
