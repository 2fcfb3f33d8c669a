"""Impute one table with the package gcimpute, in an environment of its own.

python -m benchmarks.peers.gcimpute.impute FOLDER SEED IMPUTATIONS
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from gcimpute.gaussian_copula import GaussianCopula

from benchmarks.plain_worker import work

PACKAGES = ("gcimpute", "numpy", "pandas", "scipy", "statsmodels")


def ordinal_columns(copula: GaussianCopula, cells: np.ndarray, categorical: list[int]) -> list[int]:
    """Return the positions of columns that are ordinal: it has no other type for categories.

    It chooses the types of numbers itself; its authors warn that a wrong type makes a fit
    diverge. But in this version every table with a "truncated" column, one with many equal values
    at an end, raises an error: numbers in truncated columns get equal bounds, which a check for
    ordinal columns refuses. These are ordinal here, which it chooses for all other columns with a
    frequent value.
    """
    types = copula.get_vartype_indices(cells)
    return [
        position
        for position, type_ in enumerate(types)
        if position in categorical or type_.endswith("_truncated")
    ]


def impute(
    table: pd.DataFrame, categorical: list[str], seed: int, n_imputations: int
) -> list[pd.DataFrame]:
    """Return its answer, or random imputations from the fitted copula."""
    cells = table.to_numpy()
    copula = GaussianCopula(random_state=seed)
    ordinal = ordinal_columns(copula, cells, [table.columns.get_loc(name) for name in categorical])
    # An empty list is not understood as "none".
    answer = copula.fit_transform(cells, ordinal=ordinal or None)
    if not n_imputations:
        return [pd.DataFrame(answer, columns=table.columns)]
    drawn = copula.sample_imputation(cells, num=n_imputations)
    return [pd.DataFrame(drawn[..., k], columns=table.columns) for k in range(n_imputations)]


if __name__ == "__main__":
    work(sys.argv[1:], impute, PACKAGES)
