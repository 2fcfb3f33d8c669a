"""Shift the imputed values of one column: numbers by an amount, categories by their odds."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.inference.odds import BoolArray, FloatArray, OddsShift
from pmae_core.table import Schema
from pmae_core.table.cells import CellKind, cell_kind, impute_cells
from pmae_core.table.number_cells import NumberCells

Scale = Literal["sd", "units"]


def shifted(
    imputed: pd.DataFrame,
    was_imputed: pd.DataFrame,
    column: Hashable,
    delta: float,
    *,
    scale: Scale = "sd",
    category: Any = None,
    probabilities: pd.DataFrame | None = None,
    schema: Schema | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the imputed table with the imputed values of one column shifted.

    Parameters
    ----------
    imputed : DataFrame
        The imputed table.
    was_imputed : DataFrame of bool
        True where a cell was imputed; only these cells are shifted.
    column
        A column of numbers, or of categories if `category` is given.
    delta : float
        The shift. It is added to numbers. For categories it is added to each imputed cell's own
        log odds of `category` (0.7 doubles the odds).
    scale : {"sd", "units"}, default "sd"
        For numbers, whether `delta` is in standard deviations of the observed cells or in units
        of the column. Whole numbers stay whole.
    category
        For a column of categories, the one that becomes more or less frequent.
    probabilities : DataFrame, optional
        For categories, each row's probabilities: rows as in `imputed`, one column per category,
        named by it. Only the rows of imputed cells are used. Without it they are estimated from
        the imputed table; see the notes.
    schema : Schema, optional
        For categories, the roles of the other columns; inferred if not given. Identifiers and
        ignored columns are no predictors.
    seed : int, default 0
        For categories. With the same seed, cells that change at one delta stay changed at larger
        ones.

    Returns
    -------
    DataFrame
        A new table; observed cells, index and dtypes are unchanged.

    Notes
    -----
    An imputed cell whose row has the probability p of the category gets p' with
    logit(p') = logit(p) + `delta`: if it is in the category, it leaves it with probability
    (p - p') / p; if not, it enters it with probability (p' - p) / (1 - p). A row to which
    the category hardly applies rarely changes. A cell that leaves gets another category by
    its row's probabilities of the others.

    Estimated probabilities are those of a penalized multinomial logistic regression of the column
    on all others, and on whether the cell was imputed, over the rows of the imputed table (a
    sample of at most 5,000).

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.2, 3.0, 2.0]})
    >>> was_imputed = pd.DataFrame({"x": [False, False, True]})
    >>> shifted(table, was_imputed, "x", 0.5, scale="units")["x"].tolist()
    [1.2, 3.0, 2.5]
    """
    cells = imputed[column]
    moved = imputed_cells(cells, was_imputed[column])
    result = imputed.copy()
    if category is not None:
        odds = OddsShift.fit(
            imputed, column, moved, category, probabilities=probabilities, schema=schema, seed=seed
        )
        result[column] = odds.at(delta)
    else:
        numbers = shift_numbers(cells, moved, delta, scale)
        written = NumberCells.fit(cells).write(numbers[moved], cells)
        result[column] = impute_cells(cells, moved, written)
    return result


def imputed_cells(cells: pd.Series, was_missing: pd.Series) -> BoolArray:
    """Return True for the cells of an imputed column that were missing and are no longer."""
    moved = was_missing.to_numpy(dtype=bool) & cells.notna().to_numpy()
    if not moved.any():
        raise ScoringError(f"Column {cells.name!r} has no imputed cells to shift.")
    return moved


def shift_numbers(cells: pd.Series, moved: BoolArray, delta: float, scale: Scale) -> FloatArray:
    """Return a column as numbers with some cells shifted, exactly even if they are whole.

    Parameters
    ----------
    cells : Series
        The imputed column.
    moved : array of bool
        True for the cells to shift.
    delta, scale
        As in :func:`shifted`.
    """
    if cell_kind(cells) is not CellKind.NUMBER:
        raise ScoringError(
            f"Column {cells.name!r} holds {cell_kind(cells)}s, but only numbers can be shifted. "
            "For categories, name the category whose odds to shift."
        )
    numbers = NumberCells.fit(cells).read(cells)
    step = 1.0
    if scale == "sd":
        observed = numbers[~moved & np.isfinite(numbers)]
        step = float(observed.std(ddof=1)) if len(observed) > 1 else 0.0
        if step == 0:
            raise ScoringError(
                f"The observed values of column {cells.name!r} do not vary. Shift it in units "
                "instead."
            )
    elif scale != "units":
        raise ScoringError(f"scale must be 'sd' or 'units', not {scale!r}.")
    numbers[moved] += delta * step
    return numbers
