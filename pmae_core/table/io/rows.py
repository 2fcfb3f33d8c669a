"""The rows of a table as plain Python values, for formats that write cell by cell."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from pmae_core.errors import TableWarning
from pmae_core.names import make_unique
from pmae_core.words import listed

BLOCK_ROWS = 50_000


def index_as_columns(df: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with an index that is more than row numbers as first columns.

    Returns
    -------
    DataFrame
        The table; names of columns are text.
    list of str
        The names of the columns that were the index; none if it had row numbers only.
    """
    df = df.rename(columns=str)
    index = df.index
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return df, []
    index_names = ["index" if name is None else str(name) for name in index.names]
    # The table's own names come first, so that none of them changes.
    names = make_unique([*df.columns, *index_names])[df.shape[1] :]
    columns = index.set_names(names).to_frame(index=False)
    return pd.concat([columns, df.reset_index(drop=True)], axis="columns"), names


def with_index_as_columns(df: pd.DataFrame) -> pd.DataFrame:
    """Return the table for a format without an index, and warn if it had one."""
    written, names = index_as_columns(df)
    if names:
        warnings.warn(
            f"This format has no index: it is written as {listed(map(repr, names))}.",
            TableWarning,
            stacklevel=5,
        )
    return written


def map_columns(df: pd.DataFrame, change: Callable[[pd.Series], pd.Series]) -> pd.DataFrame:
    """Return the table with each column changed by a function."""
    return pd.DataFrame({name: change(column) for name, column in df.items()}, index=df.index)


def dates_to_text(column: pd.Series) -> pd.Series:
    """Return dates as ISO text, other columns as they are."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    return column.map(lambda date: date.isoformat(), na_action="ignore").astype(object)


def rows_of_plain_cells(df: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield rows of Python values with None for missing, block by block to spare memory."""
    for start in range(0, len(df), BLOCK_ROWS):
        block = df.iloc[start : start + BLOCK_ROWS]
        columns = [_plain_cells(column) for _, column in block.items()]
        yield from zip(*columns, strict=True)


def _plain_cells(column: pd.Series) -> list[object]:
    cells = zip(column.astype(object), column.isna(), strict=True)
    return [None if missing else _plain_cell(cell) for cell, missing in cells]


def _plain_cell(cell: object) -> object:
    return cell.item() if isinstance(cell, np.generic) else cell
