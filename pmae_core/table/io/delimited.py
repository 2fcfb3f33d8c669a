"""Delimited text (CSV, TSV and their relatives) to a data frame."""

import pandas as pd
import pyarrow.compute as pc

from pmae_core.errors import EmptyTableError
from pmae_core.table.io.charset import TextScan, scan_text
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.layout import Layout, TextOptions, find_layout
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.names import clean_names
from pmae_core.table.io.source import TableSource
from pmae_core.table.io.text_cells import read_cells
from pmae_core.table.values import type_text
from pmae_core.words import count


def read_delimited(
    source: TableSource, options: TextOptions, limits: ReadingLimits
) -> tuple[pd.DataFrame, TextDialect, str]:
    """Read delimited text; returns the table, how it was written, and in which encoding."""
    scan = scan_text(source, options.encoding)
    layout = find_layout(source, scan, options, limits)
    dialect = layout.dialect
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
    columns = {}
    for position, name in enumerate(_names(source, layout)):
        column = cells.column(position)
        if dialect.skip_initial_space:
            column = pc.utf8_ltrim(column, characters=" ")
        columns[name] = type_text(column, dialect.decimal, dialect.thousands)
    return pd.DataFrame(columns), dialect, scan.encoding


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
