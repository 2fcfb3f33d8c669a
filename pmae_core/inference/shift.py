"""Shift the imputed values of one column: numbers by an amount, categories by their odds."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, logit

from pmae_core.errors import ScoringError
from pmae_core.table.cells import CellKind, cell_kind, impute_cells
from pmae_core.table.number_cells import NumberCells
from pmae_core.words import cell_text

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Scale = Literal["sd", "units"]


def shifted(
    imputed: pd.DataFrame,
    was_imputed: pd.DataFrame,
    column: Hashable,
    delta: float,
    *,
    scale: Scale = "sd",
    category: Any = None,
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
        The shift. It is added to numbers. For categories it is added to the log odds of
        `category` among the imputed cells (0.7 doubles the odds).
    scale : {"sd", "units"}, default "sd"
        For numbers, whether `delta` is in standard deviations of the observed cells or in units
        of the column. Whole numbers stay whole.
    category
        For a column of categories, the one that becomes more or less frequent. Cells are
        chosen at random; those that leave the category get others in proportion to their
        frequency among the imputed cells.
    seed : int, default 0
        For categories. With the same seed, cells that change at one delta stay changed at larger
        ones.

    Returns
    -------
    DataFrame
        A new table; observed cells, index and dtypes are unchanged.

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
        result[column] = shift_odds(cells, moved, category, delta, seed)
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


def shift_odds(
    cells: pd.Series, moved: BoolArray, category: Any, delta: float, seed: int
) -> pd.Series:
    """Return a column with the log odds of one category among some cells shifted.

    Parameters
    ----------
    cells : Series
        The imputed column.
    moved : array of bool
        True for the cells that may change.
    category, delta, seed
        As in :func:`shifted`.
    """
    is_category = (cells == category).fillna(False).to_numpy(dtype=bool)
    others = cells[moved & ~is_category]
    if others.empty:
        others = cells[cells.notna().to_numpy() & ~is_category]
    if not is_category.any() or others.empty:
        raise ScoringError(
            f"Column {cells.name!r} has no odds to shift: it needs cells that are "
            f"{cell_text(category)} and cells that are not."
        )
    rng = np.random.default_rng(seed)
    turns = rng.random(int(moved.sum()))
    replacements = others.iloc[rng.integers(len(others), size=len(turns))]
    inside = is_category[moved]
    # Half a cell on either side, so that no share is beyond the reach of a factor.
    share = (inside.sum() + 0.5) / (len(inside) + 1)
    wanted = float(expit(logit(share) + delta))
    enters = ~inside & (turns < (wanted - share) / (1 - share))
    leaves = inside & (turns < (share - wanted) / share)
    result = cells.copy()
    positions = np.flatnonzero(moved)
    result.iloc[positions[enters]] = category
    result.iloc[positions[leaves]] = replacements.iloc[np.flatnonzero(leaves)].array
    return result
