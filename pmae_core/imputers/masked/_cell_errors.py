"""What errors on cells that a model has not seen say about its estimates of others.

A random imputation must vary for two reasons: a cell varies around what is expected of it, and what
is expected was learned from few rows and is uncertain itself. Both are learned from the same
errors. A linear model of the errors says where estimates are off; its coefficients are drawn anew
for every imputation, from their distribution given the errors. The rest of an error is spread,
which may grow or shrink from row to row, and is copied from cells with similar estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

# One coordinate of a model of errors per so many cells, and no more than so many in all.
_CELLS_PER_COORDINATE = 10
MOST_COORDINATES = 50
# Pulls coefficients toward no correction; in rows.
PRIOR_ROWS = 1.0


class CellErrors(Protocol):
    """Draws cells of one column."""

    def drawn(self, rng: np.random.Generator) -> CellErrors:
        """Return one with other coefficients, for one imputation."""
        ...

    def draw(
        self,
        estimate: np.ndarray,
        coordinates: np.ndarray,
        spread: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return random encoded cells.

        Parameters
        ----------
        estimate : ndarray of shape (cells,) or (cells, categories)
            Expected scores, or probabilities.
        coordinates : ndarray of shape (cells, coordinates)
            What a Gaussian expects of the cells' rows.
        spread : ndarray of shape (cells,)
            How far it expects the cells to lie from their mean.
        rng : Generator
            Source of randomness.
        """
        ...

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a model file keeps."""
        ...


@dataclass(frozen=True, eq=False)
class RowCoordinates:
    """Some of the coordinates that a Gaussian expects of rows.

    Attributes
    ----------
    places : int ndarray of shape (some,)
        Which ones, the most important first.
    values : ndarray of shape (rows, some)
        The coordinates.
    spread : ndarray of shape (rows,)
        How far a cell of the column lies from what the Gaussian expects; more where less is known.
    """

    places: np.ndarray
    values: np.ndarray
    spread: np.ndarray

    def first(self, n_rows: int) -> RowCoordinates:
        """Return the coordinates of the first rows."""
        return RowCoordinates(self.places, self.values[:n_rows], self.spread[:n_rows])


def no_coordinates(n_rows: int) -> RowCoordinates:
    """Return what is known of rows without a Gaussian."""
    return RowCoordinates(np.zeros(0, dtype=np.intp), np.zeros((n_rows, 0)), np.ones(n_rows))


@dataclass(frozen=True, eq=False)
class Features:
    """What errors are explained by: coordinates of the row, standardized.

    Parameters
    ----------
    places : int ndarray of shape (features,)
        The coordinates.
    center, scale : ndarray of shape (features,)
        What standardizes them.
    """

    places: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, known: RowCoordinates, n_features: int) -> tuple[Features, np.ndarray]:
        """Return the features of some cells' rows, and their design."""
        cells = known.values[:, :n_features]
        spread = cells.std(axis=0)
        features = cls(
            known.places[:n_features], cells.mean(axis=0), np.where(spread > 0, spread, 1.0)
        )
        return features, features._design(cells)

    def of(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the design of rows: a column of ones, and standardized coordinates."""
        return self._design(coordinates[:, self.places])

    def _design(self, cells: np.ndarray) -> np.ndarray:
        return np.column_stack([np.ones(len(cells)), (cells - self.center) / self.scale])

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a model file keeps."""
        return {"places": self.places, "center": self.center, "scale": self.scale}


def n_features(n_cells: int, n_models: int) -> int:
    return min(MOST_COORDINATES, n_cells // (_CELLS_PER_COORDINATE * max(1, n_models)))
