"""Delimited text (CSV, TSV and their relatives) to a data frame."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pmae_core.errors import EmptyTableError
from pmae_core.table.io.charset import TextScan, scan_text
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.layout import Layout, TextOptions, find_layout
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.names import clean_names
from pmae_core.table.io.number_marks import NumberDoubt, doubt_of_table, marks_of, marks_of_table
from pmae_core.table.io.source import TableSource
from pmae_core.table.io.text_cells import read_cells
from pmae_core.table.values import type_text
from pmae_core.words import count

_SAMPLE_ROWS = 500


@dataclass(frozen=True, eq=False)
class DelimitedText:
    """A table with how it was written, its encoding, and a number that may be read otherwise."""

    frame: pd.DataFrame
    dialect: TextDialect
    encoding: str
    doubt: NumberDoubt | None


def read_delimited(
    source: TableSource, options: TextOptions, limits: ReadingLimits
) -> DelimitedText:
    """Read delimited text."""
    scan = scan_text(source, options.encoding)
    layout = find_layout(source, scan, options, limits)
    _check_row_count(source, scan, layout, limits)
    _remark_on_guesses(source, layout, options)
    cells = read_cells(source, scan, layout, limits)
    if layout.width == 1:
        cells = cells.slice(0, cells.num_rows - max(scan.n_trailing_breaks - 1, 0))
    if cells.num_rows == 0:
        raise EmptyTableError(
            f"{source.name} has a header with {count(layout.width, 'column')}, "
            "but no rows below it."
        )
    names = _names(source, layout)
    dialect, doubt = _number_marks(source, cells, names, layout.dialect, options)
    columns = {}
    for position, name in enumerate(names):
        column = cells.column(position)
        if dialect.skip_initial_space:
            column = pc.utf8_ltrim(column, characters=" ")
        columns[name] = type_text(column, dialect.decimal, dialect.thousands)
    return DelimitedText(pd.DataFrame(columns), dialect, scan.encoding, doubt)


def _number_marks(
    source: TableSource,
    cells: pa.Table,
    names: Sequence[str],
    dialect: TextDialect,
    options: TextOptions,
) -> tuple[TextDialect, NumberDoubt | None]:
    """Return the dialect with the marks of numbers that the whole file shows, and what is open."""
    if options.decimal is not None or options.thousands is not None:
        return dialect, None
    first = cells.slice(0, _SAMPLE_ROWS)
    marks = marks_of((column.to_pylist() for column in first.columns), dialect.delimiter)
    if not marks.is_decided:
        marks = marks_of_table(cells, dialect.delimiter)
    doubt = doubt_of_table(cells, names, marks, dialect.delimiter)
    if doubt is not None:
        taken, other = doubt.readings
        source.remark(
            f"{doubt.text!r} in column {doubt.column!r} of {source.name} is read as "
            f"{taken.value:.16g}; it could also be {other.value:.16g}.",
            advice=f"Pass decimal={other.decimal!r} if it is the latter.",
            code="number-marks",
        )
    return replace(dialect, decimal=marks.decimal, thousands=marks.thousands), doubt


def _names(source: TableSource, layout: Layout) -> list[str]:
    if layout.dialect.has_header:
        return clean_names(layout.first_record, source.remark)
    return [f"column_{position}" for position in range(1, layout.width + 1)]


def _check_row_count(
    source: TableSource, scan: TextScan, layout: Layout, limits: ReadingLimits
) -> None:
    """Refuse by the number of lines; in quotes a row may have several, so reading counts again."""
    if scan.n_quotes == 0:
        n_rows = scan.min_lines_with_text - layout.n_skipped_lines - layout.dialect.has_header
        limits.check_shape(n_rows, layout.width, source.name)


def _remark_on_guesses(source: TableSource, layout: Layout, options: TextOptions) -> None:
    if options.header is None and not layout.dialect.has_header:
        source.remark(
            f"{source.name} seems to have no header, as its first line holds numbers. "
            "Columns are named column_1, column_2 and so on.",
            advice="Pass header=True if this is wrong.",
            code="header",
        )
    if options.decimal is None and layout.width == 1 and layout.dialect.decimal == ",":
        source.remark(
            f"{source.name} was read as one column of numbers with a decimal comma.",
            advice="Pass delimiter=',' if there are two columns.",
            code="decimal-comma",
        )
