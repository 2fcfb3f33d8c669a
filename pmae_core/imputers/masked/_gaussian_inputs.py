"""A Gaussian's estimate of every cell given others, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pmae_core.gaussian import GaussianModel
from pmae_core.imputers.masked._joint_gaussian import ROWS_OF_A_GAUSSIAN, fit_joint_gaussian
from pmae_core.imputers.masked.presets import MOST_COORDINATES
from pmae_core.table import EncodedTable
from pmae_core.table.scaling import Scaler, fit_scaler


@dataclass(frozen=True, eq=False)
class GaussianInputs:
    """A joint Gaussian of all columns: numbers as normal scores, categories as indicators.

    Parameters
    ----------
    model : GaussianModel
        The Gaussian of the coordinates.
    scalers : sequence of Scaler or None
        What makes normal scores of each column's numbers; ``None`` for a categorical column.
    column, code : ndarray of shape (coordinates,)
        The column of each coordinate, and the category that it indicates.
    """

    model: GaussianModel
    scalers: Sequence[Scaler | None]
    column: np.ndarray
    code: np.ndarray

    @classmethod
    def fit(cls, encoded: EncodedTable, rng: np.random.Generator) -> GaussianInputs | None:
        """Fit the Gaussian to some thousand rows of a table; ``None`` for too many columns."""
        coordinates = [
            (j, code)
            for j, column in enumerate(encoded.columns)
            for code in (range(1, column.n_categories) if column.n_categories else [0])
        ]
        if len(coordinates) > MOST_COORDINATES:
            return None
        rows = rng.permutation(len(encoded.values))[:ROWS_OF_A_GAUSSIAN]
        values, observed = encoded.values[rows], encoded.observed[rows]
        scalers = [
            None if column.n_categories else fit_scaler(_observed(encoded, j), "rank")
            for j, column in enumerate(encoded.columns)
        ]
        columns, codes = np.array(coordinates).T
        unfitted = cls(GaussianModel(np.zeros(0), np.zeros((0, 0))), scalers, columns, codes)
        expanded, known = unfitted._expand(values), observed[:, columns]
        return cls(fit_joint_gaussian(expanded, known), scalers, columns, codes)

    def __len__(self) -> int:
        return len(self.column)

    def estimate(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return the coordinates of rows; those of cells not kept as expected given the others."""
        expanded = self._expand(values)
        return self.model.conditional_mean(expanded, kept[:, self.column]).astype(np.float32)

    def _expand(self, values: np.ndarray) -> np.ndarray:
        scores = values.astype(np.float64)
        for j, scaler in enumerate(self.scalers):
            if scaler is not None:
                scores[:, j] = scaler.scale(scores[:, j])
        is_indicator = np.array([self.scalers[j] is None for j in self.column])
        cells = scores[:, self.column]
        return np.where(is_indicator, cells == self.code, cells)


def _observed(encoded: EncodedTable, j: int) -> np.ndarray:
    return encoded.values[encoded.observed[:, j], j].astype(np.float64)
