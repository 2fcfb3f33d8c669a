"""Tables that commands write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pmae_core.errors import TableError
from pmae_core.words import listed

if TYPE_CHECKING:
    import pandas as pd


def check_outputs(
    tables: Sequence[Path | None], *, others: Sequence[Path | None] = (), force: bool
) -> None:
    """Refuse what could not be written later, before any work is spent on it."""
    from pmae_core.table.io.source import FORMAT_OF_ENDING

    endings = [ending for ending in FORMAT_OF_ENDING if ending != ".xls"]
    for path in filter(None, tables):
        if path.suffix.lower() not in endings:
            choices = listed(endings, most=len(endings), last="or")
            raise TableError(f"{path} has no ending of a table format. Use {choices}.")
    paths = [path for path in (*tables, *others) if path]
    for path in paths:
        if paths.count(path) > 1:
            raise TableError(f"{path} is given for two outputs. Give each output its own file.")
        if path.exists() and not force:
            raise TableError(f"{path} already exists. Use --force to overwrite it.")
        if not path.parent.is_dir():
            raise TableError(f"The folder {path.parent} does not exist. Create it first.")


def write_tables(
    outputs: Iterable[tuple[pd.DataFrame, Path | None]], *, keep_formulas: bool = False
) -> None:
    """Write each table that has a path."""
    from pmae_core.table import write_table

    for frame, path in outputs:
        if path:
            write_table(frame, path, escape_formulas=not keep_formulas)


def missing_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of true and false as it is, and for any other where its cells are missing."""
    is_flags = all(dtype.kind == "b" for dtype in frame.dtypes) and not frame.isna().any(axis=None)
    return frame.astype(bool) if is_flags else frame.isna()
