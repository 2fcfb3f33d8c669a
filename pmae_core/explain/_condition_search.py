"""Conditions under which columns may always be missing, proposed column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from pmae_core.explain.conditions import MOST_VALUES, BoolArray, Condition, Relation
from pmae_core.table import ColumnSchema, Role
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.time_cells import TimeCells

FloatArray = npt.NDArray[np.float64]

# Values of fewer rows are missing by chance too often, and many of them are names, not kinds.
ROWS_PER_VALUE = 10
# A threshold is sought among this many blocks of rows before it is sought row by row.
BLOCKS = 256
# Numbers with so few different values may be codes of kinds.
MOST_CODES = 12


@dataclass(frozen=True)
class RuleLimits:
    """What counts as a rule; see :func:`~pmae_core.explain.find_structural_missingness`."""

    min_rows: int
    max_exceptions: float
    max_other_missing: float
    by_missingness: bool


def proposals(
    cells: pd.Series, reason: ColumnSchema, missing: BoolArray, limits: RuleLimits
) -> Iterator[tuple[int, Condition]]:
    """Yield (number of a column of `missing`, condition) for all that deserves a closer look.

    Parameters
    ----------
    cells, reason : Series, ColumnSchema
        The column that the conditions are about.
    missing : array of bool of shape (rows, columns)
        True where the columns to explain are missing.
    limits : RuleLimits
        What counts as a rule.
    """
    numbers = _numbers(cells, reason.role)
    if numbers is not None:
        yield from _thresholds(cells, numbers, missing, limits)
    most = MOST_CODES if numbers is not None else len(cells) // ROWS_PER_VALUE
    if reason.n_unique <= most:
        yield from _kinds(cells, missing, limits)
    absent = cells.isna().to_numpy()
    if limits.by_missingness and absent.sum() >= limits.min_rows:
        share = missing[absent].mean(axis=0)
        for j in np.flatnonzero(share >= 1 - limits.max_exceptions):
            yield int(j), Condition(cells.name, "is missing")


def _numbers(cells: pd.Series, role: Role) -> FloatArray | None:
    """Return the cells as numbers in their order, or None where they have no order."""
    if role not in (Role.NUMERICAL, Role.DATETIME):
        return None
    kind = cell_kind(cells)
    if kind is CellKind.NUMBER:
        return NumberCells.fit(cells).read(cells)
    if kind in (CellKind.DATETIME, CellKind.DURATION):
        return TimeCells.fit(cells).read(cells)
    return None


def _kinds(
    cells: pd.Series, missing: BoolArray, limits: RuleLimits
) -> Iterator[tuple[int, Condition]]:
    """Propose the values for which a column is missing, or those for which it is not."""
    codes, values = pd.factorize(cells)
    observed = np.flatnonzero(codes >= 0)
    n_rows = np.bincount(codes[observed], minlength=len(values))
    indicator = sparse.csr_array(
        (np.ones(len(observed), dtype=np.float32), (codes[observed], observed)),
        (len(values), len(cells)),
    )
    n_missing = indicator @ missing.astype(np.float32)
    is_missing = n_missing >= (1 - limits.max_exceptions) * n_rows[:, None]
    is_missing &= (n_rows >= min(ROWS_PER_VALUE, limits.min_rows))[:, None]
    for j in np.flatnonzero(is_missing.any(axis=0) & ~is_missing.all(axis=0)):
        for relation, chosen in (("is", is_missing[:, j]), ("is not", ~is_missing[:, j])):
            if chosen.sum() <= MOST_VALUES:
                # A list holds Python's own values, which read better and can be written as JSON.
                named = tuple(pd.Index(values)[chosen].tolist())
                yield int(j), Condition(cells.name, relation, named)  # type: ignore[arg-type]


def _thresholds(
    cells: pd.Series, numbers: FloatArray, missing: BoolArray, limits: RuleLimits
) -> Iterator[tuple[int, Condition]]:
    """Propose for each column the threshold with the fewest misfits on either side."""
    order = np.argsort(numbers)[: int(np.isfinite(numbers).sum())]
    last_of_value = np.flatnonzero(np.diff(numbers[order]) > 0)
    if not len(last_of_value):
        return
    ends = np.unique(np.linspace(0, len(order), BLOCKS + 1).astype(int))[1:]
    starts = np.concatenate([[0], ends[:-1]])
    n_below = np.add.reduceat(missing[order], starts, axis=0, dtype=np.int64).cumsum(axis=0)
    n_missing = missing.sum(axis=0)
    most_exceptions = limits.max_exceptions / (1 - limits.max_exceptions) * n_missing
    allowed = np.minimum(limits.max_other_missing * len(cells), n_missing / 2) + most_exceptions
    slack = (ends - starts).max()  # between two ends of blocks the misfits differ by at most this
    for relation, coarse in _misfits(n_below, ends[:, None]).items():
        for j in np.flatnonzero(coarse.min(axis=0) <= allowed + slack):
            below = np.cumsum(missing[order, j], dtype=np.int64)
            misfits = _misfits(below, np.arange(1, len(order) + 1))[relation]
            best = last_of_value[misfits[last_of_value].argmin()]
            threshold = cells.iloc[order[best]]
            plain = threshold.item() if isinstance(threshold, np.generic) else threshold
            yield int(j), Condition(cells.name, relation, (plain,))


def _misfits(n_below: npt.NDArray[Any], n_rows: npt.NDArray[Any]) -> dict[Relation, Any]:
    """Count the misfits if exactly the rows up to one, or those after it, should be missing.

    ``n_below`` cells are missing in the first ``n_rows`` rows; the last entry is of all rows.
    """
    n_above, n_rows_above = n_below[-1] - n_below, n_rows[-1] - n_rows
    return {"<=": n_rows - n_below + n_above, ">": n_below + n_rows_above - n_above}
