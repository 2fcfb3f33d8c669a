"""Nearest neighbors: the mean of the most similar rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.impute import KNNImputer as SklearnKNNImputer

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic._common import scalars_with_nan
from pmae_core.imputers.parameters import Constraints, Integer, OneOf
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.transductive import encoded_digest
from pmae_core.table import EncodedTable, Schema, values_from_scalars

# Distances of one piece of rows to all donors; 80 MB for 10,000 donors.
_ROWS_AT_ONCE = 1000


@register_imputer(
    name="knn",
    title="Nearest neighbors",
    explanation="Finds the five rows that are most similar in the cells observed in both, and "
    "imputes their mean.",
    citation="Troyanskaya et al.: Missing value estimation methods for DNA microarrays. "
    "Bioinformatics, 2001.",
    limits="Time grows with the square of the rows up to 10,000; beyond that, neighbors are "
    "searched among a random 10,000 rows (max_donors).",
)
class KNNImputer(BaseImputer):
    """Impute with the mean of the nearest rows: scikit-learn's ``KNNImputer`` on min-max values.

    Distances are Euclidean over the cells observed in both rows. Categories are numbers in [0, 1]
    here and are rounded to the nearest code in the end, as in the paper. A row that shares no
    observed column with any donor gets the donors' mean, as in scikit-learn.

    ``fit`` already imputes its own table (most of the time is spent there, where it can be
    watched and cancelled); ``transform`` finds neighbors of new rows among the same donors.

    Parameters
    ----------
    n_neighbors : int, default 5
        How many rows are averaged.
    weights : {"uniform", "distance"}, default "uniform"
        Whether nearer rows count more.
    max_donors : int or None, default 10_000
        Most rows that can be neighbors; a random sample of a larger table. For columns so rarely
        observed that the sample lacks neighbors, some are added.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of the choice of donors.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.0, 1.0], [0.1, 3.0], [9.0, 7.0], [0.05, np.nan]])
    >>> KNNImputer(n_neighbors=2).fit_transform(table)[3, 1].round(3)
    np.float64(2.0)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "n_neighbors": [Integer(least=1)],
        "weights": [OneOf("uniform", "distance")],
        "max_donors": [Integer(least=1), None],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        weights: str = "uniform",
        max_donors: int | None = 10_000,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.max_donors = max_donors
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        donors = self._choose_donors(encoded.observed, np.random.default_rng(run.seed))
        self._neighbors = SklearnKNNImputer(n_neighbors=self.n_neighbors, weights=self.weights)
        self._neighbors.fit(scalars_with_nan(encoded)[donors])
        pieces = _incomplete_pieces(encoded)
        progress = run.progress(len(pieces), "row block")
        progress.check()
        self._fitted_table = encoded_digest(encoded)
        self._completed = self._impute_pieces(encoded, pieces, progress.advance)

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        if encoded_digest(encoded) == self._fitted_table:
            return self._completed
        return self._impute_pieces(encoded, _incomplete_pieces(encoded), lambda: None)

    def _impute_pieces(
        self, encoded: EncodedTable, pieces: list[np.ndarray], advance: Callable[[], None]
    ) -> np.ndarray:
        scalars = scalars_with_nan(encoded)
        for rows in pieces:
            scalars[rows] = self._neighbors.transform(scalars[rows])
            advance()
        return values_from_scalars(scalars, encoded.columns)

    def _choose_donors(self, observed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        n = len(observed)
        if self.max_donors is None or n <= self.max_donors:
            return np.arange(n)
        chosen = np.zeros(n, dtype=bool)
        chosen[rng.choice(n, self.max_donors, replace=False)] = True
        for column in observed.T:
            lacking = self.n_neighbors - int((column & chosen).sum())
            if lacking > 0:
                others = np.flatnonzero(column & ~chosen)
                chosen[rng.permutation(others)[:lacking]] = True
        return np.flatnonzero(chosen)


def _incomplete_pieces(encoded: EncodedTable) -> list[np.ndarray]:
    """Return the numbers of the incomplete rows in pieces."""
    rows = np.flatnonzero(~encoded.observed.all(axis=1))
    return np.array_split(rows, -(-len(rows) // _ROWS_AT_ONCE)) if len(rows) else []
