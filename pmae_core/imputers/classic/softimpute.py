"""SoftImpute: a table of low rank, found by thresholding singular values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.parameters import Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun, ProgressMeter
from pmae_core.table import EncodedTable, Schema, scalar_values, values_from_scalars

# Numbers in one batch of small matrices: 8 MB.
_BATCH_NUMBERS = 1_000_000
# Lowest shrinkage to try, as a share of the highest. Once it is below all singular values of the
# imputed table, less shrinkage hardly changes the missing cells.
_LOWEST_SHARE = 1 / 200
# Shrinkages without improvement on held-out cells before the search ends.
_PATIENCE = 3


@dataclass(frozen=True, eq=False)
class _Solution:
    """A low-rank table (n, d) and its factors (d, rank), scaled for ridge regression."""

    table: np.ndarray
    factors: np.ndarray


@register_imputer(
    name="softimpute",
    title="SoftImpute",
    explanation="Assumes that a few latent factors explain all columns, and imputes the cells with "
    "the values that these factors predict.",
    citation="Mazumder, Hastie and Tibshirani: Spectral regularization algorithms for learning "
    "large incomplete matrices. Journal of Machine Learning Research, 2010.",
    limits="Finds linear relations only; time grows with the smaller side of the table squared.",
)
class SoftImputeImputer(BaseImputer):
    """Impute with a low-rank table: iterated soft thresholding of singular values.

    Minimizes half the squared error on observed cells plus ``shrinkage`` times the sum of the
    singular values. Columns are standardized first; categories are numbers in [0, 1] and are
    rounded to the nearest code in the end. The amount of shrinkage is the one of a descending
    path (each solution starts the next) that best predicts observed cells which were held out
    for that purpose. All rows, also new ones, are imputed by ridge regression of their observed
    cells on the factors; for rows of the fitted table that is the same solution (Hastie et al.,
    2015).

    Parameters
    ----------
    shrinkage : float, optional
        Threshold of the singular values; chosen on held-out cells where not given.
    n_shrinkages : int, default 20
        Length of the path to choose from.
    holdout_share : float, default 0.1
        Share of observed cells that are held out to choose the shrinkage.
    max_iter : int, default 100
        Most rounds per shrinkage.
    tol : float, default 1e-4
        Stop when the table changes by a smaller share of its own size.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of the choice of held-out cells.

    Attributes
    ----------
    shrinkage_ : float
        The shrinkage in use.
    rank_ : int
        Number of factors; 0 means that no factor helps and cells are imputed with their column's
        mean.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(20.0)
    >>> table = np.column_stack([x, 2 * x, 30 - x])
    >>> table[5, 1] = np.nan
    >>> imputed = SoftImputeImputer(random_state=0).fit_transform(table)
    >>> bool(abs(imputed[5, 1] - 10) < 2)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "shrinkage": [Number(above=0), None],
        "n_shrinkages": [Integer(least=1)],
        "holdout_share": [Number(above=0, below=1)],
        "max_iter": [Integer(least=1)],
        "tol": [Number(least=0)],
    }

    def __init__(
        self,
        *,
        shrinkage: float | None = None,
        n_shrinkages: int = 20,
        holdout_share: float = 0.1,
        max_iter: int = 100,
        tol: float = 1e-4,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.n_shrinkages = n_shrinkages
        self.holdout_share = holdout_share
        self.max_iter = max_iter
        self.tol = tol
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        self._center, self._scale = _moments(scalar_values(encoded), encoded.observed)
        table = self._standardized(encoded)
        path = self._shrinkage_path(float(np.linalg.norm(table, ord=2)))
        n_paths = 2 if self.shrinkage is None else 1
        progress = run.progress(n_paths * len(path), "shrinkage")
        progress.check()
        if self.shrinkage is None:
            held_out = _choose_held_out(encoded.observed, self.holdout_share, run.seed)
            path = self._best_path(table, encoded.observed, held_out, path, progress)
        for solution in self._solutions(table, encoded.observed, path, progress):
            self._factors = solution.factors
        self.shrinkage_ = float(path[-1])
        self.rank_ = self._factors.shape[1]

    def _shrinkage_path(self, highest: float) -> np.ndarray:
        """Return shrinkages downwards from the highest, at which nothing is left."""
        lowest = highest * _LOWEST_SHARE if self.shrinkage is None else self.shrinkage
        return np.geomspace(max(highest, lowest), lowest, self.n_shrinkages)

    def _best_path(
        self,
        table: np.ndarray,
        observed: np.ndarray,
        held_out: np.ndarray,
        path: np.ndarray,
        progress: ProgressMeter,
    ) -> np.ndarray:
        """Return the path down to the shrinkage that predicts held-out cells best."""
        errors: list[float] = []
        for solution in self._solutions(table, observed & ~held_out, path, progress):
            errors.append(float(np.square(table[held_out] - solution.table[held_out]).mean()))
            if len(errors) > int(np.argmin(errors)) + _PATIENCE:
                break
        return path[: int(np.argmin(errors)) + 1]

    def _solutions(
        self, table: np.ndarray, observed: np.ndarray, path: np.ndarray, progress: ProgressMeter
    ) -> Iterator[_Solution]:
        """Yield the solution of each shrinkage, which starts from the one before."""
        solution = _Solution(np.zeros(table.shape), np.zeros((table.shape[1], 0)))
        for shrinkage in path:
            for _ in range(self.max_iter):
                progress.check()
                before = solution.table
                solution = _threshold(np.where(observed, table, before), float(shrinkage))
                change = np.linalg.norm(solution.table - before)
                if change <= self.tol * np.linalg.norm(solution.table):
                    break
            progress.advance()
            yield solution

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        table = self._standardized(encoded)
        low_rank = _regress_on_factors(table, encoded.observed, self._factors, self.shrinkage_)
        scalars = np.where(encoded.observed, table, low_rank) * self._scale + self._center
        return values_from_scalars(scalars, encoded.columns)

    def _standardized(self, encoded: EncodedTable) -> np.ndarray:
        standard = (scalar_values(encoded) - self._center) / self._scale
        return np.where(encoded.observed, standard, 0.0)


def _moments(scalars: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    counts = observed.sum(axis=0)
    center = np.where(observed, scalars, 0.0).sum(axis=0, dtype=np.float64) / counts
    variance = np.square(np.where(observed, scalars - center, 0.0)).sum(axis=0) / counts
    return center, np.sqrt(variance)


def _choose_held_out(observed: np.ndarray, share: float, seed: int) -> np.ndarray:
    cells = np.flatnonzero(observed)
    n_held_out = max(1, round(share * len(cells)))
    held_out = np.zeros(observed.shape, dtype=bool)
    held_out.flat[np.random.default_rng(seed).choice(cells, n_held_out, replace=False)] = True
    return held_out


def _threshold(complete: np.ndarray, shrinkage: float) -> _Solution:
    """Lower the singular values of a full table by ``shrinkage``, to no less than 0."""
    # Eigenvectors of the smaller product are far cheaper than singular vectors of a long table.
    is_wide = complete.shape[0] < complete.shape[1]
    squares, vectors = np.linalg.eigh(complete @ complete.T if is_wide else complete.T @ complete)
    singular = np.sqrt(squares.clip(min=0))
    kept = singular > shrinkage
    singular, vectors = singular[kept], vectors[:, kept]
    right = complete.T @ vectors / singular if is_wide else vectors
    shrunk = singular - shrinkage
    return _Solution((complete @ right * (shrunk / singular)) @ right.T, right * np.sqrt(shrunk))


def _regress_on_factors(
    table: np.ndarray, observed: np.ndarray, factors: np.ndarray, shrinkage: float
) -> np.ndarray:
    """Return every row as the factors explain it, by ridge regression of its observed cells."""
    d, rank = factors.shape
    products = (factors[:, :, None] * factors[:, None, :]).reshape(d, rank * rank)
    explained = np.zeros(table.shape)
    step = max(1, _BATCH_NUMBERS // max(1, rank * rank))
    for start in range(0, len(table), step):
        rows = slice(start, start + step)
        grams = (observed[rows] @ products).reshape(len(table[rows]), rank, rank)
        targets = (np.where(observed[rows], table[rows], 0.0) @ factors)[:, :, None]
        scores = np.linalg.solve(grams + shrinkage * np.eye(rank), targets)[:, :, 0]
        explained[rows] = scores @ factors.T
    return explained
