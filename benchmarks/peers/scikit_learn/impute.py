"""Impute one table with an imputer of scikit-learn, in the way of its user guide.

    python -m benchmarks.peers.scikit_learn.impute FOLDER SEED IMPUTATIONS knn|iterative

Columns are standardized, because distances and a ridge penalty depend on units; categories are
their ordinal codes, and imputed codes are rounded to the nearest code.
"""

from __future__ import annotations

import sys
from functools import partial

import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (makes it importable)
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.preprocessing import StandardScaler

from benchmarks.plain_worker import work

PACKAGES = ("scikit-learn", "numpy", "pandas", "scipy")


def imputed_table(
    table: pd.DataFrame, categorical: list[str], imputer: KNNImputer | IterativeImputer
) -> pd.DataFrame:
    """Impute missing cells with an imputer of standardized numbers."""
    scaler = StandardScaler().fit(table)
    cells = scaler.inverse_transform(imputer.fit_transform(scaler.transform(table)))
    imputed = pd.DataFrame(cells, columns=table.columns)
    for name in categorical:
        imputed[name] = imputed[name].round().clip(table[name].min(), table[name].max())
    # Observed cells do not come back exactly from the scaler.
    return imputed.where(table.isna(), table)


def impute(
    imputer: str, table: pd.DataFrame, categorical: list[str], seed: int, n_imputations: int
) -> list[pd.DataFrame]:
    """Return the answer of an imputer with its defaults, or random imputations."""
    if imputer == "knn":
        return [imputed_table(table, categorical, KNNImputer())]
    if not n_imputations:
        return [imputed_table(table, categorical, IterativeImputer(random_state=seed))]
    return [
        imputed_table(
            table,
            categorical,
            IterativeImputer(sample_posterior=True, random_state=seed * n_imputations + k),
        )
        for k in range(n_imputations)
    ]


if __name__ == "__main__":
    work(sys.argv[1:4], partial(impute, sys.argv[4]), PACKAGES)
