"""Is a column learned, and if not, why? The one rule that everything else asks."""

from __future__ import annotations

import enum

import numpy as np
import pandas as pd

from pmae_core.table.cells import CellKind, cell_kind, observed_cells
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.roles import NUMBER_ROLES, Role
from pmae_core.table.time_cells import TimeCells


class NotLearned(enum.StrEnum):
    """Why a column is not learned."""

    IDENTIFIER = "identifier"
    IGNORED = "ignored"
    EMPTY = "empty"
    NOT_FINITE = "not finite"
    CONSTANT = "constant"

    @property
    def clause(self) -> str:
        """The reason as part of a sentence about the column.

        Examples
        --------
        >>> NotLearned.EMPTY.clause
        'none of its cells is observed'
        """
        return _CLAUSES[self]

    @property
    def sentence(self) -> str:
        """The reason as a sentence about the column."""
        return f"{self.clause[0].upper()}{self.clause[1:]}."

    @property
    def imputed(self) -> bool:
        """Whether missing cells are imputed all the same: with the only value there is."""
        return self is NotLearned.CONSTANT


_CLAUSES = {
    NotLearned.IDENTIFIER: "it only names the rows",
    NotLearned.IGNORED: "its role is ignored",
    NotLearned.EMPTY: "none of its cells is observed",
    NotLearned.NOT_FINITE: "none of its observed cells is a finite number",
    NotLearned.CONSTANT: "all its observed cells are equal, so missing ones get that value",
}


def why_not_learned(role: Role, n_observed: int, n_values: int) -> NotLearned | None:
    """Return why a column is not learned, or None if it is.

    Parameters
    ----------
    role
        What the column is for.
    n_observed
        Number of observed cells.
    n_values
        Number of different values among them that the role can use: not infinite numbers.

    Examples
    --------
    >>> why_not_learned(Role.NUMERICAL, n_observed=10, n_values=1)
    <NotLearned.CONSTANT: 'constant'>
    """
    if role is Role.IDENTIFIER:
        return NotLearned.IDENTIFIER
    if role is Role.IGNORED:
        return NotLearned.IGNORED
    if n_observed == 0:
        return NotLearned.EMPTY
    if n_values == 0:
        return NotLearned.NOT_FINITE
    return NotLearned.CONSTANT if n_values == 1 else None


def why_column_not_learned(series: pd.Series, role: Role) -> NotLearned | None:
    """Return why a column at hand is not learned, or None if it is.

    Raises
    ------
    SchemaError
        If the cells cannot be read in this role.
    """
    if role in (Role.IDENTIFIER, Role.IGNORED):
        return why_not_learned(role, 0, 0)
    if not observed_cells(series).any():
        return why_not_learned(role, 0, 0)
    if role in NUMBER_ROLES:
        is_time = role is Role.DATETIME or cell_kind(series) is CellKind.DURATION
        numbers = _finite_numbers(series, is_time=is_time)
        # One, two or none decides; counting all of them would take long.
        n_values = len(numbers) and 1 + int(numbers.min() < numbers.max())
    else:
        n_values = count_unique(series)
    return why_not_learned(role, n_observed=len(series), n_values=n_values)


def count_numbers(series: pd.Series, n_unique: int, *, is_time: bool) -> int:
    """Return how many of the different values of a column are finite numbers or times."""
    numbers = _finite_numbers(series, is_time=is_time)
    if len(numbers) == 0 or numbers.min() == numbers.max():
        # Whole numbers beyond 2**53 may differ by less than float64 shows.
        return min(len(numbers), 1)
    all_are_finite = len(numbers) == int(observed_cells(series).sum())
    return n_unique if all_are_finite else len(pd.unique(numbers))


def _finite_numbers(series: pd.Series, *, is_time: bool) -> np.ndarray:
    # How numbers are written does not matter here.
    cells = TimeCells.fit(series) if is_time else NumberCells(integer=False, written_as="float")
    numbers = cells.read(series)
    return numbers[~np.isnan(numbers)]


def count_unique(series: pd.Series) -> int:
    """Return how many different values a column holds, infinite numbers among them."""
    try:
        return int(series.nunique())
    except TypeError:
        # Lists and the like have no hash; their text distinguishes them.
        return int(series.dropna().map(repr).nunique())
