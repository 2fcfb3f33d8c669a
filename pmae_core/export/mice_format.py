"""Imputations for R's mice: one long CSV file, and the R code that reads it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import BinaryIO

import pandas as pd

from pmae_core.errors import TableError
from pmae_core.export.portable import PortableColumn, PortableKind, valid_names

IMPUTATION, ROW = ".imp", ".id"
_RESERVED = (
    *("if", "else", "repeat", "while", "function", "for", "next", "break", "in"),
    *("TRUE", "FALSE", "NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_character_"),
)
_LONGEST_NAME = 200
_MOST_LEVELS = 50
_TIME = "%Y-%m-%d %H:%M:%S.%f"


def r_names(names: Iterable[object]) -> list[str]:
    """Return names that R's formulas accept; mice builds formulas of all columns."""
    return valid_names(
        names, allowed="A-Za-z0-9_.", longest=_LONGEST_NAME, reserved=[IMPUTATION, ROW, *_RESERVED]
    )


def write_mice(
    handle: BinaryIO, tables: Iterable[pd.DataFrame], columns: Sequence[PortableColumn]
) -> None:
    """Write the original table as imputation 0 and the imputations below it, one at a time."""
    for number, table in enumerate(tables):
        written = {column.name: _cells(table[column.source], column) for column in columns}
        rows = {IMPUTATION: number, ROW: range(1, len(table) + 1)}
        long = pd.DataFrame({**rows, **written}, index=table.index)
        long.to_csv(handle, index=False, header=number == 0, lineterminator="\n", encoding="utf-8")


def r_code(columns: Sequence[PortableColumn], file_name: str) -> str:
    """Return the R code that reads the file as a mids object."""
    return "\n".join(
        [
            "library(mice)",
            "",
            *_reading(columns, file_name),
            *(line for column in columns for line in _conversion(column)),
            "imputations <- as.mids(long)",
            "",
            "# Fit your model to every imputation and pool the results, for example:",
            "# summary(pool(with(imputations, lm(y ~ x))))",
            "",
        ]
    )


def _cells(cells: pd.Series, column: PortableColumn) -> pd.Series:
    written = column.write(cells)
    if column.kind is PortableKind.BOOLEAN:
        return written.map({True: "TRUE", False: "FALSE"}, na_action="ignore")
    if column.kind is PortableKind.TIME:
        return written.dt.strftime(_TIME)
    if column.kind in (PortableKind.CATEGORY, PortableKind.TEXT):
        _check_texts(written.dropna().unique(), column)
    return written


def _check_texts(texts: Iterable[str], column: PortableColumn) -> None:
    for text in texts:
        if not text or "\0" in text:
            what = "NUL characters" if text else "empty texts"
            raise TableError(
                f"Column {str(column.source)!r} holds {what}, which R cannot read as values. "
                "Replace them first."
            )


def _reading(columns: Sequence[PortableColumn], file_name: str) -> list[str]:
    texts = [
        f"  {column.name} = {_text('character')}"
        for column in columns
        if column.kind not in (PortableKind.NUMBER, PortableKind.BOOLEAN)
    ]
    start = f'long <- read.csv({_text(file_name)}, na.strings = "", encoding = "UTF-8"'
    if not texts:
        return [f"{start})"]
    return [f"{start}, colClasses = c(", ",\n".join(texts), "))"]


def _conversion(column: PortableColumn) -> list[str]:
    cells = f"long${column.name}"
    if column.is_coded and column.is_ordered:
        numbers = ", ".join(column.labels)
        return [f"{cells} <- factor({cells}, levels = c({numbers}), ordered = TRUE)"]
    if column.is_coded:
        return [f"{cells} <- factor({cells})"]
    if column.kind is PortableKind.TIME:
        return [f'{cells} <- as.POSIXct({cells}, tz = "UTC", format = "%Y-%m-%d %H:%M:%OS")']
    if column.kind is not PortableKind.CATEGORY:
        return []
    if len(column.labels) > _MOST_LEVELS and not column.is_ordered:
        return [f"{cells} <- factor({cells})"]
    ordered = ", ordered = TRUE" if column.is_ordered else ""
    levels = ", ".join(map(_text, column.labels))
    return [f"{cells} <- factor({cells}, levels = c({levels}){ordered})"]


def _text(text: str) -> str:
    """Return a text as R reads it, in any locale; for ASCII, JSON's escapes are R's too."""
    characters = (
        json.dumps(one)[1:-1] if one.isascii() else f"\\U{{{ord(one):x}}}" for one in text
    )
    return f'"{"".join(characters)}"'
