"""Read a table from any file that people keep tables in."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import pandas as pd

from pmae_core.errors import TableWarning
from pmae_core.table.declaring import declare_missing
from pmae_core.table.io.columnar import read_feather, read_parquet
from pmae_core.table.io.delimited import read_delimited
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.excel import read_excel
from pmae_core.table.io.jsonl import read_jsonl
from pmae_core.table.io.layout import TextOptions
from pmae_core.table.io.limits import DEFAULT_LIMITS, ReadingLimits
from pmae_core.table.io.number_marks import NumberDoubt
from pmae_core.table.io.source import Remark, TableFormat, TableSource, detect_format, open_source

Source = str | os.PathLike[str] | bytes | BinaryIO


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table and what was detected about its file.

    Attributes
    ----------
    frame : DataFrame
        The table.
    format : {"csv", "tsv", "excel", "parquet", "feather", "jsonl"}
        What the file is.
    dialect : TextDialect
        How delimited text is written; for other formats, how numbers in text columns are read:
        with a decimal point.
    encoding : str or None
        Encoding of delimited text.
    sheet : str or None
        Name of the sheet of an Excel workbook.
    remarks : tuple of Remark
        What was changed or assumed on the way.
    doubt : NumberDoubt or None
        A number that can be read in two ways, if nothing in the file decides; the remarks say so,
        too.
    """

    frame: pd.DataFrame
    format: TableFormat
    dialect: TextDialect
    encoding: str | None
    sheet: str | None
    remarks: tuple[Remark, ...]
    doubt: NumberDoubt | None = None


def read_table_file(
    source: Source,
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
) -> TableFile:
    r"""Read a table, and return what was detected about its file.

    Takes the same arguments as :func:`read_table`, and returns with the table how it was written
    and what was assumed, instead of warning.

    Returns
    -------
    TableFile
        The table, its format, dialect, encoding and sheet, and remarks.

    Raises
    ------
    TableError
        Or one of its kinds ``EmptyTableError``, ``TableTooLargeError``, ``UnreadableFileError``.

    Examples
    --------
    >>> opened = read_table_file(b"age;height\n41;1,75\n;1,68\n")
    >>> opened.dialect.delimiter, opened.dialect.decimal, opened.encoding
    (';', ',', 'utf-8-sig')
    """
    options = TextOptions(delimiter, encoding, decimal, thousands, header)
    with open_source(source, name, limits) as opened:
        table = _read(opened, detect_format(opened, format), options, sheet, limits)
    if not sentinels:
        return table
    return replace(
        table,
        frame=declare_missing(
            table.frame,
            sentinels,
            decimal=table.dialect.decimal,
            thousands=table.dialect.thousands,
        ),
    )


def _read(
    source: TableSource,
    table_format: TableFormat,
    options: TextOptions,
    sheet: int | str,
    limits: ReadingLimits,
) -> TableFile:
    dialect, encoding, title, doubt = TextDialect(), None, None, None
    match table_format:
        case "csv" | "tsv":
            if table_format == "tsv":
                options = replace(options, promised_delimiter="\t")
            text = read_delimited(source, options, limits)
            frame, dialect = text.frame, text.dialect
            encoding, doubt = text.encoding, text.doubt
        case "excel":
            frame, title = read_excel(source, sheet=sheet, header=options.header, limits=limits)
        case "parquet":
            frame = read_parquet(source, limits=limits)
        case "feather":
            frame = read_feather(source, limits=limits)
        case "jsonl":
            frame = read_jsonl(source, encoding=options.encoding, limits=limits)
    return TableFile(frame, table_format, dialect, encoding, title, tuple(source.remarks), doubt)


def read_table(
    source: Source,
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
    r"""Read a table; what you do not say about its file is detected.

    Parameters
    ----------
    source : path, bytes or binary file
        The table. A file's own ``name`` is used if it has one.
    name : str, optional
        File name to go by, for its ending and for messages.
    format : {"csv", "tsv", "excel", "parquet", "feather", "jsonl"}, optional
        By default the name's ending decides. The content is checked against it either way.
    sheet : int or str
        Sheet of an Excel workbook, by position from 0 (an ``int``) or by name. Digits in a text
        that is not the name of a sheet count sheets from 1.
    delimiter, encoding, decimal, thousands : str, optional
        How a text file is written. ``thousands=""`` means that there is no such separator.
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
        ``float64``, ``datetime64``; with missing cells ``boolean`` and
        ``Int64``. All else stays text.

    Warns
    -----
    TableWarning
        If something was changed or assumed; :func:`read_table_file` returns this instead.

    Raises
    ------
    TableError
        Or one of its kinds ``EmptyTableError``, ``TableTooLargeError``, ``UnreadableFileError``.

    Examples
    --------
    >>> read_table(b"age;height\n41;1,75\n;1,68\n").dtypes.astype(str).to_dict()
    {'age': 'Int64', 'height': 'float64'}
    """
    opened = read_table_file(
        source,
        name=name,
        format=format,
        sheet=sheet,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        thousands=thousands,
        header=header,
        sentinels=sentinels,
        limits=limits,
    )
    for remark in opened.remarks:
        warnings.warn(str(remark), TableWarning, stacklevel=2)
    return opened.frame
