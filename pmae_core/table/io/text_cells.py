"""The cells of a delimited text file: fast if the file is regular, else record by record."""

import csv
import io
import itertools
from collections.abc import Iterator

import pyarrow as pa
from pyarrow import csv as arrow_csv

from pmae_core.errors import UnreadableFileError
from pmae_core.table.io.charset import TextScan
from pmae_core.table.io.dialect import END, LONGEST_CELL
from pmae_core.table.io.layout import Layout
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.source import TableSource
from pmae_core.words import count

_BLOCK_BYTES = 1 << 24
_BLOCK_ROWS = 50_000


def read_cells(
    source: TableSource, scan: TextScan, layout: Layout, limits: ReadingLimits
) -> pa.Table:
    """Read all cells below the header as text."""
    dialect = layout.dialect
    regular_quotes = dialect.quotechar == '"' and scan.n_quotes % 2 == 0
    quoted_after_space = dialect.skip_initial_space and scan.n_quotes > 0
    by_spaces = dialect.has_collapsed_spaces or dialect.column_starts
    if regular_quotes and not quoted_after_space and not by_spaces:
        try:
            return _collect(_fast_batches(source, scan, layout), layout, limits, source.name)
        except pa.ArrowInvalid:
            # Some row has too few or too many cells: the careful reader says which.
            pass
    return _collect(_careful_batches(source, scan, layout), layout, limits, source.name)


def _collect(
    batches: Iterator[pa.RecordBatch], layout: Layout, limits: ReadingLimits, name: str
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


def _fast_batches(source: TableSource, scan: TextScan, layout: Layout) -> Iterator[pa.RecordBatch]:
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
    source: TableSource, scan: TextScan, layout: Layout
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
    source: TableSource, text: io.TextIOWrapper, layout: Layout
) -> Iterator[list[str]]:
    """Yield the records below the header; short ones are padded, long ones are an error."""
    n_short = 0
    for index, (line, record) in enumerate(_numbered_records(source, text, layout)):
        if index == 0 and layout.dialect.has_header:
            continue
        if layout.width > 1 and not any(cell.strip() for cell in record) and len(record) < 2:
            continue
        if len(record) > layout.width:
            raise _too_many_cells(source, layout, line, len(record))
        if len(record) < layout.width and layout.dialect.delimiter == " ":
            raise _too_few_cells(source, layout, line, len(record))
        if layout.dialect.column_starts and any("  " in cell for cell in record):
            raise _two_values_in_a_cell(source, line)
        n_short += len(record) < layout.width
        yield record + [""] * (layout.width - len(record))
    if n_short and layout.width > 1:
        source.remark(
            f"{count(n_short, 'row')} of {source.name} "
            f"{'has' if n_short == 1 else 'have'} fewer cells than the header; "
            "the absent cells count as missing."
        )


def _numbered_records(
    source: TableSource, text: io.TextIOWrapper, layout: Layout
) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the number of its first line; a cut-off file is an error."""
    for _ in range(layout.n_skipped_lines):
        text.readline()
    reader = layout.dialect.records(itertools.chain(text, [END]))
    first_line = last_line = layout.n_skipped_lines
    try:
        for record in reader:
            first_line = last_line + 1
            last_line = layout.n_skipped_lines + reader.line_num
            if record[:1] == [END]:
                return
            yield first_line, record
    except csv.Error as error:
        raise _unsplittable(source, last_line + 1, error) from error
    raise UnreadableFileError(
        f"{source.name} ends inside a quoted cell that begins in line {first_line}: "
        "a closing quote is missing."
    )


def _unsplittable(source: TableSource, line: int, error: csv.Error) -> UnreadableFileError:
    if "field limit" in str(error):
        return UnreadableFileError(
            f"{source.name} has a cell of more than {LONGEST_CELL:,} characters that begins in or "
            f"after line {line:,}.",
            advice="Check whether a closing quote is missing there, or shorten the text.",
        )
    return UnreadableFileError(
        f"{source.name} cannot be split into cells near line {line:,}: {error}.",
        advice="Check whether a closing quote is missing there.",
    )


def _too_few_cells(
    source: TableSource, layout: Layout, line: int, n_cells: int
) -> UnreadableFileError:
    return UnreadableFileError(
        f"Line {line:,} of {source.name} has {count(n_cells, 'value')} separated by spaces, but "
        f"there are {layout.width:,} columns: which value is missing cannot be decided.",
        code="spaces",
        advice="Save the table with commas or tabs between the cells.",
    )


def _two_values_in_a_cell(source: TableSource, line: int) -> UnreadableFileError:
    return UnreadableFileError(
        f"Line {line:,} of {source.name} has several spaces inside one column, so its values may "
        "belong to two columns.",
        code="spaces",
        advice="Save the table with commas or tabs between the cells.",
    )


def _too_many_cells(
    source: TableSource, layout: Layout, line: int, n_cells: int
) -> UnreadableFileError:
    what = "header" if layout.dialect.has_header else "first line"
    return UnreadableFileError(
        f"Line {line:,} of {source.name} has {n_cells:,} cells, but the {what} has "
        f"{layout.width:,} (delimiter {layout.dialect.delimiter!r}).",
        code="delimiter",
        advice="Put cells that contain the delimiter in quotes, "
        "remove title lines above the header, or pass another delimiter.",
    )
