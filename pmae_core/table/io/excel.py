"""Excel workbooks (.xlsx, .xlsm) to a data frame.

A sheet is read cell by cell into columns. openpyxl's own rows are padded up to their last cell, so
formatted cells far to the right would cost minutes. Calamine is faster, but allocates the whole
rectangle around all cells before anyone can check its size.
"""

import itertools
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openpyxl
import pandas as pd
from openpyxl.utils import get_column_letter

# What openpyxl's read-only sheets use themselves; it has no public way to rows without padding.
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from pmae_core.errors import EmptyTableError, TableError, UnreadableFileError
from pmae_core.table.io.jsonl import remark_on_mixed
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.merged_cells import MergedRange, spread_merged
from pmae_core.table.io.names import clean_names, remark_on_invented_names
from pmae_core.table.io.source import TableSource, parsing_foreign
from pmae_core.table.values import MISSING_WORDS, type_cells
from pmae_core.words import count, listed

# The cells of columns by their position, from row 1 on. Empty columns are left out.
Columns = dict[int, list[object]]

# A sheet of Excel has no row below this one.
_LAST_ROW = 1_048_576


@dataclass(frozen=True)
class _SheetContent:
    title: str
    columns: Columns  # all of the same length
    merged: list[MergedRange]


def read_excel(
    source: TableSource, *, sheet: int | str, header: bool | None, limits: ReadingLimits
) -> tuple[pd.DataFrame, str]:
    """Read one sheet; the first row that is not blank holds the names.

    Returns the table and the name of the sheet.
    """
    with parsing_foreign(source, "an Excel workbook"):
        _check_archive(source, limits)
        content = _read_sheet(source, sheet, limits)
    return _table_of(source, content, header), content.title


def _table_of(source: TableSource, content: _SheetContent, header: bool | None) -> pd.DataFrame:
    """Return the cells of a sheet without blank rows above them, under their names."""
    columns = content.columns
    n_blank = min((_n_blank(column) for column in columns.values()), default=0)
    names = [column[n_blank] for column in columns.values()]
    if header is None:
        header = not any(isinstance(name, float) and name % 1 for name in names)
        if not header:
            remark_on_invented_names(source)
    n_above_data = n_blank + header
    if all(len(column) == n_above_data for column in columns.values()):
        raise EmptyTableError(
            f"The sheet {content.title!r} of {source.name} "
            + ("has a header, but no rows below it." if names else "is empty.")
        )
    spread_merged(source, columns, content.merged, first_data_row=n_above_data + 1)
    if not header:
        names = [f"column_{position}" for position in columns]
    return _frame(source, names, [column[n_above_data:] for column in columns.values()])


def _n_blank(column: list[object]) -> int:
    """Return how many cells of a column are above its first observed one."""
    return sum(1 for _ in itertools.takewhile(lambda cell: cell is None, column))


def _frame(source: TableSource, names: list[object], columns: list[list[object]]) -> pd.DataFrame:
    frame, mixed = {}, []
    for name, cells in zip(clean_names(names, source.remark), columns, strict=True):
        frame[name], is_mixed = type_cells(cells, missing_words=MISSING_WORDS)
        if is_mixed:
            mixed.append(name)
    remark_on_mixed(source, mixed)
    return pd.DataFrame(frame)


def _check_archive(source: TableSource, limits: ReadingLimits) -> None:
    """Check the zip directory before anything is unpacked."""
    with zipfile.ZipFile(source.rewind()) as archive:
        entries = archive.infolist()
    # Unpacking an entry stops at the size that the directory declares, so the sum is binding.
    n_bytes = sum(entry.file_size for entry in entries)
    limits.check_expanded(n_bytes, source.name)
    limits.check_packing(n_bytes, sum(entry.compress_size for entry in entries), source.name)
    names = {entry.filename for entry in entries}
    if "xl/workbook.bin" in names:
        raise UnreadableFileError(
            f"{source.name} is a binary Excel workbook (.xlsb).", advice="Save it as .xlsx."
        )
    if "xl/workbook.xml" not in names:
        kind = "an OpenDocument file" if "mimetype" in names else "a zip archive"
        raise UnreadableFileError(
            f"{source.name} is {kind}, not an Excel workbook.",
            advice="Unpack it, or save the table as .xlsx or .csv.",
        )


