"""Base of methods that impute the table they were fitted on, and no other."""

from __future__ import annotations

import hashlib
from abc import abstractmethod

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable


class TransductiveImputer(BaseImputer):
    """Base of methods that impute while they are fitted.

    A method implements :meth:`_complete`. ``transform`` then returns the imputed table for the
    table that was fitted, and refuses any other with an explanation.
    """

    @abstractmethod
    def _complete(self, encoded: EncodedTable, run: FitRun) -> np.ndarray:
        """Return encoded values with every missing cell imputed."""

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        self._fitted_table = encoded_digest(encoded)
        self._completed = self._complete(encoded, run)

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if encoded_digest(encoded) != self._fitted_table:
            raise ImputationError(
                f"{type(self).__name__} imputes only the table it was fitted on. "
                "Call fit_transform on the new rows together with the old."
            )
        return self._completed


def encoded_digest(encoded: EncodedTable) -> bytes:
    """Return a digest of an encoded table, to recognize the fitted one."""
    digest = hashlib.sha256(encoded.values.tobytes())
    digest.update(encoded.observed.tobytes())
    return digest.digest()
