"""Write a table to the formats that :func:`read_table` reads."""

import csv
import datetime
import io
import json
import math
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils.exceptions import IllegalCharacterError

from pmae_core.errors import EmptyTableError, TableError, TableTooLargeError, TableWarning
from pmae_core.names import make_unique
from pmae_core.table.io.dialect import DELIMITERS
from pmae_core.table.io.source import FORMAT_OF_ENDING, FORMATS
from pmae_core.table.values import MISSING_WORDS

_EXCEL_ROWS, _EXCEL_COLUMNS, _EXCEL_TEXT = 1_048_576, 16_384, 32_767
_EXCEL_FIRST_DATE = pd.Timestamp("1900-03-01")
_EXCEL_EXACT_INTEGER = 10**15
_BLOCK_ROWS = 50_000


def write_table(
    df: pd.DataFrame, path: str | os.PathLike[str] | BinaryIO, *, format: str | None = None
) -> None:
    r"""Write a table so that :func:`read_table` gives it back.

    Parquet and Feather keep types and index exactly. The others keep every value; an index that
    is more than row numbers becomes the first column. A file that is there already is replaced
    only after the new one is complete.

    Parameters
    ----------
    df : pandas.DataFrame
        The table.
    path : path or binary file
        Where to write.
    format : {"csv", "tsv", "excel", "parquet", "feather", "jsonl"}, optional
        By default the path's ending decides.

    Raises
    ------
    TableError
        If the table cannot be written in this format without losing something.

    Examples
    --------
    >>> buffer = io.BytesIO()
    >>> write_table(pd.DataFrame({"age": [41, 37]}), buffer, format="csv")
    >>> buffer.getvalue()
    b'age\n41\n37\n'
    """
    writer = _WRITERS[_choose_format(path, format)]
    _check(df)
    try:
        if isinstance(path, str | os.PathLike):
            _write_whole(df, Path(path), writer)
        else:
            writer(df, path)
    except UnicodeEncodeError as error:
        raise TableError(f"Some text cannot be written as UTF-8: {error}.") from error


def _choose_format(path: object, wanted: str | None) -> str:
    ending = Path(path).suffix.lower() if isinstance(path, str | os.PathLike) else ""
    chosen = wanted or FORMAT_OF_ENDING.get(ending)
    if chosen not in FORMATS or (wanted is None and ending == ".xls"):
        raise TableError(
            f"Unknown format {wanted or ending or 'without ending'!r}. "
            "Choose an ending such as .csv, .xlsx or .parquet, "
            f"or a format of: {', '.join(FORMATS)}."
        )
    return chosen


def _check(df: pd.DataFrame) -> None:
    if df.empty:
        raise EmptyTableError(
            f"A table of {df.shape[0]:,} rows and {df.shape[1]:,} columns is not worth a file."
        )
    repeated = df.columns[df.columns.duplicated()].unique()
    if len(repeated):
        names = ", ".join(repr(str(name)) for name in repeated[:10])
        raise TableError(f"Column names must be unique to be written; these repeat: {names}.")
    for name, column in df.items():
        # Columns of text say "O" too, but hold nothing else.
        if column.dtype == object and any(isinstance(c, dict | list | set) for c in column):
            raise TableError(f"Column {str(name)!r} holds lists or other nested values.")


def _write_whole(
    df: pd.DataFrame, path: Path, writer: Callable[[pd.DataFrame, BinaryIO], None]
) -> None:
    """Write beside the goal and move at the end, so that no failure leaves half a file."""
    unfinished = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as handle:
            unfinished = Path(handle.name)
            writer(df, cast(BinaryIO, handle))
        unfinished.replace(path)
    except OSError as error:
        raise TableError(f"'{path}' cannot be written: {error.strerror or error}.") from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)


def _with_index_as_columns(df: pd.DataFrame) -> pd.DataFrame:
    """Return the table with string names and, if the index says something, with it in front."""
    df = df.rename(columns=str)
    index = df.index
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return df
    index_names = ["index" if name is None else str(name) for name in index.names]
    # The table's own names come first, so that none of them changes.
    names = make_unique([*df.columns, *index_names])[df.shape[1] :]
    warnings.warn(
        f"This format has no index: it is written as {', '.join(map(repr, names))}.",
        TableWarning,
        stacklevel=5,
    )
    return pd.concat([index.set_names(names).to_frame(), df], axis="columns")


