"""Delimited text (CSV, TSV and their relatives) to a data frame."""

import csv
import io
import itertools
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from pmae_core.errors import EmptyTableError, TableTooLargeError, TableWarning, UnreadableFileError
from pmae_core.table.io.charset import TextScan, scan_text
from pmae_core.table.io.dialect import TextDialect, sniff_dialect
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.names import clean_names
from pmae_core.table.io.source import TableSource
from pmae_core.table.values import type_text

_SAMPLE_CHARACTERS = 1 << 20
_LONGEST_HEADER = 1 << 26
_MOST_BLANK_LINES = 1_000_000
_BLOCK_BYTES = 1 << 24
_BLOCK_ROWS = 50_000
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


@dataclass(frozen=True)
class _Layout:
    """Where a file's data begins: lines to skip, the first record, and how all is written."""

    dialect: TextDialect
    n_skipped_lines: int
    first_record: list[str]

    @property
    def width(self) -> int:
        return len(self.first_record)

    @property
    def names(self) -> list[str]:
        if self.dialect.has_header:
            return clean_names(self.first_record)
        return [f"column_{position}" for position in range(1, self.width + 1)]


def read_delimited(
    source: TableSource,
    *,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    thousands: str | None,
    header: bool | None,
    limits: ReadingLimits,
) -> tuple[pd.DataFrame, TextDialect]:
    """Read delimited text; what is None is sniffed. Returns the table and how it was written."""
    scan = scan_text(source, encoding)
    layout = _find_layout(source, scan, limits, delimiter, decimal, thousands, header)
    dialect = layout.dialect
    _check_row_count(source, scan, layout, limits)
    _warn_about_guesses(source, layout, header, decimal)
    cells = _read_cells(source, scan, layout, limits)
    if layout.width == 1:
        cells = cells.slice(0, cells.num_rows - max(scan.n_trailing_breaks - 1, 0))
    if cells.num_rows == 0:
        raise EmptyTableError(
            f"{source.name} has a header with {layout.width:,} columns, but no rows below it."
        )
    columns = {}
    for position, name in enumerate(layout.names):
        column = cells.column(position)
        if dialect.skip_initial_space:
            column = pc.utf8_ltrim(column, characters=" ")
        columns[name] = type_text(column, dialect.decimal, dialect.thousands)
    return pd.DataFrame(columns), dialect


def _find_layout(
    source: TableSource,
    scan: TextScan,
    limits: ReadingLimits,
    delimiter: str | None,
    decimal: str | None,
    thousands: str | None,
    header: bool | None,
) -> _Layout:
    """Sniff the dialect and read the first record, within the limit of columns."""
    text = scan.open(source)
    try:
        n_skipped, first_line = _skip_to_header(text, source)
        if separator := _SEPARATOR_LINE.fullmatch(first_line):
            # Excel's own way to name the delimiter in the first line.
            delimiter = delimiter or separator[1]
            n_more, first_line = _skip_to_header(text, source)
            n_skipped += n_more + 1
        sample = first_line + text.read(_SAMPLE_CHARACTERS)
        dialect = sniff_dialect(
            sample[:_SAMPLE_CHARACTERS],
            delimiter=delimiter,
            decimal=decimal,
            thousands=thousands,
            has_header=header,
        )
        n_delimiters = first_line.count(dialect.delimiter)
        if dialect.quotechar not in first_line:
            # Counting is cheap, splitting a line of a million cells is not.
            limits.check_columns(n_delimiters + 1, source.name)
        first_record = next(dialect.records(io.StringIO(sample, newline="")))
    except csv.Error as error:
        raise UnreadableFileError(
            f"The first line of {source.name} cannot be split into cells: {error}."
        ) from error
    finally:
        text.detach()
    limits.check_columns(len(first_record), source.name)
    return _Layout(dialect, n_skipped, first_record)


def _skip_to_header(text: io.TextIOWrapper, source: TableSource) -> tuple[int, str]:
    """Return the first line that is not blank and how many lines stand before it."""
    for n_before in itertools.count():
        line = text.readline(_LONGEST_HEADER)
        if len(line) == _LONGEST_HEADER:
            raise TableTooLargeError(
                f"The first line of {source.name} has more than {_LONGEST_HEADER:,} characters."
            )
        if not line:
            raise EmptyTableError(f"{source.name} is empty: it has only blank lines.")
        if line.strip():
            return n_before, line
        if n_before == _MOST_BLANK_LINES:
            raise UnreadableFileError(
                f"{source.name} begins with more than {_MOST_BLANK_LINES:,} blank lines. "
                "Remove them, so that it begins with the names of the columns."
            )
    raise AssertionError("unreachable")


def _check_row_count(
    source: TableSource, scan: TextScan, layout: _Layout, limits: ReadingLimits
) -> None:
    """Refuse by the number of lines; in quotes a row may have several, so reading counts again."""
    if scan.n_quotes == 0:
        n_rows = scan.min_filled_lines - layout.n_skipped_lines - layout.dialect.has_header
        limits.check_shape(n_rows, layout.width, source.name)


