"""A table as numbers: values, observed cells, and what the columns are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class EncodedColumn:
    """One column as a model sees it.

    Parameters
    ----------
    name
        Name of the column in the table.
    kind
        "numerical" or "categorical".
    n_categories
        Number of classes, 0 for a numerical column.
    """

    name: Hashable
    kind: Literal["numerical", "categorical"]
    n_categories: int


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table as numbers.

    Parameters
    ----------
    values
        float32, shape (n, d): numerical cells in [0, 1], categorical cells as their code; 0 where
        not observed.
    observed
        bool, shape (n, d): False where a cell is missing, or present but unusable for the model
        (a category not observed in fitting, an infinite number).
    columns
        What the d columns are.
    """

    values: np.ndarray
    observed: np.ndarray
    columns: tuple[EncodedColumn, ...]

    @property
    def p_obs(self) -> np.ndarray:
        """Observed proportion of each column, shape (d,); 1 for a table without rows."""
        if not len(self.observed):
            return np.ones(len(self.columns))
        return self.observed.mean(axis=0)


def scalar_values(encoded: EncodedTable) -> np.ndarray:
    """Return the values with categorical codes divided by K - 1: all columns in [0, 1].

    Examples
    --------
    >>> column = EncodedColumn("size", "categorical", 3)
    >>> table = EncodedTable(np.array([[1.0]], "float32"), np.array([[True]]), (column,))
    >>> scalar_values(table)
    array([[0.5]], dtype=float32)
    """
    return encoded.values / _code_ranges(encoded.columns)


def values_from_scalars(scalars: np.ndarray, columns: Sequence[EncodedColumn]) -> np.ndarray:
    """Return encoded values from scalars in [0, 1]: categorical ones become the nearest code.

    Examples
    --------
    >>> values_from_scalars(np.array([[0.6]]), [EncodedColumn("size", "categorical", 3)])
    array([[1.]])
    """
    values = np.array(scalars)
    for j, column in enumerate(columns):
        if column.kind == "categorical":
            highest = column.n_categories - 1
            values[:, j] = np.clip(np.rint(values[:, j] * highest), 0, highest)
    return values


def _code_ranges(columns: Sequence[EncodedColumn]) -> np.ndarray:
    return np.array([max(column.n_categories - 1, 1) for column in columns], dtype=np.float32)
