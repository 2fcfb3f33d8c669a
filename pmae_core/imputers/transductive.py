"""Base of methods that fill the table they were fitted on, and no other."""

from __future__ import annotations

import hashlib
from abc import abstractmethod

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable


class TransductiveImputer(BaseImputer):
    """Base of methods whose fitting *is* the filling.

    A method implements :meth:`_complete`. ``transform`` then returns the filled table for the
    table that was fitted, and refuses any other with a sentence.
    """

    @abstractmethod
    def _complete(self, encoded: EncodedTable, run: FitRun) -> np.ndarray:
        """Return encoded values with every missing cell filled."""

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        self._fitted_table = encoded_digest(encoded)
        self._completed = self._complete(encoded, run)

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if encoded_digest(encoded) != self._fitted_table:
            raise ImputationError(
                f"{type(self).__name__} fills only the table it was fitted on; "
                "call fit_transform on the new rows together with the old."
            )
        return self._completed


def encoded_digest(encoded: EncodedTable) -> bytes:
    """Return what tells one encoded table from another."""
    digest = hashlib.sha256(encoded.values.tobytes())
    digest.update(encoded.observed.tobytes())
    return digest.digest()
