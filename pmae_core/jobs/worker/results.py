"""The files of a job's result. Tables in them are exact, like the tables that jobs read."""

from __future__ import annotations

import shutil
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from pmae_core.errors import JobError
from pmae_core.storage.checksums import undamaged, write_checksums
from pmae_core.storage.files import sync
from pmae_core.storage.frames import from_arrow, only_columns, to_arrow

RESULT_FOLDER = "result"
MODEL_FILE = "model.safetensors"
IMPUTED_FILE = "imputed.parquet"
WAS_IMPUTED_FILE = "was_imputed.parquet"


def imputation_file(number: int) -> str:
    """Return the name of one of several imputations, counted from 1.

    Examples
    --------
    >>> imputation_file(1)
    'imputation-1.parquet'
    """
    return f"imputation-{number}.parquet"


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder that replaces `folder` when the block ends well, and not otherwise.

    The files in it get checksums. All of it is on disk at the end: a job that says it has a result
    has it after a power cut, too.
    """
    unfinished, replaced = (folder.with_name(folder.name + end) for end in (".tmp", ".old"))
    for leftover in (unfinished, replaced):
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished.mkdir(parents=True)
    yield unfinished
    write_checksums(unfinished)
    for path in (*unfinished.iterdir(), unfinished):
        sync(path)
    if folder.exists():
        folder.rename(replaced)
    unfinished.rename(folder)
    sync(folder.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def write_imputed(
    frame: pd.DataFrame, imputed: pd.DataFrame, kept_missing: pd.DataFrame | None, out: Path
) -> dict[str, Any]:
    """Write an imputed table and which of its cells were imputed; return both in numbers.

    Parameters
    ----------
    frame, imputed : DataFrame
        The table before and after.
    kept_missing : DataFrame of bool, optional
        True for cells that are missing for a reason and stay so.
    out : Path
        The folder.
    """
    still_missing = imputed.isna().sum()
    imputed = with_missing(imputed, kept_missing)
    was_imputed = frame.isna() & imputed.notna()
    write_frame(imputed, out / IMPUTED_FILE)
    write_frame(was_imputed, out / WAS_IMPUTED_FILE)
    return {
        "n_imputed": int(was_imputed.to_numpy().sum()),
        "n_rows": len(imputed),
        "still_missing": {
            str(name): int(number) for name, number in still_missing.items() if number > 0
        },
        "n_left_alone": 0 if kept_missing is None else int(kept_missing.to_numpy().sum()),
    }


def with_missing(imputed: pd.DataFrame, kept_missing: pd.DataFrame | None) -> pd.DataFrame:
    """Return an imputed table in which cells that stay missing are so again."""
    return imputed if kept_missing is None else imputed.mask(kept_missing)


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of a result; :func:`read_frame` returns it with every dtype and label."""
    pq.write_table(to_arrow(frame), path, write_page_checksum=True)


def read_frame(path: str | Path, columns: Sequence[Hashable] | None = None) -> pd.DataFrame:
    """Return a table of a result, such as ``imputed.parquet`` or ``imputation-1.parquet``.

    Parameters
    ----------
    path : path
        The file.
    columns : sequence, optional
        Names of the columns to read; the others stay on disk.

    Raises
    ------
    JobError
        If there is no such file.
    DamagedFileError
        If the file is not as it was written.
    StorageError
        If the table lacks a column.
    """
    try:
        with (
            undamaged(Path(path)),
            pq.ParquetFile(path, page_checksum_verification=True) as file,
        ):
            if columns is None:
                return from_arrow(file.read())
            fields, metadata = only_columns(file.schema_arrow, columns)
            # Arrow also reads fields whose name begins with that of another one and a dot.
            table = file.read(columns=fields).select(fields)
            return from_arrow(table.replace_schema_metadata(metadata))
    except FileNotFoundError:
        raise JobError(
            f"There is no result {Path(path).name}. Check that the job has succeeded, "
            "or run it again."
        ) from None
