"""Tables among the results of a job: exact, like the tables it was given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from pmae_core.errors import JobError
from pmae_core.storage.frames import from_arrow, only_columns, to_arrow


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of a result; :func:`read_frame` gives it back with every dtype and label."""
    pq.write_table(to_arrow(frame), path)


def read_frame(path: str | Path, columns: Sequence[Hashable] | None = None) -> pd.DataFrame:
    """Return a table of a result: ``filled.parquet``, ``imputed.parquet``, ``draw-1.parquet``.

    Parameters
    ----------
    path : path
        The file.
    columns : sequence, optional
        Names of the columns to read; the others stay on disk.

    Raises
    ------
    JobError
        If there is no such file, or no such column in it.
    """
    try:
        with pq.ParquetFile(path) as file:
            if columns is None:
                return from_arrow(file.read())
            fields, metadata = only_columns(file.schema_arrow, columns)
            # A name like the beginning of another one, up to a point, is given both.
            table = file.read(columns=fields).select(fields)
            return from_arrow(table.replace_schema_metadata(metadata))
    except FileNotFoundError:
        raise JobError(f"There is no result {Path(path).name}; has the job succeeded?") from None