def _warn_about_guesses(
    source: TableSource, layout: _Layout, header: bool | None, decimal: str | None
) -> None:
    if header is None and not layout.dialect.has_header:
        warnings.warn(
            f"{source.name} seems to have no header, as its first line holds numbers. "
            "Columns are named column_1, column_2 and so on; pass header=True if this is wrong.",
            TableWarning,
            stacklevel=3,
        )
    if decimal is None and layout.width == 1 and layout.dialect.decimal == ",":
        warnings.warn(
            f"{source.name} was read as one column of numbers with a decimal comma. "
            "Pass delimiter=',' if there are two columns.",
            TableWarning,
            stacklevel=3,
        )


def _read_cells(
    source: TableSource, scan: TextScan, layout: _Layout, limits: ReadingLimits
) -> pa.Table:
    """Read all cells as text: fast if the file is regular, else record by record."""
    dialect = layout.dialect
    regular_quotes = dialect.quotechar == '"' and scan.n_quotes % 2 == 0
    quoted_after_space = dialect.skip_initial_space and scan.n_quotes > 0
    if regular_quotes and not quoted_after_space:
        try:
            return _collect(_fast_batches(source, scan, layout), layout, limits, source.name)
        except pa.ArrowInvalid:
            # Some row has too few or too many cells: the careful reader says which.
            pass
    return _collect(_careful_batches(source, scan, layout), layout, limits, source.name)


def _collect(
    batches: Iterator[pa.RecordBatch], layout: _Layout, limits: ReadingLimits, name: str
) -> pa.Table:
    """Gather batches and stop as soon as there are too many rows."""
    collected, n_rows = [], 0
    for batch in batches:
        n_rows += batch.num_rows
        limits.check_shape(n_rows, layout.width, name)
        collected.append(batch)
    return pa.Table.from_batches(collected, _schema(layout.width))


def _schema(width: int) -> pa.Schema:
    return pa.schema([(str(position), pa.string()) for position in range(width)])


def _fast_batches(source: TableSource, scan: TextScan, layout: _Layout) -> Iterator[pa.RecordBatch]:
    schema = _schema(layout.width)
    yield from arrow_csv.open_csv(
        source.rewind(),
        read_options=arrow_csv.ReadOptions(
            column_names=schema.names,
            skip_rows=layout.n_skipped_lines,
            skip_rows_after_names=int(layout.dialect.has_header),
            block_size=_BLOCK_BYTES,
            encoding="utf-8" if scan.encoding == "utf-8-sig" else scan.encoding,
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.dialect.delimiter,
            quote_char=layout.dialect.quotechar,
            newlines_in_values=True,
            ignore_empty_lines=layout.width > 1,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=schema, strings_can_be_null=False, null_values=[]
        ),
    )


def _careful_batches(
    source: TableSource, scan: TextScan, layout: _Layout
) -> Iterator[pa.RecordBatch]:
    text = scan.open(source)
    try:
        records = _padded_records(source, text, layout)
        schema = _schema(layout.width)
        while block := list(itertools.islice(records, _BLOCK_ROWS)):
            columns = [pa.array(column, pa.string()) for column in zip(*block, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
    finally:
        text.detach()


def _padded_records(
    source: TableSource, text: io.TextIOWrapper, layout: _Layout
) -> Iterator[list[str]]:
    """Yield the records below the header; too few cells are filled up, too many are an error."""
    for _ in range(layout.n_skipped_lines):
        text.readline()
    # A known last line tells whether the file ends inside quotes: then it is swallowed by them.
    end = "\0"
    reader = layout.dialect.records(itertools.chain(text, [end]))
    n_short = 0
    last_line = layout.n_skipped_lines
    ended = False
    try:
        for index, record in enumerate(reader):
            first_line = last_line + 1
            last_line = layout.n_skipped_lines + reader.line_num  # type: ignore[attr-defined]
            if record == [end]:
                ended = True
                break
            if index == 0 and layout.dialect.has_header:
                continue
            if layout.width > 1 and not any(cell.strip() for cell in record) and len(record) < 2:
                continue
            if len(record) > layout.width:
                raise UnreadableFileError(_too_many_cells(source, layout, first_line, len(record)))
            n_short += len(record) < layout.width
            yield record + [""] * (layout.width - len(record))
    except csv.Error as error:
        raise UnreadableFileError(
            f"{source.name} cannot be split into cells near line {last_line + 1}: {error}. "
            "Perhaps a closing quote is missing there."
        ) from error
    if not ended:
        raise UnreadableFileError(
            f"{source.name} ends inside a quoted cell that begins in line {first_line}: "
            "a closing quote is missing."
        )
    if n_short and layout.width > 1:
        warnings.warn(
            f"{n_short:,} rows of {source.name} have fewer cells than the header; "
            "the cells at their end count as missing.",
            TableWarning,
            stacklevel=2,
        )


def _too_many_cells(source: TableSource, layout: _Layout, line: int, n_cells: int) -> str:
    what = "header" if layout.dialect.has_header else "first line"
    return (
        f"Line {line:,} of {source.name} has {n_cells:,} cells, but the {what} has "
        f"{layout.width:,} (delimiter {layout.dialect.delimiter!r}). "
        "Put cells that contain the delimiter in quotes, "
        "remove title lines above the header, or pass another delimiter."
    )
