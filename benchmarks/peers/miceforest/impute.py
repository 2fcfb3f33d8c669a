"""Impute one table with the package miceforest, in an environment of its own.

python -m benchmarks.peers.miceforest.impute FOLDER SEED IMPUTATIONS
"""

from __future__ import annotations

import sys

import miceforest
import pandas as pd

from benchmarks.plain_worker import work

ITERATIONS = 3
PACKAGES = ("miceforest", "lightgbm", "numpy", "pandas", "scipy")


def impute(
    table: pd.DataFrame, categorical: list[str], seed: int, n_imputations: int
) -> list[pd.DataFrame]:
    """Return random imputations; it has no single answer."""
    kernel = miceforest.ImputationKernel(
        table.astype(dict.fromkeys(categorical, "category")),
        num_datasets=n_imputations,
        random_state=seed,
    )
    kernel.mice(ITERATIONS)
    return [kernel.complete_data(dataset=k).astype(float) for k in range(n_imputations)]


if __name__ == "__main__":
    work(sys.argv[1:], impute, PACKAGES)
