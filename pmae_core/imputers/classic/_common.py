"""What several of the classic methods share."""

from __future__ import annotations

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.table import EncodedTable, scalar_values


def check_two_columns(encoded: EncodedTable, title: str) -> None:
    """Refuse a table with fewer than two columns to predict from each other."""
    if len(encoded.columns) < 2:
        raise ImputationError(
            f"{title} predicts columns from each other and needs at least two columns that can be "
            "learned. Add a column, or choose another method."
        )


def columns_by_missing(observed: np.ndarray) -> list[int]:
    """Return all columns, those with the fewest missing cells first."""
    return [int(j) for j in np.argsort((~observed).sum(axis=0), kind="stable")]


def scalars_with_nan(encoded: EncodedTable) -> np.ndarray:
    """Return the cells as numbers in [0, 1], and NaN where they are missing."""
    return np.where(encoded.observed, scalar_values(encoded), np.nan).astype(np.float64)
