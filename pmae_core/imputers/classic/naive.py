"""The simplest imputation: each column's mean, or its most frequent category."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Schema


@register_imputer(
    name="naive",
    title="Mean / mode",
    explanation="Imputes every missing number with its column's mean and every other missing cell "
    "with the most frequent category, whatever the rest of the row is.",
    citation="Hawthorne and Elliott: Imputing cross-sectional missing data: comparison of common "
    "techniques. Australian and New Zealand Journal of Psychiatry, 2005.",
    is_quick=True,
)
class NaiveImputer(BaseImputer):
    """Impute numbers with their column's mean and categories with the most frequent one.

    The mean is that of the observed numbers in their own unit. Of equally frequent categories
    the first is used.

    Parameters
    ----------
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Not used, as nothing is random; every imputer has it.

    Examples
    --------
    >>> import numpy as np
    >>> NaiveImputer().fit_transform(np.array([[1.5], [4.1], [np.nan]])).ravel().tolist()
    [1.5, 4.1, 2.8]
    """

    def __init__(
        self,
        *,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        progress = run.progress(len(encoded.columns), "column")
        self._centers = np.zeros(len(encoded.columns))
        for j in range(len(encoded.columns)):
            self._centers[j] = column_center(encoded, j)
            progress.advance()

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return np.where(encoded.observed, encoded.values, self._centers)


def column_center(encoded: EncodedTable, j: int) -> float:
    """Return the mean of a numerical column, or the most frequent code of a categorical one."""
    cells = encoded.values[encoded.observed[:, j], j]
    if encoded.columns[j].kind == "categorical":
        return float(np.bincount(cells.astype(np.intp)).argmax())
    return float(cells.mean(dtype=np.float64))
