"""Held-out cells of a table, and how far off each method's imputations of them are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pmae_core.amputation import ampute_like
from pmae_core.imputers.classic.naive import column_center
from pmae_core.masking import HeldOut, hold_out_cells
from pmae_core.table import EncodedTable


class HeldOutComparison:
    """Held-out cells of a table, and what each method imputed there.

    The error of a cell is its squared error in units of the column's variance or, for a category,
    1 if wrong. A row held out several times counts once, with its mean error, because its errors
    are not independent.

    Parameters
    ----------
    encoded : EncodedTable
        The table, numbers scaled affinely.
    """

    def __init__(self, encoded: EncodedTable) -> None:
        self.encoded = encoded
        self._rows: list[np.ndarray] = []
        self._columns: list[np.ndarray] = []
        self._reference: list[np.ndarray] = []
        self._imputed: dict[str, list[np.ndarray]] = {}
        self._variances = np.array(
            [
                _variance(encoded, j) if column.kind == "numerical" else np.nan
                for j, column in enumerate(encoded.columns)
            ]
        )

    def add_cells(self, rows: np.ndarray, cells: np.ndarray, remaining: np.ndarray) -> None:
        """Add held-out cells.

        Parameters
        ----------
        rows : int array of shape (k,)
            Rows with such cells.
        cells : bool array of shape (k, columns)
            The held-out cells of these rows.
        remaining : bool array of shape (rows, columns)
            The observed cells of the whole table that methods learn from.
        """
        i, j = np.nonzero(cells)
        self._rows.append(rows[i])
        self._columns.append(j)
        remainder = EncodedTable(self.encoded.values, remaining, self.encoded.columns)
        centers = np.array([column_center(remainder, k) for k in range(len(self.encoded.columns))])
        self._reference.append(centers[j])

    def add_imputed(self, method: str, values: np.ndarray, cells: np.ndarray) -> None:
        """Add what a method imputed for the cells added last; ``values`` is like ``cells``."""
        self._imputed.setdefault(method, []).append(values[np.nonzero(cells)])

    @property
    def n_cells(self) -> int:
        """Number of cells held out."""
        return sum(map(len, self._rows))

    def row_errors(self, method: str | None, j: int) -> np.ndarray:
        """Return one error per row held out in column ``j``; of mean or mode for ``None``."""
        rows, truth, imputed = self._cells_of(method, j)
        if self.encoded.columns[j].kind == "categorical":
            errors = (imputed != truth).astype(np.float64)
        else:
            errors = (imputed - truth) ** 2 / self._variances[j]
        _, group = np.unique(rows, return_inverse=True)
        return np.bincount(group, weights=errors) / np.bincount(group)

    def row_shares(self, method: str, columns: Sequence[int]) -> np.ndarray:
        """Return for each row held out there its part of the mean error over these columns."""
        rows = [np.unique(self._cells_of(method, j)[0]) for j in columns]
        held_out = np.unique(np.concatenate(rows))
        shares = np.zeros(len(held_out))
        for j, rows_of_column in zip(columns, rows, strict=True):
            errors = self.row_errors(method, j) / len(rows_of_column) / len(columns)
            shares[np.searchsorted(held_out, rows_of_column)] += errors
        return shares

    def draw(
        self, method: str, j: int, imputed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray | None:
        """Return values that deviate from ``imputed`` as held-out truths did from imputations.

        ``None`` where no cell of the column was held out.
        """
        _, truth, guess = self._cells_of(method, j)
        if not len(truth):
            return None
        if self.encoded.columns[j].kind == "numerical":
            drawn: np.ndarray = imputed + rng.choice(truth - guess, size=len(imputed))
            return drawn
        drawn = imputed.copy()
        for code in np.unique(imputed):
            same = imputed == code
            truths = truth[guess == code]
            drawn[same] = rng.choice(truths if len(truths) else truth, size=same.sum())
        return drawn

    def _cells_of(self, method: str | None, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self._rows:
            nothing = np.zeros(0)
            return nothing.astype(np.intp), nothing, nothing
        chosen = np.concatenate(self._columns) == j
        rows = np.concatenate(self._rows)[chosen]
        imputed = np.concatenate(self._reference if method is None else self._imputed[method])
        truth = self.encoded.values[rows, j].astype(np.float64)
        return rows, truth, imputed[chosen].astype(np.float64)


def _variance(encoded: EncodedTable, j: int) -> float:
    return float(encoded.values[encoded.observed[:, j], j].var(dtype=np.float64))


def hold_out(encoded: EncodedTable, share: float, rng: np.random.Generator) -> HeldOut | None:
    """Hold out cells, but none of a column that would be left without two different values."""
    held_out = hold_out_cells(encoded.observed, share, rng, min_cells=1)
    if held_out is None:
        return None
    remaining = held_out.remove_from(encoded.observed)
    cells = held_out.cells.copy()
    for j in range(cells.shape[1]):
        values = encoded.values[remaining[:, j], j]
        if not values.size or values.min() == values.max():
            cells[:, j] = False
    kept = held_out.kept | (held_out.cells & ~cells)
    return HeldOut(rows=held_out.rows, kept=kept, cells=cells) if cells.any() else None


def without_held_out(frame: pd.DataFrame, encoded: EncodedTable, held_out: HeldOut) -> pd.DataFrame:
    """Return a table in which the held-out cells are missing."""
    missing = np.zeros(encoded.observed.shape, dtype=bool)
    missing[held_out.rows] = held_out.cells
    patterns = pd.DataFrame(missing, columns=[column.name for column in encoded.columns])
    return ampute_like(frame, patterns, shuffle=False, drop_empty_rows=False).incomplete
