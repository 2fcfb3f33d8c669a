"""Random imputations by a Gaussian of all columns, for methods that find linear relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.imputers.masked._blend import Blend
from pmae_core.imputers.masked._blending import Blending
from pmae_core.imputers.masked._masked_forests import Masks
from pmae_core.imputers.masked._table_gaussian import is_too_wide
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Scaler


@dataclass(frozen=True, eq=False)
class LinearDraws:
    """Draws imputations from a Gaussian; made like those of the PMAE blend.

    Categories are indicators, and are drawn by their probabilities. See
    :class:`~pmae_core.imputers.masked.pmae.PMAEImputer` on what varies between imputations.
    """

    blend: Blend

    @classmethod
    def fit(cls, encoded: EncodedTable, scalers: Sequence[Scaler | None], seed: int) -> LinearDraws:
        """Fit the Gaussian, and learn from cells that it does not know what it is off by."""
        if is_too_wide(encoded.columns):
            raise ImputationError(
                "The table has too many columns and categories for random imputations by a "
                "Gaussian. Leave out columns, or choose another method."
            )
        blending = Blending(encoded, scalers, Masks(), _quiet_run(seed), n_threads=1)
        blending.fit_gaussians(on_own_scale=False)
        return cls(blending.add_gaussians().blend)

    def draw(self, encoded: EncodedTable, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield ``n`` random imputations of a table with the same columns."""
        return self.blend.draw(encoded, n, rng)


def _quiet_run(seed: int) -> FitRun:
    """Return a run that reports nothing: a Gaussian takes a moment."""
    return FitRun(seed=seed, callbacks=(), cancel=lambda: False, checkpoint_dir=None)
