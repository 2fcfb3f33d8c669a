"""Observed cells set aside, so that a method can be judged on cells it never saw."""

from dataclasses import dataclass

import numpy as np

FEWEST_CELLS = 30
MOST_ROWS = 2000


@dataclass(frozen=True)
class HeldOut:
    """Cells hidden from a method, in rows that otherwise take part in its fit.

    Attributes
    ----------
    rows : int array of shape (k,)
        Rows that have held-out cells.
    kept, cells : bool array of shape (k, columns)
        What the method may see of these rows, and what it is judged on.
    """

    rows: np.ndarray
    kept: np.ndarray
    cells: np.ndarray

    def remove_from(self, observed: np.ndarray) -> np.ndarray:
        """Return ``observed`` without the held-out cells."""
        remaining = observed.copy()
        remaining[self.rows] &= ~self.cells
        return remaining


def hold_out_cells(
    observed: np.ndarray,
    share: float,
    rng: np.random.Generator,
    *,
    fewest: int = FEWEST_CELLS,
) -> HeldOut | None:
    """Hide cells of some rows the way cells of other rows are missing.

    Each chosen row takes the missing pattern of a random incomplete row; where that hides
    nothing, one random cell is hidden. Rows that would have nothing left to see are skipped.

    Parameters
    ----------
    observed : bool array of shape (rows, columns)
        Which cells are known.
    share : float
        Share of rows to take cells from, at most 2,000 rows.
    rng : numpy.random.Generator
        Source of randomness.
    fewest : int, default 30
        How many cells it takes to judge anything.

    Returns
    -------
    HeldOut or None
        ``None`` where fewer than ``fewest`` cells could be held out.
    """
    candidates = np.flatnonzero(observed.sum(axis=1) >= 2)
    wanted = min(round(share * len(observed)), MOST_ROWS, len(candidates))
    rows = np.sort(rng.choice(candidates, size=wanted, replace=False))
    seen = observed[rows]
    donors = np.flatnonzero(~observed.all(axis=1))
    if len(donors):
        cells = seen & ~observed[rng.choice(donors, size=wanted)]
    else:
        cells = np.zeros_like(seen)
    nothing_hidden = ~cells.any(axis=1)
    lottery = np.where(seen, rng.random(seen.shape), -1.0)
    single = np.zeros_like(seen)
    single[np.arange(wanted), lottery.argmax(axis=1)] = True
    cells[nothing_hidden] = single[nothing_hidden]
    useful = (seen & ~cells).any(axis=1)
    rows, seen, cells = rows[useful], seen[useful], cells[useful]
    if cells.sum() < fewest:
        return None
    return HeldOut(rows=rows, kept=seen & ~cells, cells=cells)
