"""Read a table from any file that people keep tables in."""

import os
from collections.abc import Mapping, Sequence
from typing import BinaryIO

import pandas as pd

from pmae_core.table.io.columnar import read_feather, read_parquet
from pmae_core.table.io.delimited import read_delimited
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.excel import read_excel
from pmae_core.table.io.jsonl import read_jsonl
from pmae_core.table.io.limits import DEFAULT_LIMITS, ReadingLimits
from pmae_core.table.io.source import detect_format, open_source
from pmae_core.table.sentinels import declare_missing


def read_table(
    source: str | os.PathLike[str] | bytes | BinaryIO,
    *,
    name: str | None = None,
    format: str | None = None,
    sheet: int | str = 0,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    header: bool | None = None,
    sentinels: Sequence[object] | Mapping[str, Sequence[object]] = (),
    limits: ReadingLimits = DEFAULT_LIMITS,
) -> pd.DataFrame:
    r"""Read a table: what is not told is found out, and what is wrong is said in a sentence.

    Parameters
    ----------
    source : path, bytes or binary file
        The table. A file's own ``name`` is used if it has one.
    name : str, optional
        File name to go by, for its ending and for messages.
    format : {"csv", "tsv", "excel", "parquet", "feather", "jsonl"}, optional
        By default the name's ending decides. The content is checked against it either way.
    sheet : int or str
        Sheet of an Excel workbook, by position from 0 or by name.
    delimiter, encoding, decimal, thousands : str, optional
        How a text file is written. ``thousands=""`` says that there is no such separator.
    header : bool, optional
        Whether the first line holds the column names.
    sentinels : sequence or mapping of column name to sequence
        Values that stand for a missing one, see :func:`declare_missing`.
    limits : ReadingLimits
        How large the table may be.

    Returns
    -------
    pandas.DataFrame
        Text columns get the type that all their observed values have: ``bool``, ``int64``,
        ``float64``, ``datetime64``; with holes ``boolean`` and ``Int64``. All else stays text.

    Raises
    ------
    TableError
        Or one of its kinds ``EmptyTableError``, ``TableTooLargeError``, ``UnreadableFileError``.

    Examples
    --------
    >>> read_table(b"age;height\n41;1,75\n;1,68\n").dtypes.astype(str).to_dict()
    {'age': 'Int64', 'height': 'float64'}
    """
    dialect = TextDialect()
    with open_source(source, name, limits) as opened:
        table_format = detect_format(opened, format)
        match table_format:
            case "csv" | "tsv":
                frame, dialect = read_delimited(
                    opened,
                    delimiter=delimiter or ("\t" if table_format == "tsv" else None),
                    encoding=encoding,
                    decimal=decimal,
                    thousands=thousands,
                    header=header,
                    limits=limits,
                )
            case "excel":
                frame = read_excel(opened, sheet=sheet, header=header, limits=limits)
            case "parquet":
                frame = read_parquet(opened, limits=limits)
            case "feather":
                frame = read_feather(opened, limits=limits)
            case "jsonl":
                frame = read_jsonl(opened, encoding=encoding, limits=limits)
    if not sentinels:
        return frame
    return declare_missing(frame, sentinels, decimal=dialect.decimal, thousands=dialect.thousands)
