"""Cells removed from a table, with the truth kept beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.amputation.patterns import Name
from pmae_core.amputation.rule import AmputationRule
from pmae_core.errors import AmputationError

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

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
        Probability that each cell stays observed, before rows without a cell are dropped.
    p_kept : Series of float
        Probability of each row to keep an observed cell: 1 if such rows are not dropped.
    settings : dict
        JSON-able; ``ampute(df, **settings)`` repeats the result.
    rule : AmputationRule or None
        What decided which cells are missing; None if they are those of another table.
    """

    truth: pd.DataFrame
    incomplete: pd.DataFrame
    missing: pd.DataFrame
    propensity: pd.DataFrame
    p_kept: pd.Series
    settings: dict[str, Any]
    rule: AmputationRule | None = None

    @cached_property
    def chance_missing(self) -> pd.DataFrame:
        """Probability that each cell was removed, given that its row is in the table.

        Apart from chance, the mean over the rows is the share that is missing. This is not so for
        the propensity: rows that lose every cell are dropped, and with them their missing cells.
        """
        # A row that keeps this cell stays, so both happen as often as the first.
        chance = 1.0 - self.propensity.div(self.p_kept, axis=0).clip(upper=1.0)
        return chance.where(self.truth.notna(), 0.0)


def remove_cells(
    df: pd.DataFrame,
    removed: BoolArray,
    propensity: pd.DataFrame,
    settings: dict[str, Any],
    *,
    content_columns: Sequence[Name] | None,
    p_kept: FloatArray,
    rule: AmputationRule | None = None,
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
        p_kept=pd.Series(p_kept, index=df.index)[keep],
        settings=settings,
        rule=None if rule is None else rule.of_rows(keep),
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