def _read_sheet(source: TableSource, sheet: int | str, limits: ReadingLimits) -> _SheetContent:
    book = openpyxl.load_workbook(source.rewind(), read_only=True, data_only=True, keep_links=False)
    try:
        chosen = _choose_sheet(source, book, sheet)
        with chosen._get_source() as xml:
            parser = _SheetParser(
                xml,
                chosen._shared_strings,
                data_only=True,
                epoch=book.epoch,
                date_formats=book._date_formats,
                timedelta_formats=book._timedelta_formats,
            )
            columns = _gather_columns(source, parser, limits)
    finally:
        book.close()
    _remark_on_lost(source, parser)
    ranges = parser.merged_cells.mergeCell if parser.merged_cells else ()
    return _SheetContent(
        str(chosen.title), columns, [MergedRange(*merged.bounds) for merged in ranges]
    )


class _SheetParser(WorkSheetParser):
    """Counts the cells that show something in Excel, but have no value."""

    n_formulas_without_result = 0
    n_errors = 0

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["data_type"] == "e":  # the result of a failed formula, such as #DIV/0!
            self.n_errors += cell["value"] is not None
            cell["value"] = None
        elif cell["value"] is None and element.find(FORMULA_TAG) is not None:
            self.n_formulas_without_result += 1
        return cell

    def observed_rows(self) -> Iterator[tuple[int, dict[int, object]]]:
        """Yield the number of each row and its observed cells by column."""
        for row, cells in self.parse():
            observed = {cell["column"]: cell["value"] for cell in cells}
            yield row, {at: value for at, value in observed.items() if value is not None}


def _gather_columns(source: TableSource, parser: _SheetParser, limits: ReadingLimits) -> Columns:
    """Return the columns that are not empty, in their order and padded to the same length."""
    columns: Columns = {}
    for row, cells in parser.observed_rows():
        _check_row_number(source, row)
        if not cells:
            continue
        last = max(cells)
        where = f" (cell {get_column_letter(last)}{row} has a value)"
        limits.check_columns(last, source.name, where)
        # Before the cells between are made up: one cell in the last row is enough for a million.
        limits.check_shape(row - 1, len(columns.keys() | cells.keys()), source.name)
        for position, value in cells.items():
            column = columns.setdefault(position, [])
            _pad(column, row)
            column[row - 1] = value
    n_rows = max(map(len, columns.values()), default=0)
    for column in columns.values():
        _pad(column, n_rows)
    return dict(sorted(columns.items()))


def _check_row_number(source: TableSource, row: int) -> None:
    if row > _LAST_ROW:
        raise UnreadableFileError(
            f"{source.name} has a row below the last one that Excel knows "
            f"({_LAST_ROW:,}): the file is damaged."
        )
    if row < 1:
        raise ValueError(f"a row has the number {row}")


def _pad(column: list[object], length: int) -> None:
    column.extend(itertools.repeat(None, length - len(column)))


def _choose_sheet(source: TableSource, book: Any, sheet: int | str) -> Any:
    """Return a sheet by name or place; a name that exists wins over a number in digits."""
    sheets = {worksheet.title: worksheet for worksheet in book.worksheets}
    if isinstance(sheet, str) and sheet in sheets:
        return sheets[sheet]
    place = _place_of(sheet)
    if place is not None and 0 <= place < len(sheets):
        return book.worksheets[place]
    raise TableError(
        f"{source.name} has no sheet {sheet!r}. Its sheets are {listed(map(repr, sheets), 20)}.",
        code="sheet",
        advice="Pass one of these names, or a position: 0 is the first sheet.",
    )


def _place_of(sheet: int | str) -> int | None:
    """Return a position from 0; digits in a text count from 1, as people do."""
    if isinstance(sheet, int):
        return sheet
    # str.isdigit alone is True for "²", which int() refuses.
    return int(sheet) - 1 if sheet.isascii() and sheet.isdigit() else None


def _remark_on_lost(source: TableSource, parser: _SheetParser) -> None:
    """Note how many cells read as missing although Excel shows something there."""
    if parser.n_formulas_without_result:
        n_lost = count(parser.n_formulas_without_result, "formula")
        source.remark(
            f"{n_lost} in {source.name} without a stored result "
            f"{'counts' if parser.n_formulas_without_result == 1 else 'count'} as missing.",
            advice="Open and save the file in Excel to store the results.",
        )
    if parser.n_errors:
        source.remark(
            f"{count(parser.n_errors, 'cell')} of {source.name} with an error such as #DIV/0! "
            f"{'counts' if parser.n_errors == 1 else 'count'} as missing."
        )
