"""Numbers on their columns' own scale: where means are means, and members are mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pmae_core.table import Scaler


@dataclass(frozen=True, eq=False)
class OwnNumbers:
    """Scores of an encoded table as numbers, from 0 (lowest observed) to 1 (highest), and back.

    Scores may be ranks; these numbers are proportional to the column's own.

    Parameters
    ----------
    scalers : sequence of Scaler or None
        What makes scores of each column's numbers; ``None`` for a categorical column.
    """

    scalers: Sequence[Scaler | None]

    def of_scores(self, scores: np.ndarray, j: int) -> np.ndarray:
        """Return the numbers of a column's scores."""
        scaler, low, high, unit = self._range(j)
        numbers = scaler.unscale(np.asarray(scores, dtype=np.float64)) / unit
        return (numbers - low) / (high - low)

    def to_scores(self, numbers: np.ndarray, j: int) -> np.ndarray:
        """Return the scores of a column's numbers, which are moved into its observed range."""
        scaler, low, high, unit = self._range(j)
        return scaler.scale((low + np.clip(numbers, 0.0, 1.0) * (high - low)) * unit)

    def bounds(self, j: int) -> tuple[float, float]:
        """Return the lowest and the highest observed score of a numerical column."""
        return self._range(j)[0].bounds

    def is_number(self, j: int) -> bool:
        """Return whether a column is numerical."""
        return self.scalers[j] is not None

    def _range(self, j: int) -> tuple[Scaler, float, float, float]:
        """Return the scaler of a column, and its ends in units of its largest number."""
        scaler = self.scalers[j]
        if scaler is None:
            raise ValueError(f"Column {j} is categorical: it has no numbers.")
        low, high = scaler.unscale(np.array(scaler.bounds))
        # The width of a column of the largest numbers would be infinite.
        unit = max(abs(low), abs(high))
        return scaler, low / unit, high / unit, unit
