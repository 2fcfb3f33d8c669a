"""Observed cells held out of a fit, to score it on."""

from dataclasses import dataclass

import numpy as np

MIN_CELLS = 30
MAX_ROWS = 2000


@dataclass(frozen=True)
class HeldOut:
    """Held-out cells, in rows whose other cells take part in the fit.

    Attributes
    ----------
    rows : int array of shape (k,)
        Rows that have held-out cells.
    kept, cells : bool array of shape (k, columns)
        The cells of these rows that the method gets, and those it is scored on.
    """

    rows: np.ndarray
    kept: np.ndarray
    cells: np.ndarray

    def remove_from(self, observed: np.ndarray) -> np.ndarray:
        """Return ``observed`` without the held-out cells."""
        remaining = observed.copy()
        remaining[self.rows] &= ~self.cells
        return remaining


def hold_out_cells(observed: np.ndarray, share: float, rng: np.random.Generator) -> HeldOut | None:
    """Hold out cells of some rows in the patterns in which other rows are missing.

    Each chosen row takes the pattern of a random incomplete row; where that holds out nothing,
    one random cell is held out. Rows that would keep no cell are skipped.

    Parameters
    ----------
    observed : bool array of shape (rows, columns)
        Which cells are observed.
    share : float
        Share of rows to hold out cells of, at most 2,000 rows.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    HeldOut or None
        ``None`` if fewer than 30 cells could be held out, too few for a score.
    """
    candidates = np.flatnonzero(observed.sum(axis=1) >= 2)
    wanted = min(round(share * len(observed)), MAX_ROWS, len(candidates))
    rows = np.sort(rng.choice(candidates, size=wanted, replace=False))
    given = observed[rows]
    donors = np.flatnonzero(~observed.all(axis=1))
    if len(donors):
        cells = given & ~observed[rng.choice(donors, size=wanted)]
    else:
        cells = np.zeros_like(given)
    none_held_out = ~cells.any(axis=1)
    lottery = np.where(given, rng.random(given.shape), -1.0)
    single = np.zeros_like(given)
    single[np.arange(wanted), lottery.argmax(axis=1)] = True
    cells[none_held_out] = single[none_held_out]
    useful = (given & ~cells).any(axis=1)
    rows, given, cells = rows[useful], given[useful], cells[useful]
    if cells.sum() < MIN_CELLS:
        return None
    return HeldOut(rows=rows, kept=given & ~cells, cells=cells)
