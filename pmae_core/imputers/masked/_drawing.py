"""Random imputations in rounds, so that they follow the dependence between columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ROUNDS_PER_DRAW = 4

# Given the cells, which of them are known and which are drawn now, returns cells with draws.
DrawCells = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def round_of_columns(n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Return the round in which each column is drawn."""
    return rng.permutation(n_columns) % ROUNDS_PER_DRAW


def draw_in_rounds(
    cells: np.ndarray, observed: np.ndarray, round_of_column: np.ndarray, draw: DrawCells
) -> np.ndarray:
    """Return rows with their missing cells drawn, each round given the cells drawn before."""
    known = observed.copy()
    for round_ in range(ROUNDS_PER_DRAW):
        now = ~known & (round_of_column == round_)
        if now.any():
            cells = np.where(now, draw(cells, known, now), cells)
            known |= now
    return cells
