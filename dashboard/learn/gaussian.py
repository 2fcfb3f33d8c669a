"""The Gaussian behind the EM imputer, fitted to a table of a lesson."""

import numpy as np
import pandas as pd

from pmae_core.gaussian import GaussianModel

_MOST_ITERATIONS = 500


def gaussian_of(incomplete: pd.DataFrame) -> GaussianModel:
    """Return mean and covariance of all rows by maximum likelihood, incomplete ones included (EM).

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.1, 2.9, np.nan]})
    >>> gaussian_of(frame).mean.round(3).tolist()
    [2.5, 2.475]
    """
    values = incomplete.to_numpy(dtype=np.float64)
    # The search stops by absolute changes: bring all columns to one scale first.
    center, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    scaled = (values - center) / spread
    fitted = GaussianModel.fit(
        np.nan_to_num(scaled), ~np.isnan(scaled), max_iter=_MOST_ITERATIONS, ridge=0.0
    )
    return GaussianModel(
        fitted.mean * spread + center,
        fitted.covariance * np.outer(spread, spread),
        fitted.n_iterations,
    )
