"""Simulated patients whose blood pressure rises with age, in as many tables as a lesson needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MEAN_AGE, SPREAD_OF_AGES = 50.0, 12.0
MEAN_PRESSURE, PER_YEAR, SPREAD_AROUND_LINE = 130.0, 0.6, 12.0


@dataclass(frozen=True, eq=False)
class Patients:
    """Age in years and blood pressure in mmHg, of shape (tables, rows)."""

    age: np.ndarray
    pressure: np.ndarray


def make_patients(n_tables: int, n_rows: int, rng: np.random.Generator) -> Patients:
    """Make tables of patients, normal around one straight line."""
    age = rng.normal(MEAN_AGE, SPREAD_OF_AGES, (n_tables, n_rows))
    line = MEAN_PRESSURE + PER_YEAR * (age - MEAN_AGE)
    return Patients(age, rng.normal(line, SPREAD_AROUND_LINE))


def means(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the mean of some rows of each table, of shape (tables, 1)."""
    return (values * rows).sum(axis=1, keepdims=True) / rows.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Lines:
    """The straight line through some rows of each table; all of shape (tables, 1).

    Attributes
    ----------
    n_rows, mean_x, mean_y
        Of the rows that each line was fitted to.
    squares_x
        Sum of squared deviations of x.
    slope
        By least squares.
    residual_squares
        Sum of squared residuals.
    """

    n_rows: np.ndarray
    mean_x: np.ndarray
    mean_y: np.ndarray
    squares_x: np.ndarray
    slope: np.ndarray
    residual_squares: np.ndarray

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return the height of each line."""
        return self.mean_y + self.slope * (x - self.mean_x)

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation around each line."""
        return np.sqrt(self.residual_squares / (self.n_rows - 2))


def fit_lines(x: np.ndarray, y: np.ndarray, rows: np.ndarray) -> Lines:
    """Fit a line to the chosen rows of each table by least squares, all tables at once."""
    mean_x, mean_y = means(x, rows), means(y, rows)
    from_x, from_y = (x - mean_x) * rows, (y - mean_y) * rows
    squares_x = (from_x**2).sum(axis=1, keepdims=True)
    slope = (from_x * from_y).sum(axis=1, keepdims=True) / squares_x
    residual_squares = ((from_y - slope * from_x) ** 2).sum(axis=1, keepdims=True)
    n_rows = rows.sum(axis=1, keepdims=True)
    return Lines(n_rows, mean_x, mean_y, squares_x, slope, residual_squares)
