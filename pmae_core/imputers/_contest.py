"""Which method fills a column best, told by held-out cells, and by how much for sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pmae_core.imputers.classic.naive import column_center
from pmae_core.table import EncodedColumn, EncodedTable

FEWEST_CELLS_OF_TABLE = 30
FEWEST_ROWS_OF_COLUMN = 10


class Contest:
    """Held-out cells of a table, and what each method put into them.

    The error of a cell is its squared error in units of the column's variance or, for a category,
    1 if wrong. A row held out several times counts once, with its mean error, because its errors
    are no independent evidence.

    Parameters
    ----------
    encoded : EncodedTable
        The table, numbers scaled affinely.
    """

    def __init__(self, encoded: EncodedTable) -> None:
        self.encoded = encoded
        self._rows: list[np.ndarray] = []
        self._columns: list[np.ndarray] = []
        self._reference: list[np.ndarray] = []
        self._filled: dict[str, list[np.ndarray]] = {}
        self._variances = np.array(
            [
                _variance(encoded, j) if column.kind == "numerical" else np.nan
                for j, column in enumerate(encoded.columns)
            ]
        )

    def add_cells(self, rows: np.ndarray, cells: np.ndarray, remaining: np.ndarray) -> None:
        """Add held-out cells.

        Parameters
        ----------
        rows : int array of shape (k,)
            Rows with such cells.
        cells : bool array of shape (k, columns)
            The held-out cells of these rows.
        remaining : bool array of shape (rows, columns)
            The observed cells of the whole table that methods may see.
        """
        i, j = np.nonzero(cells)
        self._rows.append(rows[i])
        self._columns.append(j)
        seen = EncodedTable(self.encoded.values, remaining, self.encoded.columns)
        centers = np.array([column_center(seen, k) for k in range(len(seen.columns))])
        self._reference.append(centers[j])

    def add_filled(self, method: str, values: np.ndarray, cells: np.ndarray) -> None:
        """Add what a method put into the cells added last; ``values`` is like ``cells``."""
        self._filled.setdefault(method, []).append(values[np.nonzero(cells)])

    @property
    def n_cells(self) -> int:
        """Number of cells held out."""
        return sum(map(len, self._rows))

    def row_errors(self, method: str | None, j: int) -> np.ndarray:
        """Return one error per row held out in column ``j``; of mean or mode for ``None``."""
        rows, truth, filled = self._cells_of(method, j)
        if self.encoded.columns[j].kind == "categorical":
            errors = (filled != truth).astype(np.float64)
        else:
            errors = (filled - truth) ** 2 / self._variances[j]
        _, group = np.unique(rows, return_inverse=True)
        return np.bincount(group, weights=errors) / np.bincount(group)

    def row_shares(self, method: str, columns: Sequence[int]) -> np.ndarray:
        """Return for each row held out there its part of the mean error over these columns."""
        rows = [np.unique(self._cells_of(method, j)[0]) for j in columns]
        held_out = np.unique(np.concatenate(rows))
        shares = np.zeros(len(held_out))
        for j, rows_of_column in zip(columns, rows, strict=True):
            errors = self.row_errors(method, j) / len(rows_of_column) / len(columns)
            shares[np.searchsorted(held_out, rows_of_column)] += errors
        return shares

    def draw(
        self, method: str, j: int, filled: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray | None:
        """Return values that deviate from ``filled`` as held-out truths did from what was filled.

        ``None`` where no cell of the column was held out.
        """
        _, truth, guess = self._cells_of(method, j)
        if not len(truth):
            return None
        if self.encoded.columns[j].kind == "numerical":
            drawn: np.ndarray = filled + rng.choice(truth - guess, size=len(filled))
            return drawn
        drawn = filled.copy()
        for code in np.unique(filled):
            same = filled == code
            truths = truth[guess == code]
            drawn[same] = rng.choice(truths if len(truths) else truth, size=same.sum())
        return drawn

    def _cells_of(self, method: str | None, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self._rows:
            nothing = np.zeros(0)
            return nothing.astype(np.intp), nothing, nothing
        chosen = np.concatenate(self._columns) == j
        rows = np.concatenate(self._rows)[chosen]
        filled = np.concatenate(self._reference if method is None else self._filled[method])
        truth = self.encoded.values[rows, j].astype(np.float64)
        return rows, truth, filled[chosen].astype(np.float64)


@dataclass(frozen=True)
class Choice:
    """The method chosen for a column, and why.

    Attributes
    ----------
    column : EncodedColumn
        The column.
    method : str
        The method chosen.
    errors : dict
        Mean error of each method; empty where nothing could be compared.
    reference : float
        Mean error of the column's mean or mode.
    n_rows : int
        Rows held out.
    ties : tuple of str
        Methods within noise of the one chosen.
    reason : str
        The choice in a sentence.
    """

    column: EncodedColumn
    method: str
    reason: str
    errors: Mapping[str, float] = field(default_factory=dict)
    reference: float = np.nan
    n_rows: int = 0
    ties: tuple[str, ...] = ()

    @property
    def margin(self) -> float:
        """Error of the best other method less that of the one chosen."""
        others = [error for method, error in self.errors.items() if method != self.method]
        return min(others) - self.errors[self.method] if others else np.nan


def choose(contest: Contest, methods: Sequence[str], *, noise: float) -> list[Choice]:
    """Choose a method for each column.

    One method is the one to beat: the first, unless another is ahead of it over all columns by more
    than ``noise`` standard errors of the paired difference. Another gets a column only if it is
    ahead there by as much, on at least 10 rows.
    """
    names = [column.name for column in contest.encoded.columns]
    if len(methods) == 1 or contest.n_cells < FEWEST_CELLS_OF_TABLE:
        why = (
            "the only method"
            if len(methods) == 1
            else "the first method, as too few cells can be held out to compare"
        )
        return [
            Choice(column, methods[0], f"{name}: {methods[0]}, {why}.")
            for name, column in zip(names, contest.encoded.columns, strict=True)
        ]
    best = _best_overall(contest, methods, noise)
    return [_choose_for(contest, j, methods, best, noise) for j in range(len(names))]


def overall_errors(contest: Contest, methods: Sequence[str]) -> dict[str, float]:
    """Return the mean error of each method over the columns that have holes to fill.

    Over all columns, where none of them could be held out.
    """
    columns = _columns_that_count(contest)
    return {method: float(contest.row_shares(method, columns).sum()) for method in methods}


def _columns_that_count(contest: Contest) -> list[int]:
    columns = range(len(contest.encoded.columns))
    compared = [j for j in columns if len(contest.row_errors(None, j))]
    with_holes = [j for j in compared if not contest.encoded.observed[:, j].all()]
    return with_holes or compared


def _best_overall(contest: Contest, methods: Sequence[str], noise: float) -> str:
    """Return the first method, or of those clearly ahead of it the one with the lowest error."""
    columns = _columns_that_count(contest)
    shares = {method: contest.row_shares(method, columns) for method in methods}
    first = methods[0]
    ahead = [m for m in methods if m != first and _lead(shares[first], shares[m], noise) > 0]
    return min(ahead, key=lambda m: shares[m].sum(), default=first)


def _choose_for(
    contest: Contest, j: int, methods: Sequence[str], best: str, noise: float
) -> Choice:
    column = contest.encoded.columns[j]
    errors = {method: contest.row_errors(method, j) for method in methods}
    n_rows = len(errors[best])
    if n_rows < FEWEST_ROWS_OF_COLUMN:
        why = f"the best overall, as only {n_rows} cells could be held out here"
        return Choice(column, best, f"{column.name}: {best}, {why}.", n_rows=n_rows)
    means = {method: float(found.mean()) for method, found in errors.items()}
    ahead = [m for m in methods if _lead(errors[best], errors[m], noise) > 0]
    method = min(ahead, key=lambda m: means[m], default=best)
    ties = tuple(
        other
        for other in methods
        if other != method
        and _lead(errors[method], errors[other], noise) <= 0
        and _lead(errors[other], errors[method], noise) <= 0
    )
    reference = float(contest.row_errors(None, j).mean())
    reason = _sentence(column, method, best, means, reference, ties)
    return Choice(column, method, reason, means, reference, n_rows, ties)


def _lead(errors: np.ndarray, lower: np.ndarray, noise: float) -> float:
    """Return by how much ``lower`` lies below ``errors`` beyond noise; positive if it does."""
    differences = errors - lower
    standard_error = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean() - noise * standard_error)


def _sentence(
    column: EncodedColumn,
    method: str,
    best: str,
    means: Mapping[str, float],
    reference: float,
    ties: Sequence[str],
) -> str:
    plain = "mean" if column.kind == "numerical" else "most frequent value"
    said = (
        f"{column.name}: {method}, error {means[method]:.2f} against {reference:.2f} of the {plain}"
    )
    lower = [other for other in means if means[other] < means[method]]
    if lower and method == best:
        lowest = min(lower, key=lambda other: means[other])
        said += f"; {lowest} has {means[lowest]:.2f}, but within noise of the best overall"
    tied = [other for other in ties if other not in lower or method != best]
    if tied:
        said += f"; {_listed(tied)} {'ties' if len(tied) == 1 else 'tie'}"
    if min(means.values()) >= reference:
        said += f"; nothing is better than the {plain} here"
    return said + "."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _variance(encoded: EncodedTable, j: int) -> float:
    return float(encoded.values[encoded.observed[:, j], j].var(dtype=np.float64))
