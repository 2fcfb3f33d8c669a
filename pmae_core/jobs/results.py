"""Tables among the results of a job: exact, like the tables it was given."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from pmae_core.errors import JobError
from pmae_core.jobs.frames import from_arrow, to_arrow


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of a result; :func:`read_frame` gives it back with every dtype and label."""
    pq.write_table(to_arrow(frame), path)


def read_frame(path: str | Path) -> pd.DataFrame:
    """Return a table of a result: ``filled.parquet``, ``imputed.parquet``, ``draw-1.parquet``.

    Raises
    ------
    JobError
        If there is no such file.
    """
    try:
        return from_arrow(pq.read_table(path))
    except FileNotFoundError:
        raise JobError(f"There is no result {Path(path).name}; has the job succeeded?") from None
