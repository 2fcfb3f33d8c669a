"""The files of a job's result. Tables in them are exact, like the tables that jobs read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from pmae_core.errors import JobError
from pmae_core.storage.frames import from_arrow, only_columns, to_arrow

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


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of a result; :func:`read_frame` returns it with every dtype and label."""
    pq.write_table(to_arrow(frame), path)


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
    StorageError
        If the table lacks a column.
    """
    try:
        with pq.ParquetFile(path) as file:
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
