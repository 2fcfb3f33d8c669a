"""What a model expects in the missing cells of some rows."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

from pmae_core.imputers.masked._own_numbers import OwnNumbers

Estimates: TypeAlias = dict[int, np.ndarray]
"""For a column its wanted cells as rows: a number on its own scale, or class probabilities."""


class Estimator(Protocol):
    """Anything that estimates cells given others."""

    def estimate(self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray) -> Estimates:
        """Return estimates of the wanted cells of encoded rows, given the kept ones.

        Parameters
        ----------
        values : ndarray of shape (rows, columns)
            Encoded cells.
        kept, wanted : bool ndarray of shape (rows, columns)
            Which cells are given, and which are asked for.
        """
        ...


def wanted_columns(wanted: np.ndarray) -> list[int]:
    """Return the columns with a wanted cell."""
    columns: list[int] = np.flatnonzero(wanted.any(axis=0)).tolist()
    return columns


def true_cells(values: np.ndarray, j: int, numbers: OwnNumbers, n_categories: int) -> np.ndarray:
    """Return encoded cells of a column in the form of estimates: numbers, or 0 and 1."""
    if n_categories:
        return np.eye(n_categories)[values.astype(np.intp)]
    return numbers.of_scores(values, j)[:, None]


def encoded_cells(estimate: np.ndarray, j: int, numbers: OwnNumbers) -> np.ndarray:
    """Return a column's estimates as encoded cells: scores, or the likeliest code."""
    if numbers.is_number(j):
        return numbers.to_scores(estimate[:, 0], j)
    return estimate.argmax(axis=1)
