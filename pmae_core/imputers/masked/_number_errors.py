"""Errors of columns of numbers: where estimates are off, and how far cells lie from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from pmae_core.imputers.masked._cell_errors import (
    PRIOR_ROWS,
    Features,
    RowCoordinates,
    n_features,
)

# Pulls the coefficients of squares and products toward no curve; in rows.
_PRIOR_ROWS_OF_CURVES = 60.0
# A standardized coordinate counts in squares and products as no farther than this from its mean.
_FARTHEST_IN_CURVES = 3.0
# Pulls the logarithm of the spread toward a constant; in rows.
_PRIOR_ROWS_OF_SPREAD = 5.0
# An error counts as at least so much of the usual one.
_LEAST_ERROR = 0.03
# Logarithm of how many times larger or smaller than usual a spread may be.
_MOST_LOG_SPREAD = 2.0
# Errors are copied from this share of the cells, those with the nearest estimates.
_SHARE_OF_DONORS = 0.2
_FEWEST_DONORS, _MOST_DONORS = 10, 100
# So many cells are kept to copy errors from.
_MOST_CELLS = 2_000
# Ends that so many observed cells have are ends indeed, such as no rain.
_SHARE_AT_AN_END = 0.02
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


@dataclass(frozen=True, eq=False)
class NumberErrors:
    """Errors of a column of numbers, in scores.

    Parameters
    ----------
    features : Features
        What errors are explained by, beside the estimate itself.
    coefficients : ndarray of shape (features + 2 + curves,)
        Their linear model: constant, coordinates, the estimate, and the curves: squares and
        products of some coordinates.
    root : ndarray of shape (coefficients, coefficients)
        Times standard normal numbers, what the coefficients are off by.
    spread : ndarray of shape (features + 3,)
        Linear model of the logarithm of the spread, in units of what a Gaussian expects: constant,
        coordinates, the estimate, and its square.
    estimates, residuals, cells : ndarray of shape (cells,)
        Cells that errors are copied from: their estimates, in ascending order, their errors in
        units of the spread, and their scores.
    n_curved : int
        So many of the first coordinates have squares and products.
    """

    features: Features
    coefficients: np.ndarray
    root: np.ndarray
    spread: np.ndarray
    estimates: np.ndarray
    residuals: np.ndarray
    cells: np.ndarray
    n_curved: int = field(default=0, kw_only=True)

    @classmethod
    def fit(
        cls,
        cells: np.ndarray,
        estimates: np.ndarray,
        known: RowCoordinates,
        *,
        follow_curves: bool = False,
    ) -> NumberErrors:
        """Learn from cells that the estimates do not know.

        Parameters
        ----------
        cells, estimates : ndarray of shape (cells,)
            True and estimated scores.
        known : RowCoordinates
            What a Gaussian expects of the cells' rows.
        follow_curves : bool
            Whether errors may depend on squares and products of the coordinates, too: those of the
            most important ones, as far as there are cells enough.
        """
        most_features = n_features(len(cells), 1)
        features, design = Features.fit(known, most_features)
        n_spare = most_features - len(features.places) if follow_curves else 0
        n_curved = min(len(features.places), _n_curved(n_spare))
        order = np.argsort(estimates, kind="stable")
        cells, estimates = cells[order], estimates[order]
        kept = _kept_cells(cells)
        linear = _with_estimate(design[order], estimates, estimates[kept])
        design = _with_curves(linear, n_curved)
        prior_rows = _prior_rows(linear.shape[1], design.shape[1])
        expected_sizes = _positive(known.spread[order])
        errors = cells - estimates
        coefficients, _ = _solve(design, errors, np.ones(len(errors)), prior_rows)
        spread = _fit_spread(linear, (errors - design @ coefficients) / expected_sizes)
        sizes = _sizes(linear, spread) * expected_sizes
        usual = float(np.sqrt(np.mean(np.square(sizes)))) or 1.0
        coefficients, covariance = _solve(design, errors, np.square(usual / sizes), prior_rows)
        rest = errors - design @ coefficients
        freedom = max(1, len(rest) - design.shape[1])
        variance = float(np.square(rest / sizes).sum() / freedom) * usual**2
        return cls(
            features,
            coefficients,
            np.linalg.cholesky(covariance * variance + 1e-12 * np.eye(len(covariance))),
            spread,
            estimates[kept],
            (rest / sizes)[kept],
            cells[kept],
            n_curved=n_curved,
        )

    def drawn(self, rng: np.random.Generator) -> NumberErrors:
        """Return errors with other coefficients and another spread, for one imputation."""
        freedom = max(1, len(self.cells) - len(self.coefficients))
        size = float(np.sqrt(freedom / rng.chisquare(freedom)))
        off = size * (self.root @ rng.standard_normal(len(self.coefficients)))
        return replace(self, coefficients=self.coefficients + off, residuals=size * self.residuals)

    def draw(
        self,
        estimate: np.ndarray,
        coordinates: np.ndarray,
        spread: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return random scores; see :class:`CellErrors`."""
        linear = _with_estimate(self.features.of(coordinates), estimate, self.estimates)
        design = _with_curves(linear, self.n_curved)
        donor = self._donors(estimate, rng)
        size = _sizes(linear, self.spread) * _positive(spread)
        drawn = estimate + design @ self.coefficients + size * self.residuals[donor]
        return self._inside(drawn, self.cells[donor])

    def _inside(self, drawn: np.ndarray, donated: np.ndarray) -> np.ndarray:
        """Return cells inside the observed range, without piling them up at its ends.

        A cell is reflected at an end. Only where many observed cells have the number at this end,
        it is kept as often as donors have it.
        """
        low, high = self.cells.min(), self.cells.max()
        for end, beyond in ((low, drawn < low), (high, drawn > high)):
            drawn = np.where(beyond, 2 * end - drawn, drawn)
            if np.mean(self.cells == end) >= _SHARE_AT_AN_END:
                drawn = np.where(donated == end, end, drawn)
        return drawn.clip(low, high)

    def _donors(self, estimate: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return for each estimate one of the cells with the nearest estimates."""
        n_cells = len(self.estimates)
        n_donors = int(np.clip(_SHARE_OF_DONORS * n_cells, _FEWEST_DONORS, _MOST_DONORS))
        n_donors = min(n_donors, n_cells)
        left, right = (np.searchsorted(self.estimates, estimate, side) for side in _SIDES)
        # Any of the cells with the very same estimate may be in the middle.
        middle = left + (rng.random(len(estimate)) * (right - left)).astype(np.intp)
        first = (middle - n_donors // 2).clip(0, n_cells - n_donors)
        return np.asarray(first + rng.integers(n_donors, size=len(estimate)))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a model file keeps."""
        return self.features.arrays() | {
            "coefficients": self.coefficients,
            "root": self.root,
            "spread": self.spread,
            "estimates": self.estimates,
            "residuals": self.residuals,
            "cells": self.cells,
        }


def _kept_cells(cells: np.ndarray) -> np.ndarray:
    """Return evenly spaced places of cells, and those of the lowest and the highest."""
    evenly = np.linspace(0, len(cells) - 1, min(len(cells), _MOST_CELLS)).astype(np.intp)
    return np.unique([*evenly, cells.argmin(), cells.argmax()])


def _with_estimate(design: np.ndarray, estimate: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return a design with the estimate as its last column, standardized by known estimates."""
    spread = known.std() or 1.0
    return np.column_stack([design, (estimate - known.mean()) / spread])


def _n_curved(n_curves: int) -> int:
    """Return how many coordinates have at most so many squares and products."""
    return (math.isqrt(1 + 8 * n_curves) - 1) // 2


def _with_curves(design: np.ndarray, n_curved: int) -> np.ndarray:
    """Return a design with squares and products of its first coordinates added."""
    coordinates = design[:, 1 : 1 + n_curved].clip(-_FARTHEST_IN_CURVES, _FARTHEST_IN_CURVES)
    one, other = np.triu_indices(n_curved)
    return np.column_stack([design, coordinates[:, one] * coordinates[:, other] - (one == other)])


def _prior_rows(n_linear: int, n_coefficients: int) -> np.ndarray:
    """Return how many rows each coefficient's pull toward 0 counts like; not the constant's."""
    rows = np.full(n_coefficients, PRIOR_ROWS)
    rows[0] = 1e-9
    rows[n_linear:] = _PRIOR_ROWS_OF_CURVES
    return rows


def _squared(design: np.ndarray) -> np.ndarray:
    """Return a design with the square of its last column added."""
    return np.column_stack([design, np.square(design[:, -1]) - 1.0])


def _solve(
    design: np.ndarray, errors: np.ndarray, weights: np.ndarray, prior_rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted least squares coefficients, and their covariance for errors of size 1."""
    weighted = design * weights[:, None]
    covariance = np.linalg.inv(weighted.T @ design + np.diag(prior_rows))
    return covariance @ (weighted.T @ errors), covariance


def _fit_spread(design: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return a linear model of the logarithm of the size of errors."""
    inputs = _squared(design)
    mean_square = float(np.mean(np.square(rest)))
    spread = np.zeros(inputs.shape[1])
    if mean_square == 0:
        return spread
    sizes = 0.5 * np.log(np.square(rest) / mean_square + _LEAST_ERROR**2)
    prior = _PRIOR_ROWS_OF_SPREAD * np.eye(inputs.shape[1])
    prior[0, 0] = 1e-9
    spread = np.linalg.solve(inputs.T @ inputs + prior, inputs.T @ sizes)
    spread[1:] *= _believed(inputs[:, 1:] @ spread[1:], sizes - inputs @ spread, len(spread) - 1)
    # A mean of logarithms is not that of sizes.
    spread[0] += 0.5 * np.log(np.mean(np.square(rest) * np.exp(-2 * inputs @ spread)))
    return spread


def _believed(explained: np.ndarray, rest: np.ndarray, n_inputs: int) -> float:
    """Return which part of what was explained is not by chance (James and Stein)."""
    by_chance = n_inputs * np.mean(np.square(rest))
    total = np.square(explained - explained.mean()).sum()
    return float(max(0.0, 1.0 - by_chance / total)) if total > 0 else 0.0


def _positive(spread: np.ndarray) -> np.ndarray:
    """Return spreads of more than 0, also where a Gaussian is certain."""
    return np.clip(spread, 1e-6, None)


def _sizes(design: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the spread of errors, from a linear model of its logarithm."""
    relative = _squared(design)[:, 1:] @ spread[1:]
    return np.asarray(np.exp(spread[0] + relative.clip(-_MOST_LOG_SPREAD, _MOST_LOG_SPREAD)))