def _write_csv(df: pd.DataFrame, handle: BinaryIO) -> None:
    _write_delimited(df, handle, ",")


def _write_tsv(df: pd.DataFrame, handle: BinaryIO) -> None:
    _write_delimited(df, handle, "\t")


def _write_delimited(df: pd.DataFrame, handle: BinaryIO, delimiter: str) -> None:
    df = _with_index_as_columns(df)
    _check_text_survives(df)
    text = io.TextIOWrapper(handle, encoding="utf-8", newline="")
    try:
        csv.writer(
            text,
            delimiter=delimiter,
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if _may_mislead(df.columns) else csv.QUOTE_MINIMAL,
        ).writerow(df.columns)
        df.to_csv(
            text,
            sep=delimiter,
            header=False,
            index=False,
            lineterminator="\n",
            chunksize=_BLOCK_ROWS,
            quoting=csv.QUOTE_NONNUMERIC if _cells_need_quotes(df) else csv.QUOTE_MINIMAL,
        )
        text.flush()
    finally:
        text.detach()


def _check_text_survives(df: pd.DataFrame) -> None:
    """Refuse text that no reader gets back, and name text that will read as missing."""
    like_missing = []
    for name, column in df.items():
        if not _holds_text(column):
            continue
        texts = column.dropna().astype(str)
        if texts.str.contains("\0", regex=False).any():
            raise TableError(f"Column {name!r} holds NUL characters, which text files cannot.")
        if texts.str.strip().isin(MISSING_WORDS).any():
            like_missing.append(repr(name))
    if like_missing:
        warnings.warn(
            "Some texts, such as 'NA' or blanks, will count as missing when this file is read, in: "
            f"{', '.join(like_missing[:10])}. Parquet keeps them apart.",
            TableWarning,
            stacklevel=6,
        )


def _cells_need_quotes(df: pd.DataFrame) -> bool:
    """Tell whether to quote all text: carriage returns, or a single column that looks like many."""
    texts = [column.dropna().astype(str) for _, column in df.items() if _holds_text(column)]
    if df.shape[1] == 1 and any(_may_mislead(text) for text in texts):
        return True
    return any(text.str.contains("\r", regex=False).any() for text in texts)


def _may_mislead(texts: Iterable[str]) -> bool:
    """Tell whether texts hold characters that a reader may take for delimiters or line breaks."""
    misleading = {*DELIMITERS, "\r"}
    return any(not misleading.isdisjoint(text) for text in texts)


