"""Cells removed from a table, with the truth kept beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.amputation.patterns import Name
from pmae_core.errors import AmputationError

BoolArray = npt.NDArray[np.bool_]

# Integers beyond this are not exact as floats, the usual dtype of integers with missing cells.
_EXACT_FLOAT_INTEGER = 2**53


@dataclass(frozen=True)
class Amputation:
    """A table with simulated missing values.

    Attributes
    ----------
    truth : DataFrame
        The table as it was, without the rows that keep no observed cell.
    incomplete : DataFrame
        The same rows with missing cells. Integers with missing cells become floats (nullable
        integers where a float would not be exact) and booleans nullable booleans; other dtypes
        stay.
    missing : DataFrame of bool
        True where a cell was removed *here*, so that its truth is known. Cells that were
        missing before stay missing in both tables and are False.
    propensity : DataFrame of float
        Probability that each cell stays observed.
    settings : dict
        JSON-able; ``ampute(df, **settings)`` repeats the result.
    """

    truth: pd.DataFrame
    incomplete: pd.DataFrame
    missing: pd.DataFrame
    propensity: pd.DataFrame
    settings: dict[str, Any]


def remove_cells(
    df: pd.DataFrame,
    removed: BoolArray,
    propensity: pd.DataFrame,
    settings: dict[str, Any],
    *,
    content_columns: Sequence[Name] | None,
) -> Amputation:
    """Remove cells, and drop the rows that keep nothing in `content_columns` (None: no row)."""
    present = df.notna()
    missing = pd.DataFrame(removed, index=df.index, columns=df.columns) & present
    keep: BoolArray = np.ones(len(df), dtype=bool)
    if content_columns is not None:
        names = list(content_columns)
        keep = np.any((present[names] & ~missing[names]).to_numpy(), axis=1)
    if not keep.any():
        raise AmputationError(
            "No row would keep a single cell.",
            advice="Choose higher observed proportions, or use a table with more rows and columns.",
        )
    truth, missing = df[keep].copy(), missing[keep]
    return Amputation(
        truth=truth,
        incomplete=_without_cells(truth, missing),
        missing=missing,
        propensity=propensity[keep],
        settings=settings,
    )


def check_table(df: pd.DataFrame) -> None:
    """Raise ``AmputationError`` if there is no table to remove cells from."""
    if not isinstance(df, pd.DataFrame):
        raise AmputationError(
            f"Missing values are simulated in a DataFrame, not in a {type(df).__name__}."
        )
    if df.shape[0] == 0 or df.shape[1] == 0:
        raise AmputationError("The table has no rows or no columns.")


def _without_cells(truth: pd.DataFrame, missing: pd.DataFrame) -> pd.DataFrame:
    incomplete = truth.copy()
    for name in truth.columns:
        if not missing[name].any():
            continue
        incomplete[name] = _able_to_miss(truth[name]).mask(missing[name])
    return incomplete


def _able_to_miss(column: pd.Series) -> pd.Series:
    """Return the column in a dtype that holds missing cells next to unchanged values."""
    if column.dtype.kind == "b" and isinstance(column.dtype, np.dtype):
        return column.astype("boolean")
    if column.dtype.kind in "iu" and isinstance(column.dtype, np.dtype):
        exact = column.abs().max() <= _EXACT_FLOAT_INTEGER
        return column.astype("float64") if exact else column.convert_dtypes()
    return column
