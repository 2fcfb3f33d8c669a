"""What is done to a network's predictions: their spread, and their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pmae_core.imputers.masked._correction import correct
from pmae_core.imputers.masked._estimates import encoded_cells
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._shares import mix
from pmae_core.imputers.masked._table_gaussian import TableGaussian
from pmae_core.table import Scaler


@dataclass(frozen=True, eq=False)
class Calibration:
    """What is done to predictions after the network.

    Parameters
    ----------
    scalers : sequence of Scaler or None
        What makes scores of each column's numbers; ``None`` for a categorical column.
    residuals : mapping
        For each column that needs them, prediction errors on cells that were not in the input.
    corrections : mapping
        For each column that has one, what leads from its predictions to its mean.
    own_scale : TableGaussian or None
        A Gaussian of numbers on their own scale, mixed into the network's. Some columns are
        linear functions of others there, above all far out in the tails.
    shares : ndarray of shape (columns, 2)
        How much network and Gaussian count in each column.
    """

    scalers: Sequence[Scaler | None]
    residuals: Mapping[int, np.ndarray] = field(default_factory=dict)
    corrections: Mapping[int, np.ndarray] = field(default_factory=dict)
    own_scale: TableGaussian | None = None
    shares: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))

    def toward_means(self, scores: np.ndarray, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return predicted scores, corrected toward the mean; ``scores`` may be changed."""
        if self.own_scale is not None:
            scores = self._mixed(scores, values, kept)
        for j, correction in self.corrections.items():
            scaler = self.scalers[j]
            if scaler is not None:
                scores[:, j] = correct(scores[:, j], correction, scaler)
        return scores

    def _mixed(self, scores: np.ndarray, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return predicted scores, mixed with what the Gaussian expects."""
        if self.own_scale is None:
            return scores
        numbers, wanted = OwnNumbers(self.scalers), ~kept
        for j, other in self.own_scale.estimate(values, kept, wanted).items():
            if numbers.is_number(j) and self.shares[j, 1] > 0:
                rows = wanted[:, j]
                first = numbers.of_scores(scores[rows, j], j)[:, None]
                scores[rows, j] = encoded_cells(mix(self.shares[j], [first, other]), j, numbers)
        return scores
