"""Imputations for Stata: one .dta file in flong form, and the commands that import it."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from pmae_core.errors import TableError, TableTooLargeError
from pmae_core.export.portable import PortableColumn, PortableKind, valid_names

IMPUTATION, ROW = "mi_m", "mi_id"
_RESERVED = (
    *("_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "_n", "long"),
    *("_N", "_pi", "_pred", "_rc", "_skip", "strL", "using", "with"),
    *(f"str{width}" for width in range(1, 2046)),
)
_LONGEST_NAME = 32
_LONGEST_VARIABLE_LABEL = 80
_MOST_COLUMNS = 32_000
# From 2**1023 on, Stata's doubles stand for missing values.
_LARGEST_NUMBER = 8.9e307


def stata_names(names: Iterable[object]) -> list[str]:
    """Return names that Stata accepts; the original names become variable labels."""
    return valid_names(
        names, allowed="A-Za-z0-9_", longest=_LONGEST_NAME, reserved=[IMPUTATION, ROW, *_RESERVED]
    )


def write_stata(
    handle: BinaryIO, tables: Iterable[pd.DataFrame], columns: Sequence[PortableColumn]
) -> None:
    """Write the original table as imputation 0 and the imputations below it.

    Raises
    ------
    TableError
        If Stata cannot hold the table.
    """
    if len(columns) > _MOST_COLUMNS:
        raise TableTooLargeError(
            f"Stata holds at most {_MOST_COLUMNS:,} columns, and the table has {len(columns):,}. "
            "Leave some out."
        )
    long = pd.concat([_numbered(table, n, columns) for n, table in enumerate(tables)])
    times: dict[Any, Any] = {
        column.name: "tc" for column in columns if column.kind is PortableKind.TIME
    }
    labels = {c.name: str(c.source)[:_LONGEST_VARIABLE_LABEL] for c in columns}
    with warnings.catch_warnings():
        # Every name is valid already, and categories are text: what is left is pandas' own.
        warnings.simplefilter("ignore")
        try:
            long.to_stata(
                handle,
                write_index=False,
                version=118,
                convert_dates=times,
                variable_labels=labels,
            )
        except (ValueError, NotImplementedError, OverflowError) as error:
            raise TableError(
                f"Stata cannot hold the table: {error} Use the format for R or Python instead."
            ) from error


def stata_code(
    columns: Sequence[PortableColumn], imputed: Iterable[Hashable], file_name: str
) -> str:
    """Return the commands that open the file as imputed data."""
    chosen = set(imputed)
    names = [column.name for column in columns if column.source in chosen]
    options = [f"m({IMPUTATION})", f"id({ROW})"]
    if names:
        options.append(f"imputed({' '.join(names)})")
    command = textwrap.wrap(f"mi import flong, {' '.join(options)}", 75, break_on_hyphens=False)
    # Quotes cannot be part of a file name in Stata.
    return "\n".join(
        [
            f'use "{file_name.replace(chr(34), "")}", clear',
            " ///\n    ".join(command),
            "",
            "* Fit your model to every imputation and pool the results, for example:",
            "* mi estimate: regress y x",
            "",
        ]
    )


def _numbered(table: pd.DataFrame, number: int, columns: Sequence[PortableColumn]) -> pd.DataFrame:
    written = {column.name: _cells(table[column.source], column) for column in columns}
    n_rows = len(table)
    rows: dict[str, Any] = {
        IMPUTATION: np.full(n_rows, number, dtype=np.int32),
        ROW: np.arange(1, n_rows + 1, dtype=np.int32),
    }
    return pd.DataFrame({**rows, **written}, index=table.index)


def _cells(cells: pd.Series, column: PortableColumn) -> pd.Series:
    written = column.write(cells)
    if column.kind in (PortableKind.NUMBER, PortableKind.BOOLEAN):
        numbers = written.astype("float64")
        if (numbers.abs() > _LARGEST_NUMBER).any():
            raise TableError(
                f"Column {str(column.source)!r} holds numbers too large for Stata, such as "
                "infinity. Declare them missing first."
            )
        return numbers
    if column.kind is PortableKind.TEXT:
        return written.astype(object).where(written.notna(), "")
    return written
