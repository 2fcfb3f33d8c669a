"""Which method imputes a column best, judged by held-out cells, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pmae_core.imputers._comparison import HeldOutComparison
from pmae_core.table import EncodedColumn
from pmae_core.words import count, listed

FEWEST_CELLS_OF_TABLE = 30
FEWEST_ROWS_OF_COLUMN = 10


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


def choose(comparison: HeldOutComparison, methods: Sequence[str], *, noise: float) -> list[Choice]:
    """Choose a method for each column.

    One method is the one to beat: the first, unless another is ahead of it over all columns by more
    than ``noise`` standard errors of the paired difference. Another gets a column only if it is
    ahead there by as much, on at least 10 rows.
    """
    columns = comparison.encoded.columns
    if len(methods) == 1 or comparison.n_cells < FEWEST_CELLS_OF_TABLE:
        why = (
            "the only method"
            if len(methods) == 1
            else "the first method, as too few cells can be held out to compare"
        )
        return [
            Choice(column, methods[0], f"{column.name}: {methods[0]}, {why}.") for column in columns
        ]
    best = _best_overall(comparison, methods, noise)
    return [_choose_for(comparison, j, methods, best, noise) for j in range(len(columns))]


def overall_errors(comparison: HeldOutComparison, methods: Sequence[str]) -> dict[str, float]:
    """Return the mean error of each method over the columns with missing cells, the best first.

    Over all columns, where no cell of those with missing ones could be held out.
    """
    columns = _columns_that_count(comparison)
    errors = {method: float(comparison.row_shares(method, columns).sum()) for method in methods}
    return dict(sorted(errors.items(), key=lambda item: item[1]))


def choices_frame(choices: Sequence[Choice], methods: Sequence[str]) -> pd.DataFrame:
    """Return choices as a table, with one ``error_<method>`` column per method."""
    rows = [
        {
            "column": choice.column.name,
            "method": choice.method,
            "error": choice.errors.get(choice.method, np.nan),
            "mean_error": choice.reference,
            "margin": choice.margin,
            "ties": ", ".join(choice.ties),
            "n_rows": choice.n_rows,
            "reason": choice.reason,
            **{f"error_{name}": choice.errors.get(name, np.nan) for name in methods},
        }
        for choice in choices
    ]
    names = ["column", "method", "error", "mean_error", "margin", "ties", "n_rows", "reason"]
    return pd.DataFrame(rows, columns=[*names, *(f"error_{name}" for name in methods)])


def _columns_that_count(comparison: HeldOutComparison) -> list[int]:
    columns = range(len(comparison.encoded.columns))
    compared = [j for j in columns if len(comparison.row_errors(None, j))]
    with_missing = [j for j in compared if not comparison.encoded.observed[:, j].all()]
    return with_missing or compared


def _best_overall(comparison: HeldOutComparison, methods: Sequence[str], noise: float) -> str:
    """Return the first method, or of those clearly ahead of it the one with the lowest error."""
    columns = _columns_that_count(comparison)
    shares = {method: comparison.row_shares(method, columns) for method in methods}
    first = methods[0]
    ahead = [m for m in methods if m != first and _lead(shares[first], shares[m], noise) > 0]
    return min(ahead, key=lambda m: shares[m].sum(), default=first)


def _choose_for(
    comparison: HeldOutComparison, j: int, methods: Sequence[str], best: str, noise: float
) -> Choice:
    column = comparison.encoded.columns[j]
    errors = {method: comparison.row_errors(method, j) for method in methods}
    n_rows = len(errors[best])
    if n_rows < FEWEST_ROWS_OF_COLUMN:
        why = f"the best overall, as only {count(n_rows, 'cell')} could be held out here"
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
    reference = float(comparison.row_errors(None, j).mean())
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
    simple = "mean" if column.kind == "numerical" else "most frequent value"
    sentence = (
        f"{column.name}: {method}, error {means[method]:.2f} (the {simple} has {reference:.2f})"
    )
    lower = [other for other in means if means[other] < means[method]]
    if lower and method == best:
        lowest = min(lower, key=lambda other: means[other])
        sentence += f"; {lowest} has {means[lowest]:.2f}, but within noise of the best overall"
    tied = [other for other in ties if other not in lower or method != best]
    if tied:
        sentence += f"; tied with {listed(tied)}"
    if min(means.values()) >= reference:
        sentence += f"; no method is better than the {simple} here"
    return sentence + "."
