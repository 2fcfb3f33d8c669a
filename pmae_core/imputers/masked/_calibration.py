"""What is done to a network's predictions: their spread, and their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pmae_core.imputers.masked._correction import correct
from pmae_core.imputers.masked._own_scale import OwnScale
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
    own_scale : OwnScale or None
        A second prediction of numbers, where it helps.
    """

    scalers: Sequence[Scaler | None]
    residuals: Mapping[int, np.ndarray] = field(default_factory=dict)
    corrections: Mapping[int, np.ndarray] = field(default_factory=dict)
    own_scale: OwnScale | None = None

    def toward_means(self, scores: np.ndarray, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return predicted scores, corrected toward the mean; ``scores`` may be changed."""
        if self.own_scale is not None:
            scores = self.own_scale.mix(scores, self.own_scale.numbers(values, kept))
        for j, correction in self.corrections.items():
            scaler = self.scalers[j]
            if scaler is not None:
                scores[:, j] = correct(scores[:, j], correction, scaler)
        return scores