def _holds_text(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _holds_text(column.dtype.categories.to_series())
    return pd.api.types.is_string_dtype(column.dtype) or column.dtype.kind == "O"


def _write_jsonl(df: pd.DataFrame, handle: BinaryIO) -> None:
    df = _map_columns(_with_index_as_columns(df), _dates_to_text)
    names = list(df.columns)
    for cells in _rows_of_plain_cells(df):
        record = dict(zip(names, cells, strict=True))
        handle.write((json.dumps(record, ensure_ascii=False, default=str) + "\n").encode())


def _map_columns(df: pd.DataFrame, change: Callable[[pd.Series], pd.Series]) -> pd.DataFrame:
    return pd.DataFrame({name: change(column) for name, column in df.items()}, index=df.index)


def _dates_to_text(column: pd.Series) -> pd.Series:
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    return column.map(lambda date: date.isoformat(), na_action="ignore").astype(object)


def _rows_of_plain_cells(df: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield rows of Python values with None for missing, block by block to spare memory."""
    for start in range(0, len(df), _BLOCK_ROWS):
        block = df.iloc[start : start + _BLOCK_ROWS]
        columns = [_plain_cells(column) for _, column in block.items()]
        yield from zip(*columns, strict=True)


def _plain_cells(column: pd.Series) -> list[object]:
    cells = zip(column.astype(object), column.isna(), strict=True)
    return [None if gone else _plain_cell(cell) for cell, gone in cells]


def _plain_cell(cell: object) -> object:
    return cell.item() if isinstance(cell, np.generic) else cell


def _write_excel(df: pd.DataFrame, handle: BinaryIO) -> None:
    df = _with_index_as_columns(df)
    if len(df) >= _EXCEL_ROWS or df.shape[1] > _EXCEL_COLUMNS:
        raise TableTooLargeError(
            f"Excel holds {_EXCEL_ROWS - 1:,} rows and {_EXCEL_COLUMNS:,} columns; "
            f"this table has {len(df):,} and {df.shape[1]:,}. Write .parquet or .csv."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Table")
    try:
        sheet.append([_excel_cell(sheet, name) for name in df.columns])
        for row in _rows_of_excel_cells(df):
            sheet.append([_excel_cell(sheet, cell) for cell in row])
    except IllegalCharacterError as error:
        raise TableError(
            "Some text holds control characters, which Excel cannot store. Write .parquet or .csv."
        ) from error
    finally:
        sheet.close()
    book.save(handle)


def _rows_of_excel_cells(df: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    df = _map_columns(
        df, lambda column: column if _dates_fit_excel(column) else _dates_to_text(column)
    )
    for number, row in enumerate(_rows_of_plain_cells(df), start=1):
        if number == len(df) and all(cell is None for cell in row):
            # A last row of nothing would vanish; a word that reads as missing holds its place.
            row = ("NA", *row[1:])
        yield row


def _dates_fit_excel(column: pd.Series) -> bool:
    """Tell whether Excel can hold all dates exactly: whole seconds, no time zone, not too old."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype) or column.dt.tz is not None:
        return False
    dates = column.dropna()
    return bool((dates >= _EXCEL_FIRST_DATE).all() and (dates == dates.dt.floor("s")).all())


def _excel_cell(sheet: object, cell: object) -> object:
    if isinstance(cell, pd.Timestamp):
        cell = cell.to_pydatetime()
    elif not _excel_holds(cell):
        cell = str(cell)
    if not isinstance(cell, str):
        return cell
    if len(cell) > _EXCEL_TEXT:
        raise TableError(
            f"A text of {len(cell):,} characters is longer than Excel allows ({_EXCEL_TEXT:,}). "
            "Write .parquet or .csv."
        )
    text = WriteOnlyCell(sheet, cell)
    # Text that looks like a formula or an error is text all the same.
    text.data_type = "s"
    return text


def _excel_holds(cell: object) -> bool:
    if isinstance(cell, float):
        return math.isfinite(cell)
    if isinstance(cell, int):
        return abs(cell) <= _EXCEL_EXACT_INTEGER
    return cell is None or isinstance(cell, str | datetime.date)


def _write_parquet(df: pd.DataFrame, handle: BinaryIO) -> None:
    pq.write_table(_to_arrow(df), handle)


def _write_feather(df: pd.DataFrame, handle: BinaryIO) -> None:
    table = _to_arrow(df)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(handle, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=_BLOCK_ROWS)


def _to_arrow(df: pd.DataFrame) -> pa.Table:
    df = df.rename(columns=str)
    mixed = [name for name, column in df.items() if not _has_one_arrow_type(column)]
    for name in mixed:
        df[name] = df[name].map(str, na_action="ignore").astype("str")
    if mixed:
        warnings.warn(
            "Columns with cells of different types are written as text: "
            f"{', '.join(repr(name) for name in mixed[:10])}.",
            TableWarning,
            stacklevel=5,
        )
    try:
        return pa.Table.from_pandas(df)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise TableError(f"The table cannot be written in this format: {error}.") from error


def _has_one_arrow_type(column: pd.Series) -> bool:
    if column.dtype != object:
        return True
    try:
        pa.array(column, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError):
        return False
    return True


_WRITERS: dict[str, Callable[[pd.DataFrame, BinaryIO], None]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "excel": _write_excel,
    "parquet": _write_parquet,
    "feather": _write_feather,
    "jsonl": _write_jsonl,
}
