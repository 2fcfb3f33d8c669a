"""A data frame to an Excel workbook, and what Excel can hold."""

import datetime
import math
from collections.abc import Iterator
from typing import BinaryIO

import openpyxl
import pandas as pd
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils.exceptions import IllegalCharacterError

from pmae_core.errors import TableError, TableTooLargeError
from pmae_core.table.io.rows import (
    dates_to_text,
    map_columns,
    rows_of_plain_cells,
    with_index_as_columns,
)

EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_TEXT = 1_048_576, 16_384, 32_767
_FIRST_DATE = pd.Timestamp("1900-03-01")
_EXACT_INTEGER = 10**15


def write_excel(df: pd.DataFrame, handle: BinaryIO) -> None:
    """Write a table as the only sheet of a workbook."""
    df = with_index_as_columns(df)
    if len(df) >= EXCEL_ROWS or df.shape[1] > EXCEL_COLUMNS:
        raise TableTooLargeError(
            f"Excel holds {EXCEL_ROWS - 1:,} rows and {EXCEL_COLUMNS:,} columns; "
            f"this table has {len(df):,} and {df.shape[1]:,}.",
            advice="Write .parquet or .csv.",
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Table")
    try:
        sheet.append([_excel_cell(sheet, name) for name in df.columns])
        for row in rows_of_excel_cells(df):
            sheet.append([_excel_cell(sheet, cell) for cell in row])
    except IllegalCharacterError as error:
        raise TableError(
            "Some text holds control characters, which Excel cannot store.",
            advice="Write .parquet or .csv.",
        ) from error
    finally:
        sheet.close()
    book.save(handle)


def rows_of_excel_cells(df: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield rows of Python values; dates that Excel cannot hold are text."""
    df = map_columns(
        df, lambda column: column if _dates_fit_excel(column) else dates_to_text(column)
    )
    for number, row in enumerate(rows_of_plain_cells(df), start=1):
        if number == len(df) and all(cell is None for cell in row):
            # A last row of nothing would vanish; a word that reads as missing holds its place.
            row = ("NA", *row[1:])
        yield row


def _dates_fit_excel(column: pd.Series) -> bool:
    """Say whether Excel can hold all dates exactly: whole seconds, no time zone, not too old."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype) or column.dt.tz is not None:
        return False
    dates = column.dropna()
    return bool((dates >= _FIRST_DATE).all() and (dates == dates.dt.floor("s")).all())


def _excel_cell(sheet: object, cell: object) -> object:
    if isinstance(cell, pd.Timestamp):
        cell = cell.to_pydatetime()
    elif not excel_holds(cell):
        cell = str(cell)
    if not isinstance(cell, str):
        return cell
    if len(cell) > EXCEL_TEXT:
        raise TableError(
            f"A text of {len(cell):,} characters is longer than Excel allows ({EXCEL_TEXT:,}).",
            advice="Write .parquet or .csv.",
        )
    text = WriteOnlyCell(sheet, cell)
    # Text that looks like a formula or an error is text all the same.
    text.data_type = "s"
    return text


def excel_holds(cell: object) -> bool:
    """Say whether Excel can hold a value exactly."""
    if isinstance(cell, float):
        return math.isfinite(cell)
    if isinstance(cell, int):
        return abs(cell) <= _EXACT_INTEGER
    return cell is None or isinstance(cell, str | datetime.date)
