"""A data frame to delimited text, such that reading restores it."""

import csv
import io
import warnings
from collections.abc import Iterable
from typing import BinaryIO

import pandas as pd

from pmae_core.errors import TableError, TableWarning
from pmae_core.table.io.dialect import DELIMITERS
from pmae_core.table.io.rows import BLOCK_ROWS, with_index_as_columns
from pmae_core.table.values import MISSING_WORDS, is_text_column
from pmae_core.words import listed


def write_delimited(df: pd.DataFrame, handle: BinaryIO, delimiter: str) -> None:
    """Write a table as UTF-8 text with quotes where they are needed."""
    df = with_index_as_columns(df)
    _check_text_survives(df)
    text = io.TextIOWrapper(handle, encoding="utf-8", newline="")
    try:
        csv.writer(
            text,
            delimiter=delimiter,
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if _may_mislead(df.columns) else csv.QUOTE_MINIMAL,
        ).writerow(df.columns)
        df.to_csv(
            text,
            sep=delimiter,
            header=False,
            index=False,
            lineterminator="\n",
            chunksize=BLOCK_ROWS,
            quoting=csv.QUOTE_NONNUMERIC if _cells_need_quotes(df) else csv.QUOTE_MINIMAL,
        )
        text.flush()
    finally:
        text.detach()


def _check_text_survives(df: pd.DataFrame) -> None:
    """Refuse text that no reader gets back, and name text that will read as missing."""
    like_missing = []
    for name, column in df.items():
        if not is_text_column(column):
            continue
        texts = column.dropna().astype(str)
        if texts.str.contains("\0", regex=False).any():
            raise TableError(f"Column {name!r} holds NUL characters, which text files cannot.")
        if texts.str.strip().isin(MISSING_WORDS).any():
            like_missing.append(repr(name))
    if like_missing:
        warnings.warn(
            "Some texts, such as 'NA' or blanks, will count as missing when this file is read, in: "
            f"{listed(like_missing, 10)}. Parquet keeps them.",
            TableWarning,
            stacklevel=6,
        )


def _cells_need_quotes(df: pd.DataFrame) -> bool:
    """Say whether to quote all text: carriage returns, or a single column that looks like many."""
    texts = [column.dropna().astype(str) for _, column in df.items() if is_text_column(column)]
    if df.shape[1] == 1 and any(_may_mislead(text) for text in texts):
        return True
    return any(text.str.contains("\r", regex=False).any() for text in texts)


def _may_mislead(texts: Iterable[str]) -> bool:
    """Say whether texts hold characters that a reader may take for delimiters or line breaks."""
    misleading = {*DELIMITERS, "\r"}
    return any(not misleading.isdisjoint(text) for text in texts)
