"""A multivariate Gaussian of a table with missing values: its fit, and missing cells given it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

# How many numbers a batch of small matrices may hold; about ten such arrays of 8 MB exist at once.
_BATCH_NUMBERS = 1_000_000
MIN_VARIANCE = 1e-6
MIN_EIGENVALUE = 1e-2


def _nothing() -> None:
    """Do nothing: the default for callbacks."""


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """A multivariate Gaussian.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Mean of each column.
    covariance : ndarray of shape (d, d)
        Covariance, positive definite.
    n_iterations : int
        Number of iterations of expectation maximization, 0 where it was not fitted.

    Notes
    -----
    With the precision ``P = inv(covariance)``, missing cells ``m`` given observed cells ``o``
    are Gaussian with covariance ``inv(P[m, m])`` and mean
    ``mean[m] - inv(P[m, m]) @ P[m, o] @ (x[o] - mean[o])``. So each pattern costs one factorization
    of the size of its missing cells. Patterns with the same number of missing cells are factorized
    together in batches; this is fast even where nearly every row has its own pattern.

    Examples
    --------
    >>> model = GaussianModel(np.zeros(2), np.array([[1.0, 0.8], [0.8, 1.0]]))
    >>> values, observed = np.array([[2.0, 0.0]]), np.array([[True, False]])
    >>> model.conditional_mean(values, observed).round(6)
    array([[2. , 1.6]])
    """

    mean: np.ndarray
    covariance: np.ndarray
    n_iterations: int = 0

    @classmethod
    def fit(
        cls,
        values: np.ndarray,
        observed: np.ndarray,
        *,
        max_iter: int = 25,
        tol: float = 1e-6,
        ridge: float = 1e-6,
        start: GaussianModel | None = None,
        advance: Callable[[], None] = _nothing,
        check: Callable[[], None] = _nothing,
    ) -> GaussianModel:
        """Return the maximum-likelihood Gaussian of a table with missing values (EM algorithm).

        Parameters
        ----------
        values : ndarray of shape (n, d)
            The table; values in missing cells are ignored. A column without an observed cell
            has mean 0.
        observed : bool ndarray of shape (n, d)
            True where a cell is observed.
        max_iter : int
            Maximum number of iterations.
        tol : float
            Stop when mean (Euclidean norm) and covariance (spectral norm) change by less.
        ridge : float
            Share of each column's observed variance that is added to its variance in every
            iteration, so that the covariance of columns that determine each other stays
            invertible.
        start : GaussianModel, optional
            Where iterations begin; by default with the columns' observed moments.
        advance, check : callables
            Called after each iteration, and between batches within one; either may raise to stop.
        """
        patterns = _Patterns(observed)
        moments = _observed_moments(values, observed)
        model = moments if start is None else start
        jitter = ridge * np.diag(moments.covariance)
        for iteration in range(1, max_iter + 1):
            imputed, left_over = model._expect(values, patterns, check)
            mean = imputed.mean(axis=0)
            centered = imputed - mean
            covariance = (centered.T @ centered + left_over) / len(values) + np.diag(jitter)
            changes = (
                np.linalg.norm(mean - model.mean),
                np.linalg.norm(covariance - model.covariance, ord=2),
            )
            model = cls(mean, covariance, iteration)
            advance()
            if max(changes) < tol:
                break
        return model

    @classmethod
    def from_pairs(
        cls, values: np.ndarray, observed: np.ndarray, *, prior_rows: float = 10.0
    ) -> GaussianModel:
        """Return a Gaussian whose covariances use the rows in which both columns are observed.

        It takes one product of the table with itself, where :meth:`fit` takes a factorization for
        every pattern and iteration. Use it for tables with hundreds of columns.

        Parameters
        ----------
        values, observed : ndarray of shape (n, d)
            As for :meth:`fit`.
        prior_rows : float
            A correlation is shrunk as if this many more rows had shown none.
        """
        start = _observed_moments(values, observed)
        present = observed.astype(np.float64)
        centered = np.where(observed, values - start.mean, 0.0)
        # Entry (i, j): the sum of squares of column i over the rows that have column j, too.
        squares = np.square(centered).T @ present
        size = np.sqrt(squares * squares.T).clip(min=MIN_VARIANCE)
        pairs = present.T @ present
        correlation = centered.T @ centered / size * (pairs / (pairs + prior_rows))
        np.fill_diagonal(correlation, 1.0)
        correlation = _nearest_positive(correlation)
        deviation = np.sqrt(np.diag(start.covariance))
        return cls(start.mean, correlation * np.outer(deviation, deviation))

    def conditional_mean(self, values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """Return the table with each missing cell at its mean given the row's observed cells."""
        imputed, _ = self._expect(values, _Patterns(observed), _nothing)
        return imputed

    def conditional_moments(
        self, values: np.ndarray, observed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what :meth:`conditional_mean` does, and each cell's variance around it.

        The variance of an observed cell is 0.
        """
        patterns = _Patterns(observed)
        precision, pull, imputed = self._prepare(values, observed)
        variance = np.zeros(imputed.shape)
        for batch in patterns.batches():
            root = _root_of_covariance(precision, batch.missing)
            own = np.square(root).sum(axis=1)
            for rows, which in batch.rows():
                shift = _shift(root[which], pull, rows, batch.missing[which])
                _add_to_missing(imputed, rows, batch.missing[which], shift)
                variance[rows[:, None], batch.missing[which]] = own[which]
        return imputed, variance

    def _expect(
        self, values: np.ndarray, patterns: _Patterns, check: Callable[[], None]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the imputed table and the sum over its rows of their conditional covariances."""
        d = len(self.mean)
        precision, pull, imputed = self._prepare(values, patterns.observed)
        left_over = np.zeros(d * d)
        for batch in patterns.batches():
            check()
            root = _root_of_covariance(precision, batch.missing)
            covariance = np.matmul(root.transpose(0, 2, 1), root)
            places = batch.missing[:, :, None] * d + batch.missing[:, None, :]
            weighted = covariance * batch.counts[:, None, None]
            left_over += np.bincount(places.ravel(), weighted.ravel(), minlength=d * d)
            for rows, which in batch.rows():
                check()
                shift = _shift(root[which], pull, rows, batch.missing[which])
                _add_to_missing(imputed, rows, batch.missing[which], shift)
        return imputed, left_over.reshape(d, d)

    def _prepare(
        self, values: np.ndarray, observed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the precision, its product with the deviations, and the mean-imputed table."""
        precision = np.linalg.inv(self.covariance)
        precision = (precision + precision.T) / 2
        imputed = np.where(observed, values, self.mean).astype(np.float64)
        return precision, (imputed - self.mean) @ precision, imputed


def _observed_moments(values: np.ndarray, observed: np.ndarray) -> GaussianModel:
    counts = observed.sum(axis=0).clip(min=1)
    mean = np.where(observed, values, 0.0).sum(axis=0, dtype=np.float64) / counts
    variance = np.square(np.where(observed, values - mean, 0.0)).sum(axis=0) / counts
    # A column that does not vary, or was never observed, must not make the covariance singular.
    return GaussianModel(mean, np.diag(np.where(variance > 0, variance, MIN_VARIANCE)))


def _nearest_positive(correlation: np.ndarray) -> np.ndarray:
    """Return a correlation matrix without small and negative eigenvalues."""
    eigenvalues, vectors = np.linalg.eigh(correlation)
    lifted = (vectors * eigenvalues.clip(min=MIN_EIGENVALUE)) @ vectors.T
    deviation = np.sqrt(np.diag(lifted))
    positive: np.ndarray = lifted / np.outer(deviation, deviation)
    return positive


def _root_of_covariance(precision: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return ``R`` with ``R.T @ R`` the conditional covariance of each set of missing cells."""
    blocks = precision[missing[:, :, None], missing[:, None, :]]
    return np.linalg.inv(np.linalg.cholesky(blocks))


def _shift(root: np.ndarray, pull: np.ndarray, rows: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the conditional mean of each missing cell minus the mean of its column."""
    pulled = pull[rows[:, None], missing][..., None]
    shift = -np.matmul(root.transpose(0, 2, 1), np.matmul(root, pulled))
    return np.asarray(shift[..., 0])


def _add_to_missing(
    imputed: np.ndarray, rows: np.ndarray, missing: np.ndarray, shift: np.ndarray
) -> None:
    imputed[rows[:, None], missing] += shift


@dataclass(frozen=True, eq=False)
class _Batch:
    """Patterns with the same number of missing cells, and their rows.

    ``missing`` (patterns, m) are column numbers, ``counts`` (patterns,) rows of each pattern;
    ``members`` are row numbers and ``pattern_of_member`` their place in ``missing``.
    """

    missing: np.ndarray
    counts: np.ndarray
    members: np.ndarray
    pattern_of_member: np.ndarray

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield row numbers with the place of their pattern, in pieces that fit in memory."""
        step = _batch_size(self.missing.shape[1])
        for start in range(0, len(self.members), step):
            piece = slice(start, start + step)
            yield self.members[piece], self.pattern_of_member[piece]


class _Patterns:
    """The distinct patterns of missing cells of a table; complete rows are left out."""

    def __init__(self, observed: np.ndarray) -> None:
        self.observed = observed
        packed = np.ascontiguousarray(np.packbits(observed, axis=1))
        as_one = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
        _, first, self._pattern, self._counts = np.unique(
            as_one, return_index=True, return_inverse=True, return_counts=True
        )
        self._missing = ~observed[first]
        self._n_missing = self._missing.sum(axis=1)

    def batches(self) -> Iterator[_Batch]:
        """Yield batches of patterns with the same number of missing cells that fit in memory."""
        by_pattern = np.argsort(self._pattern, kind="stable")
        ends = np.cumsum(self._counts)
        for n_missing in np.unique(self._n_missing[self._n_missing > 0]):
            same = np.flatnonzero(self._n_missing == n_missing)
            step = _batch_size(int(n_missing))
            for start in range(0, len(same), step):
                yield self._batch(same[start : start + step], by_pattern, ends)

    def _batch(self, patterns: np.ndarray, by_pattern: np.ndarray, ends: np.ndarray) -> _Batch:
        counts = self._counts[patterns]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        members = by_pattern[np.repeat(ends[patterns] - counts, counts) + within]
        missing = np.nonzero(self._missing[patterns])[1].reshape(len(patterns), -1)
        return _Batch(missing, counts, members, np.repeat(np.arange(len(patterns)), counts))


def _batch_size(n_missing: int) -> int:
    return max(1, _BATCH_NUMBERS // (n_missing * n_missing))
