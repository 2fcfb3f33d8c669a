"""What a fitted imputer predicts for cells that it has not learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pmae_core.masking import HeldOut
from pmae_core.table import TableEncoder


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """Predictions of the cells that a fit has held out.

    Attributes
    ----------
    held_out : HeldOut
        The cells.
    values : ndarray of shape (rows of ``held_out``, columns)
        Encoded predictions; only those of held-out cells count.
    """

    held_out: HeldOut
    values: np.ndarray

    def cells(self, frame: pd.DataFrame, encoder: TableEncoder) -> dict[str, pd.DataFrame]:
        """Return ``truth`` and ``predicted`` of the held-out cells in the table's own units.

        Parameters
        ----------
        frame : DataFrame
            The fitted table.
        encoder : TableEncoder
            Its encoder.

        Returns
        -------
        dict of str to DataFrame
            By column; columns without a held-out cell are absent.
        """
        truth = frame.iloc[self.held_out.rows]
        masked = truth.copy()
        for j, column in enumerate(encoder.columns_):
            masked[column.name] = truth[column.name].mask(self.held_out.cells[:, j])
        predicted = encoder.decode(self.values, masked)
        return {
            str(column.name): pd.DataFrame(
                {"truth": truth[column.name][cells], "predicted": predicted[column.name][cells]}
            )
            for column, cells in zip(encoder.columns_, self.held_out.cells.T, strict=True)
            if cells.any()
        }
