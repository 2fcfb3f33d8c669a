"""Write a table to the formats that :func:`read_table` reads."""

import json
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pmae_core.errors import EmptyTableError, TableError, TableWarning
from pmae_core.table.io import formulas
from pmae_core.table.io.excel_writing import write_excel
from pmae_core.table.io.rows import (
    BLOCK_ROWS,
    dates_to_text,
    map_columns,
    rows_of_plain_cells,
    with_index_as_columns,
)
from pmae_core.table.io.source import FORMAT_OF_ENDING, FORMATS
from pmae_core.table.io.text_writing import write_delimited
from pmae_core.words import count, listed


def write_table(
    df: pd.DataFrame,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    escape_formulas: bool = True,
) -> None:
    r"""Write a table so that :func:`read_table` restores it.

    Parquet and Feather keep types exactly; the others keep every value. An index that is more than
    row numbers becomes the first column, in Parquet and Feather when the file is read. A file that
    is there already is replaced only after the new one is complete.

    Parameters
    ----------
    df : pandas.DataFrame
        The table.
    path : path or binary file
        Where to write.
    format : {"csv", "tsv", "excel", "parquet", "feather", "jsonl"}, optional
        By default the path's ending decides.
    escape_formulas : bool, default True
        In CSV and TSV, put an apostrophe before texts that a spreadsheet would run as a formula,
        and warn if there are any. Such texts are read with the apostrophe: pass False for files
        that only programs read. Excel files need no apostrophe.

    Raises
    ------
    TableError
        If the table cannot be written in this format without losing something.

    Examples
    --------
    >>> import io
    >>> buffer = io.BytesIO()
    >>> write_table(pd.DataFrame({"age": [41, 37]}), buffer, format="csv")
    >>> buffer.getvalue()
    b'age\n41\n37\n'
    """
    chosen = _choose_format(path, format)
    writer = _WRITERS[chosen]
    _check(df)
    if escape_formulas and chosen in ("csv", "tsv"):
        df = _escaped(df)
    try:
        if isinstance(path, str | os.PathLike):
            write_whole(df, Path(path), writer)
        else:
            writer(df, path)
    except UnicodeEncodeError as error:
        raise TableError(f"Some text cannot be written as UTF-8: {error}.") from error


def _escaped(df: pd.DataFrame) -> pd.DataFrame:
    escaped, n_escaped = formulas.escape_with_count(df)
    if n_escaped:
        warnings.warn(
            f"An apostrophe is written before {count(n_escaped, 'text')} that a spreadsheet would "
            "run as a formula. Pass escape_formulas=False for files that only programs read.",
            TableWarning,
            stacklevel=3,
        )
    return escaped


def _choose_format(path: object, wanted: str | None) -> str:
    ending = Path(path).suffix.lower() if isinstance(path, str | os.PathLike) else ""
    chosen = wanted or FORMAT_OF_ENDING.get(ending)
    if chosen not in FORMATS or (wanted is None and ending == ".xls"):
        raise TableError(
            f"There is no format {wanted or ending or 'without ending'!r}.",
            advice="Choose an ending such as .csv, .xlsx or .parquet, "
            f"or one of the formats {listed(FORMATS, 9)}.",
        )
    return chosen


def _check(df: pd.DataFrame) -> None:
    if df.empty:
        raise EmptyTableError(
            f"There is nothing to write: the table has {df.shape[0]:,} rows and "
            f"{df.shape[1]:,} columns."
        )
    repeated = df.columns[df.columns.duplicated()].unique()
    if len(repeated):
        names = listed((repr(str(name)) for name in repeated), most=10)
        raise TableError(
            f"Some column names repeat: {names}.", advice="Give each column its own name."
        )
    for name, column in df.items():
        # Columns of text say "O" too, but hold nothing else.
        if column.dtype == object and any(isinstance(c, dict | list | set) for c in column):
            raise TableError(f"Column {str(name)!r} holds lists or other nested values.")


def write_whole(
    df: pd.DataFrame, path: Path, writer: Callable[[pd.DataFrame, BinaryIO], None]
) -> None:
    """Write beside the final path and move at the end, so that no failure leaves half a file."""
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


def _write_csv(df: pd.DataFrame, handle: BinaryIO) -> None:
    write_delimited(df, handle, ",")


def _write_tsv(df: pd.DataFrame, handle: BinaryIO) -> None:
    write_delimited(df, handle, "\t")


def _write_jsonl(df: pd.DataFrame, handle: BinaryIO) -> None:
    df = map_columns(with_index_as_columns(df), dates_to_text)
    names = list(df.columns)
    for cells in rows_of_plain_cells(df):
        record = dict(zip(names, cells, strict=True))
        handle.write((json.dumps(record, ensure_ascii=False, default=str) + "\n").encode())


def _write_parquet(df: pd.DataFrame, handle: BinaryIO) -> None:
    pq.write_table(_to_arrow(df), handle)


def _write_feather(df: pd.DataFrame, handle: BinaryIO) -> None:
    table = _to_arrow(df)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(handle, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=BLOCK_ROWS)


def _to_arrow(df: pd.DataFrame) -> pa.Table:
    df = df.rename(columns=str)
    mixed = [name for name, column in df.items() if not _has_one_arrow_type(column)]
    for name in mixed:
        df[name] = df[name].map(str, na_action="ignore").astype("str")
    if mixed:
        warnings.warn(
            "Columns with cells of different types are written as text: "
            f"{listed(map(repr, mixed), 10)}.",
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
    "excel": write_excel,
    "parquet": _write_parquet,
    "feather": _write_feather,
    "jsonl": _write_jsonl,
}
