"""Random imputations in rounds, so that they follow the dependence between columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Columns that are drawn in one round do not know of each other, so that what they have in common
# beyond the known cells is lost. Only wide tables have several columns in a round.
MOST_ROUNDS = 16

# Given the cells, which of them are known and which are drawn now, returns cells with draws.
DrawCells = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def round_of_columns(observed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the round in which each column of a table is drawn; 0 for complete ones."""
    incomplete = np.flatnonzero(~observed.all(axis=0))
    rounds = np.zeros(observed.shape[1], dtype=np.intp)
    rounds[incomplete] = rng.permutation(len(incomplete)) % MOST_ROUNDS
    return rounds


def draw_in_rounds(
    cells: np.ndarray, observed: np.ndarray, round_of_column: np.ndarray, draw: DrawCells
) -> np.ndarray:
    """Return rows with their missing cells drawn, each round given the cells drawn before."""
    cells, known = cells.copy(), observed.copy()
    for round_ in range(int(round_of_column.max()) + 1):
        now = ~known & (round_of_column == round_)
        rows = now.any(axis=1)
        if rows.any():
            drawn = draw(cells[rows], known[rows], now[rows])
            cells[rows] = np.where(now[rows], drawn, cells[rows])
            known |= now
    return cells
