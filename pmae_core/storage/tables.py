"""Tables by their content: the same table is kept once, whoever brings it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pmae_core.errors import JobError
from pmae_core.jobs.paths import JobPaths
from pmae_core.storage.files import replacing
from pmae_core.storage.frames import content_digest, from_arrow, to_arrow


@dataclass(frozen=True)
class StorableTable:
    """A table ready to be written, and its digest."""

    digest: str
    table: pa.Table


class TableStore:
    """Parquet files named by their content, which never change. Who owns them is the store's.

    Parameters
    ----------
    paths : JobPaths
        Where they lie.

    Notes
    -----
    The digest is the SHA-256 of names, dtypes, index and values as
    :mod:`pmae_core.storage.frames` writes them, not of the bytes of the file, so it does not
    depend on how Parquet compresses.
    """

    def __init__(self, paths: JobPaths) -> None:
        self._paths = paths

    def put(self, frame: pd.DataFrame) -> str:
        """Keep a table and return its digest.

        Raises
        ------
        JobError
            If it cannot be kept exactly, or not be written.
        """
        encoded = self.encode(frame)
        self.write(encoded)
        return encoded.digest

    def encode(self, frame: pd.DataFrame) -> StorableTable:
        """Return a table as :meth:`write` wants it."""
        table = to_arrow(frame)
        return StorableTable(content_digest(table), table)

    def write(self, encoded: StorableTable) -> None:
        """Write a table, all or nothing, unless it is there already."""
        path = self.path(encoded.digest)
        if path.exists():
            return
        try:
            with replacing(path) as unfinished:
                pq.write_table(encoded.table, unfinished, compression="zstd")
        except OSError as error:
            raise JobError(f"The table cannot be written to {path}: {error}.") from error

    def get(self, digest: str) -> pd.DataFrame:
        """Return a table, after a look whether it still is what it was.

        Raises
        ------
        JobError
            If it is not there, or damaged.
        """
        path = self.path(digest)
        try:
            with pq.ParquetFile(path) as file:
                table = file.read()
            intact = content_digest(table) == digest
        except FileNotFoundError:
            raise JobError(f"The table {digest} is not kept here (any more).") from None
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
            intact = False
        if not intact:
            raise JobError(f"{path} is damaged; remove it and submit the table again.")
        return from_arrow(table)

    def exists(self, digest: str) -> bool:
        """Say whether a table is kept."""
        return self.path(digest).exists()

    def path(self, digest: str) -> Path:
        """Return the file of a table, whether it is there or not."""
        return self._paths.table(digest)
