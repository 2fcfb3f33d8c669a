"""Excel workbooks (.xlsx, .xlsm) to a data frame."""

import itertools
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import openpyxl
import pandas as pd

from pmae_core.errors import EmptyTableError, TableError, UnreadableFileError
from pmae_core.table.io.jsonl import remark_on_mixed
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.names import clean_names
from pmae_core.table.io.source import TableSource, parsing_foreign
from pmae_core.table.values import MISSING_WORDS, type_cells
from pmae_core.words import listed

Row = list[object]

# A sheet of Excel has no row below this one.
_LAST_ROW = 1_048_576


def read_excel(
    source: TableSource, *, sheet: int | str, header: bool | None, limits: ReadingLimits
) -> tuple[pd.DataFrame, str]:
    """Read one sheet; the first row that is not blank holds the names.

    Returns the table and the name of the sheet.
    """
    with parsing_foreign(source, "an Excel workbook"):
        _check_archive(source, limits)
        rows, title = _read_rows(source, sheet, limits)
        _remark_on_lost_formulas(source, title, rows)
    return _table_of(source, title, rows, header), title


def _table_of(
    source: TableSource, title: str, rows: list[Row], header: bool | None
) -> pd.DataFrame:
    """Return the rows of a sheet without blank ones around them, under their names."""
    while rows and not any(cell is not None for cell in rows[-1]):
        rows.pop()
    leading_blank = itertools.takewhile(lambda row: all(cell is None for cell in row), rows)
    rows = rows[sum(1 for _ in leading_blank) :]
    if header is None:
        header = not any(isinstance(cell, float) and cell % 1 for cell in rows[0]) if rows else True
    names: Row = rows[0] if rows and header else []
    data = rows[1:] if header else rows
    if not data:
        raise EmptyTableError(
            f"The sheet {title!r} of {source.name} "
            + ("has a header, but no rows below it." if names else "is empty.")
        )
    return _frame(source, names, data)


def _frame(source: TableSource, names: Row, data: list[Row]) -> pd.DataFrame:
    columns = list(itertools.zip_longest(names, *data))
    if not names:
        columns = [(f"column_{at}", *column[1:]) for at, column in enumerate(columns, start=1)]
    # Columns beside the table, without a name and without a value, are no part of it.
    columns = [column for column in columns if any(cell is not None for cell in column)]
    frame, mixed = {}, []
    names_of_columns = clean_names((column[0] for column in columns), source.remark)
    for name, column in zip(names_of_columns, columns, strict=True):
        frame[name], is_mixed = type_cells(column[1:], missing_words=MISSING_WORDS)
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


def _read_rows(
    source: TableSource, sheet: int | str, limits: ReadingLimits
) -> tuple[list[Row], str]:
    with _OpenSheet(source, sheet, values_only=True) as opened:
        rows: list[Row] = []
        width = 0
        for cell_row in opened.rows():
            if len(rows) == _LAST_ROW:
                raise UnreadableFileError(
                    f"{source.name} has a row below the last one that Excel knows "
                    f"({_LAST_ROW:,}): the file is damaged."
                )
            row = [None if _is_error(cell) else cell.value for cell in cell_row]
            while row and row[-1] is None:
                row.pop()
            rows.append(row)
            width = max(width, len(row))
            if row:
                # Empty rows at the end do not count; those above a row with cells do.
                limits.check_shape(len(rows) - 1, width, source.name)
        return rows, opened.title


class _OpenSheet:
    """Open one sheet row by row, with results (``values_only``) or formulas."""

    def __init__(self, source: TableSource, sheet: int | str, *, values_only: bool) -> None:
        self.book = openpyxl.load_workbook(
            source.rewind(), read_only=True, data_only=values_only, keep_links=False
        )
        self.sheet = _choose_sheet(source, self.book, sheet)

    @property
    def title(self) -> str:
        return str(self.sheet.title)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        # The size that a sheet declares is often wrong; counting as rows come is always right.
        self.sheet.reset_dimensions()
        # Rows left out come as empty ones, so one with a huge number would never be reached.
        return self.sheet.iter_rows(max_row=_LAST_ROW + 1)

    def __enter__(self) -> "_OpenSheet":
        return self

    def __exit__(self, *_: object) -> None:
        self.book.close()


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


def _is_error(cell: Any) -> bool:
    """Say whether a cell holds the result of a failed formula, such as #DIV/0!."""
    return getattr(cell, "data_type", None) == "e"


def _remark_on_lost_formulas(source: TableSource, title: str, rows: list[Row]) -> None:
    """Note how many formulas have no stored result: they read as missing."""
    if not _has_formulas(source):
        return
    with _OpenSheet(source, title, values_only=False) as formulas:
        pairs = zip(formulas.rows(), rows, strict=False)
        n_lost = sum(_count_lost(row, values) for row, values in pairs)
    if n_lost:
        source.remark(
            f"{n_lost:,} formulas in {source.name} have no stored result and count as missing.",
            advice="Open and save the file in Excel to store the results.",
        )


def _count_lost(cells: Iterable[Any], values: Row) -> int:
    return sum(
        cell.data_type == "f" and (position >= len(values) or values[position] is None)
        for position, cell in enumerate(cells)
        if cell.value is not None
    )


def _has_formulas(source: TableSource) -> bool:
    with zipfile.ZipFile(source.rewind()) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/"):
                with archive.open(name) as part:
                    overlap = b""
                    while chunk := part.read(1 << 20):
                        if b"<f" in (text := overlap + chunk) and (
                            b"<f>" in text or b"<f " in text
                        ):
                            return True
                        overlap = chunk[-3:]
    return False
