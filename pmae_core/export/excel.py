"""The imputed table as an Excel workbook in which imputed cells are colored.

openpyxl makes the workbook with its styles; the rows of the table are written as plain XML, which
is many times faster than cell by cell.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt
import openpyxl
import pandas as pd
from openpyxl.cell import Cell
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.utils.datetime import to_excel

from pmae_core.errors import TableError, TableTooLargeError
from pmae_core.table.io.excel_writing import (
    EXCEL_COLUMNS,
    EXCEL_ROWS,
    EXCEL_TEXT,
    excel_holds,
    rows_of_excel_cells,
)
from pmae_core.table.io.formulas import looks_like_formula
from pmae_core.table.io.rows import with_index_as_columns
from pmae_core.table.io.writing import write_whole
from pmae_core.words import percent

IMPUTED_COLOR = "#009E73"
"""The color of imputed cells."""
TABLE_SHEET, ABOUT_SHEET = "Table", "About"

_SHEET_START = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews>'
    '<sheetView workbookViewId="0" tabSelected="1"><pane ySplit="1" topLeftCell="A2" '
    'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
)
_SHEET_END = "</sheetData></worksheet>"
_ROWS_AT_ONCE = 1000
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_imputed_excel(
    path: str | os.PathLike[str] | BinaryIO,
    imputed: pd.DataFrame,
    was_imputed: pd.DataFrame,
    *,
    color: str = IMPUTED_COLOR,
    about: Mapping[str, str] | None = None,
) -> None:
    """Write the imputed table with a color behind the imputed cells.

    The first sheet is the table, which :func:`~pmae_core.table.read_table` reads back; the second
    says what the color means. Text that looks like a formula stays text: it is stored as
    such, and marked so that it does not become a formula when it is edited.

    Parameters
    ----------
    path : path or binary file
        Where to write; an existing file is replaced when the new one is complete.
    imputed : DataFrame
        The imputed table.
    was_imputed : DataFrame of bool
        True where a cell was imputed; rows and columns as in `imputed`.
    color : str
        Of the imputed cells, as ``#RRGGBB``.
    about : mapping of str to str, optional
        Further rows of the second sheet: a title and a text each.

    Raises
    ------
    TableError
        If Excel cannot hold the table.
    """
    _check(imputed, was_imputed)

    def write(table: pd.DataFrame, handle: BinaryIO) -> None:
        _write_book(table, was_imputed.to_numpy(dtype=bool), handle, color, about or {})

    if isinstance(path, str | os.PathLike):
        write_whole(imputed, Path(path), write)
    else:
        write(imputed, path)


def _check(imputed: pd.DataFrame, was_imputed: pd.DataFrame) -> None:
    same_rows = imputed.index.equals(was_imputed.index)
    if not (same_rows and imputed.columns.equals(was_imputed.columns)):
        raise TableError("The imputed table and `was_imputed` have different rows or columns.")
    check_excel_size(imputed)


def check_excel_size(table: pd.DataFrame) -> None:
    """Raise a TableTooLargeError if a table has more rows or columns than Excel holds."""
    if len(table) >= EXCEL_ROWS or table.shape[1] >= EXCEL_COLUMNS:
        raise TableTooLargeError(
            f"Excel holds {EXCEL_ROWS - 1:,} rows and {EXCEL_COLUMNS - 1:,} columns; "
            f"this table has {len(table):,} and {table.shape[1]:,}. Write .parquet or .csv."
        )


@dataclass(frozen=True)
class _Styles:
    """Numbers of styles in the workbook: by (kind of cell, whether it was imputed)."""

    header: int
    of_cell: dict[tuple[str, bool], int]

    @classmethod
    def add_to(cls, book: openpyxl.Workbook, color: str) -> _Styles:
        pattern = PatternFill("solid", fgColor=color.lstrip("#"))
        of_cell = {}
        for is_imputed in (False, True):
            for kind in ("plain", "date", "formula"):
                cell = Cell(book.worksheets[0])
                if is_imputed:
                    cell.fill = pattern
                if kind == "date":
                    cell.number_format = "yyyy-mm-dd hh:mm:ss"
                cell.quotePrefix = kind == "formula"
                of_cell[kind, is_imputed] = cell.style_id
        header = Cell(book.worksheets[0])
        header.font = Font(bold=True)
        header.quotePrefix = True
        return cls(header.style_id, of_cell)


def _write_book(
    imputed: pd.DataFrame,
    was_imputed: npt.NDArray[np.bool_],
    handle: BinaryIO,
    color: str,
    about: Mapping[str, str],
) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].title = TABLE_SHEET
    _write_about(book, color, int(was_imputed.sum()), was_imputed.size, about)
    styles = _Styles.add_to(book, color)
    skeleton = io.BytesIO()
    book.save(skeleton)
    table = with_index_as_columns(imputed)
    index_cells = np.zeros((len(table), table.shape[1] - was_imputed.shape[1]), dtype=bool)
    xml = _sheet_xml(table, np.hstack([index_cells, was_imputed]), styles)
    _copy_with_rows(skeleton, handle, xml)


def _write_about(
    book: openpyxl.Workbook, color: str, n_imputed: int, n_cells: int, about: Mapping[str, str]
) -> None:
    sheet = book.create_sheet(ABOUT_SHEET)
    share = percent(n_imputed / n_cells if n_cells else 0.0)
    rows = {
        "Imputed cells": f"{n_imputed:,} of {n_cells:,} ({share}) have this color in the table.",
        "Other cells": "As observed.",
        **about,
    }
    for number, (title, text) in enumerate(rows.items(), start=1):
        for column, content in enumerate((title, text), start=1):
            cell = sheet.cell(number, column, _NOT_IN_XML.sub("", str(content)))
            cell.data_type = "s"
            cell.quotePrefix = looks_like_formula(content)
        sheet.cell(number, 1).font = Font(bold=True)
    sheet.cell(1, 1).fill = PatternFill("solid", fgColor=color.lstrip("#"))
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 20, 100


def _copy_with_rows(skeleton: BinaryIO, handle: BinaryIO, xml: Iterator[str]) -> None:
    """Copy a workbook and replace the rows of its first sheet."""
    with (
        zipfile.ZipFile(skeleton) as source,
        zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as target,
    ):
        for name in source.namelist():
            if name == "xl/worksheets/sheet1.xml":
                with target.open(name, "w", force_zip64=True) as sheet:
                    for text in xml:
                        sheet.write(text.encode())
            else:
                target.writestr(name, source.read(name))


def _sheet_xml(
    table: pd.DataFrame, was_imputed: npt.NDArray[np.bool_], styles: _Styles
) -> Iterator[str]:
    letters = [get_column_letter(number) for number in range(1, table.shape[1] + 1)]
    names = "".join(
        _text_cell(f"{letter}1", styles.header, str(name))
        for letter, name in zip(letters, table.columns, strict=True)
    )
    yield f'{_SHEET_START}<row r="1">{names}</row>'
    rows: list[str] = []
    both = zip(rows_of_excel_cells(table), was_imputed.tolist(), strict=True)
    for number, (cells, marks) in enumerate(both, start=2):
        row = "".join(
            _cell(f"{letter}{number}", cell, is_imputed, styles)
            for letter, cell, is_imputed in zip(letters, cells, marks, strict=True)
            if cell is not None
        )
        rows.append(f'<row r="{number}">{row}</row>')
        if len(rows) == _ROWS_AT_ONCE:
            yield "".join(rows)
            rows = []
    yield "".join(rows) + _SHEET_END


def _cell(place: str, cell: object, is_imputed: bool, styles: _Styles) -> str:
    if isinstance(cell, bool):
        style = styles.of_cell["plain", is_imputed]
        return f'<c r="{place}" s="{style}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float) and excel_holds(cell):
        return f'<c r="{place}" s="{styles.of_cell["plain", is_imputed]}"><v>{cell!r}</v></c>'
    if isinstance(cell, pd.Timestamp):
        style = styles.of_cell["date", is_imputed]
        return f'<c r="{place}" s="{style}"><v>{to_excel(cell.to_pydatetime())!r}</v></c>'
    text = str(cell)
    kind = "formula" if looks_like_formula(text) else "plain"
    return _text_cell(place, styles.of_cell[kind, is_imputed], text)


def _text_cell(place: str, style: int, text: str) -> str:
    if len(text) > EXCEL_TEXT:
        raise TableError(
            f"A text of {len(text):,} characters is longer than Excel allows ({EXCEL_TEXT:,}). "
            "Write .parquet or .csv."
        )
    if _NOT_IN_XML.search(text):
        raise TableError(
            "Some text has control characters, which Excel cannot store. Write .parquet or .csv."
        )
    written = escape(text, {"\r": "&#13;"})
    return (
        f'<c r="{place}" s="{style}" t="inlineStr">'
        f'<is><t xml:space="preserve">{written}</t></is></c>'
    )
