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
from pmae_core.table.scaling import fit_scaler


@dataclass(frozen=True, eq=False)
class LinearDraws:
    """Draws imputations from a Gaussian; made like those of the PMAE blend.

    Numbers are taken as normal scores of their ranks, so that skewed columns stay skewed, and
    categories as indicators. What the Gaussian is off by may depend on squares and products of
    columns, so that imputed numbers follow curves and interactions; a line alone would flatten
    them. See :class:`~pmae_core.imputers.masked.pmae.PMAEImputer` on what
    varies between imputations.

    Parameters
    ----------
    blend : Blend
        The Gaussian, and what it is off by.
    scalers : sequence of Scaler or None
        What makes normal scores of each column's encoded numbers; ``None`` for a category.
    """

    blend: Blend
    scalers: Sequence[Scaler | None]

    @classmethod
    def fit(cls, encoded: EncodedTable, seed: int) -> LinearDraws:
        """Fit the Gaussian, and learn from cells that it does not know what it is off by."""
        if is_too_wide(encoded.columns):
            raise ImputationError(
                "The table has too many columns and categories for random imputations by a "
                "Gaussian. Leave out columns, or choose another method."
            )
        scalers = [
            None
            if column.n_categories
            else fit_scaler(encoded.values[encoded.observed[:, j], j].astype(np.float64), "rank")
            for j, column in enumerate(encoded.columns)
        ]
        run = FitRun(seed=seed, callbacks=(), cancel=lambda: False, checkpoint_dir=None)
        blending = Blending(
            _scored(encoded, scalers), scalers, Masks(), run, n_threads=1, follow_curves=True
        )
        blending.fit_gaussians(on_own_scale=False)
        blending.add_gaussians()
        return cls(blending.learn_from_further_cells(), scalers)

    def draw(self, encoded: EncodedTable, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield ``n`` random imputations of a table with the same columns."""
        for drawn in self.blend.draw(_scored(encoded, self.scalers), n, rng):
            imputed = encoded.values.copy()
            for j, scaler in enumerate(self.scalers):
                rows = ~encoded.observed[:, j]
                cells = drawn[rows, j]
                imputed[rows, j] = cells if scaler is None else scaler.unscale(cells)
            yield imputed


def _scored(encoded: EncodedTable, scalers: Sequence[Scaler | None]) -> EncodedTable:
    """Return a table with the normal scores of its numbers."""
    values = encoded.values.copy()
    for j, scaler in enumerate(scalers):
        if scaler is not None:
            values[:, j] = scaler.scale(values[:, j])
    return EncodedTable(values, encoded.observed, encoded.columns)
