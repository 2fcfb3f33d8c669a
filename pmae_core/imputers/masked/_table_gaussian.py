"""One Gaussian of all columns of a table, on the scale of ranks or on their own; without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pmae_core.gaussian import GaussianModel
from pmae_core.imputers.masked._estimates import Estimates, wanted_columns
from pmae_core.imputers.masked._joint_gaussian import ROWS_OF_A_GAUSSIAN, fit_joint_gaussian
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._saved_arrays import damaged
from pmae_core.imputers.masked.presets import MOST_COORDINATES
from pmae_core.table import EncodedColumn, EncodedTable

# A probability of exactly 0 would exclude what a line cannot exclude.
_MIN_PROBABILITY = 1e-3


@dataclass(frozen=True, eq=False)
class TableGaussian:
    """A joint Gaussian of all columns: numbers standardized, categories as indicators.

    A categorical column has one coordinate for each category except the first.

    Parameters
    ----------
    model : GaussianModel
        The Gaussian of the coordinates.
    columns : sequence of EncodedColumn
        What the columns are.
    numbers : OwnNumbers
        The columns' own numbers.
    on_own_scale : bool
        Whether numbers are taken on their own scale, where outliers count in full, or as scores.
    center, scale : ndarray of shape (columns,)
        What standardizes numbers.
    """

    model: GaussianModel
    columns: Sequence[EncodedColumn]
    numbers: OwnNumbers
    on_own_scale: bool
    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(
        cls,
        encoded: EncodedTable,
        observed: np.ndarray,
        numbers: OwnNumbers,
        *,
        on_own_scale: bool,
        rng: np.random.Generator,
    ) -> TableGaussian:
        """Fit the Gaussian to some thousand rows of a table.

        Parameters
        ----------
        encoded : EncodedTable
            The table.
        observed : bool ndarray of shape (rows, columns)
            The cells to learn from.
        numbers : OwnNumbers
            The columns' own numbers.
        on_own_scale : bool
            Whether to take numbers on their own scale.
        rng : Generator
            Chooses the rows.
        """
        zeros, ones = np.zeros(len(encoded.columns)), np.ones(len(encoded.columns))
        nothing = GaussianModel(np.zeros(0), np.zeros((0, 0)))
        unfitted = cls(nothing, encoded.columns, numbers, on_own_scale, zeros, ones)
        rows = rng.permutation(len(observed))[:ROWS_OF_A_GAUSSIAN]
        cells = unfitted._cells(encoded.values[rows])
        center, scale = zeros.copy(), ones.copy()
        for j in range(len(encoded.columns)):
            known = cells[observed[rows, j], j]
            if numbers.is_number(j) and len(known):
                center[j], scale[j] = known.mean(), known.std() or 1.0
        fitted = replace(unfitted, center=center, scale=scale)
        coordinates = fitted._coordinates(encoded.values[rows])
        model = fit_joint_gaussian(coordinates, observed[rows][:, fitted.column])
        return replace(fitted, model=model)

    def without_rows(
        self, encoded: EncodedTable, observed: np.ndarray, left_out: np.ndarray
    ) -> TableGaussian:
        """Return the Gaussian of the same table without some rows, given as booleans."""
        others = np.flatnonzero(~left_out)
        if not len(others) or not left_out.any():
            return self
        # Evenly spaced rows are as good as random ones here, and need no random numbers.
        n_rows = min(len(others), ROWS_OF_A_GAUSSIAN)
        others = others[np.linspace(0, len(others) - 1, n_rows).astype(int)]
        coordinates = self._coordinates(encoded.values[others])
        known = observed[others][:, self.column]
        return replace(self, model=fit_joint_gaussian(coordinates, known, start=self.model))

    @property
    def column(self) -> np.ndarray:
        """The column of each coordinate."""
        return np.array([j for j, _ in coordinates_of(self.columns)], dtype=np.intp)

    @property
    def code(self) -> np.ndarray:
        """The category that each coordinate indicates; 0 for a number."""
        return np.array([code for _, code in coordinates_of(self.columns)])

    def important_coordinates(self, j: int) -> np.ndarray:
        """Return the coordinates of other columns, those that say most about one column first."""
        precision = self._precision
        deviation = np.sqrt(np.diag(self.model.covariance))
        own = self.column == j
        weights = np.abs(precision[own] / np.diag(precision)[own][:, None]).sum(axis=0) * deviation
        order = np.argsort(-weights, kind="stable")
        return order[~own[order]]

    @cached_property
    def _precision(self) -> np.ndarray:
        return np.linalg.inv(self.model.covariance)

    def expect(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return the coordinates of rows; those of cells not kept as expected given the others."""
        return self.model.conditional_mean(self._coordinates(values), kept[:, self.column])

    def expect_with_spread(
        self, values: np.ndarray, kept: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what :meth:`expect` does, and the standard deviation around each coordinate."""
        coordinates = self._coordinates(values)
        mean, variance = self.model.conditional_moments(coordinates, kept[:, self.column])
        return mean, np.sqrt(variance)

    def spread_of_column(self, spread: np.ndarray, j: int) -> np.ndarray:
        """Return the standard deviations of a column of numbers; 1 for a category."""
        if not self.numbers.is_number(j):
            return np.ones(len(spread))
        return np.asarray(spread[:, self.column == j][:, 0] * self.scale[j])

    def estimate(self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray) -> Estimates:
        """Return estimates of the wanted cells, given the kept ones; see :class:`Estimator`."""
        return self.estimates_of(self.expect(values, kept), wanted)

    def estimates_of(self, coordinates: np.ndarray, wanted: np.ndarray) -> Estimates:
        """Return what :meth:`expect` gave as estimates of the wanted cells."""
        return {
            j: self._estimate_of(coordinates[wanted[:, j]][:, self.column == j], j)
            for j in wanted_columns(wanted)
        }

    def _estimate_of(self, expected: np.ndarray, j: int) -> np.ndarray:
        if self.numbers.is_number(j):
            cells = expected[:, 0] * self.scale[j] + self.center[j]
            if not self.on_own_scale:
                cells = self.numbers.of_scores(cells, j)
            return np.clip(cells, 0.0, 1.0)[:, None]
        first = 1.0 - expected.sum(axis=1, keepdims=True)
        likely = np.clip(np.hstack([first, expected]), _MIN_PROBABILITY, 1.0)
        return likely / likely.sum(axis=1, keepdims=True)

    def _coordinates(self, values: np.ndarray) -> np.ndarray:
        standardized = (self._cells(values) - self.center) / self.scale
        is_indicator = np.array([not self.numbers.is_number(j) for j in self.column], dtype=bool)
        cells = standardized[:, self.column]
        return np.where(is_indicator, cells == self.code, cells)

    def _cells(self, values: np.ndarray) -> np.ndarray:
        cells = values.astype(np.float64)
        if self.on_own_scale:
            for j in range(len(self.columns)):
                if self.numbers.is_number(j):
                    cells[:, j] = self.numbers.of_scores(cells[:, j], j)
        return cells

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a model file keeps."""
        return {
            "mean": self.model.mean,
            "covariance": self.model.covariance,
            "center": self.center,
            "scale": self.scale,
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, np.ndarray],
        columns: Sequence[EncodedColumn],
        numbers: OwnNumbers,
        *,
        on_own_scale: bool,
    ) -> TableGaussian:
        """Return the Gaussian that :meth:`arrays` describes."""
        n_columns, n_coordinates = len(columns), len(coordinates_of(columns))
        shapes = {
            "mean": (n_coordinates,),
            "covariance": (n_coordinates, n_coordinates),
            "center": (n_columns,),
            "scale": (n_columns,),
        }
        for name, shape in shapes.items():
            if name not in arrays or arrays[name].shape != shape:
                raise damaged(f"the Gaussian's {name} does not fit the columns")
            if not np.isfinite(arrays[name]).all():
                raise damaged(f"the Gaussian's {name} is not finite")
        model = GaussianModel(arrays["mean"], arrays["covariance"])
        return cls(model, columns, numbers, on_own_scale, arrays["center"], arrays["scale"])


def coordinates_of(columns: Sequence[EncodedColumn]) -> list[tuple[int, int]]:
    """Return column and category of each coordinate of a Gaussian of these columns."""
    return [
        (j, code)
        for j, column in enumerate(columns)
        for code in (range(1, column.n_categories) if column.n_categories else [0])
    ]


def is_too_wide(columns: Sequence[EncodedColumn]) -> bool:
    """Return whether columns have more coordinates than a Gaussian can take."""
    return len(coordinates_of(columns)) > MOST_COORDINATES
