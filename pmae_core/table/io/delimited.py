"""Delimited text (CSV, TSV and their relatives) to a data frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pmae_core.errors import EmptyTableError
from pmae_core.table.io.charset import TextScan, scan_text
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.layout import Layout, TextOptions, find_layout
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.names import clean_names, remark_on_invented_names
from pmae_core.table.io.number_marks import NumberDoubt, doubt_of_table, marks_of_table
from pmae_core.table.io.numbers_as_text import number_left_as_text
from pmae_core.table.io.source import TableSource
from pmae_core.table.io.text_cells import read_cells
from pmae_core.table.values import type_text
from pmae_core.words import count, listed


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
    dialect, doubt = _number_marks(source, cells, names, layout.dialect)
    if layout.dialect.skip_initial_space:
        cells = _without_initial_spaces(cells)
    frame = _typed(cells, names, dialect)
    as_text = _numbers_as_text(frame, cells, dialect)
    if as_text and options.thousands is None:
        late = _late_thousands(cells, [names.index(name) for name in as_text], dialect)
        if late is not None:
            dialect = replace(dialect, thousands=late)
            frame = _typed(cells, names, dialect)
            as_text = _numbers_as_text(frame, cells, dialect)
    _remark_on_numbers_as_text(source, as_text)
    return DelimitedText(frame, dialect, scan.encoding, doubt)


def _late_thousands(cells: pa.Table, positions: list[int], dialect: TextDialect) -> str | None:
    """Return a thousands mark of numbers that stay text, if the first rows had not any."""
    if dialect.thousands is not None:
        return None
    marks = marks_of_table(cells.select(positions), dialect.delimiter, decimal=dialect.decimal)
    return marks.thousands


def _without_initial_spaces(cells: pa.Table) -> pa.Table:
    columns = [pc.utf8_ltrim(column, characters=" ") for column in cells.columns]
    return pa.Table.from_arrays(columns, cells.column_names)


def _typed(cells: pa.Table, names: Sequence[str], dialect: TextDialect) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: type_text(column, dialect.decimal, dialect.thousands)
            for name, column in zip(names, cells.columns, strict=True)
        }
    )


def _numbers_as_text(frame: pd.DataFrame, cells: pa.Table, dialect: TextDialect) -> dict[str, str]:
    """Return the text columns that hold numbers, with a cell that is written in another way."""
    found = {}
    for (name, column), texts in zip(frame.items(), cells.columns, strict=True):
        if column.dtype == "str":
            example = number_left_as_text(texts, dialect.decimal, dialect.thousands)
            if example is not None:
                found[str(name)] = example
    return found


def _remark_on_numbers_as_text(source: TableSource, examples: Mapping[str, str]) -> None:
    if examples:
        listing = listed((f"{name!r} (such as {text!r})" for name, text in examples.items()), 10)
        source.remark(
            f"{source.name} has numbers that stay text, because reading them could change them: "
            f"{listing}.",
            advice="Write them as plain numbers, such as -1234.5, to use them as numbers.",
            code="numbers-as-text",
        )


def _number_marks(
    source: TableSource, cells: pa.Table, names: Sequence[str], dialect: TextDialect
) -> tuple[TextDialect, NumberDoubt | None]:
    """Return the dialect with the marks of numbers that the whole file shows, and what is open."""
    if dialect.is_sure_of_marks:
        return dialect, None
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
        remark_on_invented_names(source)
    if options.delimiter is None and layout.dialect.delimiter == " ":
        how = "aligned with spaces" if layout.dialect.column_starts else "separated by spaces"
        source.remark(
            f"{source.name} was read as {layout.width:,} columns {how}.",
            advice="Pass another delimiter if this is wrong.",
            code="read-by-spaces",
        )
    if options.decimal is None and layout.width == 1 and layout.dialect.decimal == ",":
        source.remark(
            f"{source.name} was read as one column of numbers with a decimal comma.",
            advice="Pass delimiter=',' if there are two columns.",
            code="decimal-comma",
        )
