"""Tables by their content: the same table is stored once, wherever it comes from."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pmae_core.errors import DamagedFileError, StorageError
from pmae_core.storage.digests import is_digest
from pmae_core.storage.files import replacing
from pmae_core.storage.frames import content_digest, from_arrow, to_arrow


@dataclass(frozen=True)
class StorableTable:
    """A table ready to be written: encoded and hashed once, then passed on.

    Attributes
    ----------
    digest : str
        The SHA-256 of its content.
    arrow : pyarrow.Table
        Its content, as :func:`pmae_core.storage.frames.to_arrow` encodes it.
    """

    digest: str
    arrow: pa.Table

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> StorableTable:
        """Encode and hash a data frame.

        Raises
        ------
        StorageError
            If it cannot be stored exactly.
        """
        arrow = to_arrow(frame)
        return cls(content_digest(arrow), arrow)


class TableStore:
    """Parquet files named by their content, which never change. The caller tracks their owners.

    Parameters
    ----------
    folder : path
        The folder of the files. The folders above it may be links; no link inside is followed.

    Notes
    -----
    The digest is the SHA-256 of names, dtypes, index and values as
    :mod:`pmae_core.storage.frames` encodes them, not of the bytes of the file, so it does not
    depend on how Parquet compresses.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder).expanduser()
        self.folder = folder.parent.resolve() / folder.name

    def put(self, table: pd.DataFrame | StorableTable) -> str:
        """Store a table, all or nothing, unless it is there and intact; return its digest.

        Parameters
        ----------
        table : DataFrame or StorableTable
            A data frame is encoded and hashed first.

        Raises
        ------
        StorageError
            If it cannot be stored exactly, or cannot be written.
        """
        if isinstance(table, pd.DataFrame):
            table = StorableTable.from_frame(table)
        path = self.path(table.digest)
        if not self.is_intact(table.digest):
            try:
                with replacing(path, lasting=True) as unfinished:
                    pq.write_table(table.arrow, unfinished, compression="zstd")
            except OSError as error:
                raise _unwritable(path, error) from error
        return table.digest

    def copy_from(self, source: TableStore, digest: str) -> None:
        """Copy a table of another store, unless it is here and intact; nothing is encoded.

        Raises
        ------
        DamagedFileError
            If the table of the other store is damaged.
        StorageError
            If the other store does not have it, or it cannot be written.
        """
        path, original = self.path(digest), source.path(digest)
        if path.exists() and (_have_same_bytes(path, original) or self.is_intact(digest)):
            return
        if not original.exists():
            raise _absent(digest)
        try:
            with replacing(path, lasting=True) as unfinished:
                shutil.copyfile(original, unfinished)
                if not _is_intact(unfinished, digest):
                    raise _damaged(digest)
        except OSError as error:
            raise _unwritable(path, error) from error

    def get(self, digest: str) -> pd.DataFrame:
        """Return a table after checking its digest.

        Raises
        ------
        DamagedFileError
            If it is damaged.
        StorageError
            If it is not there.
        """
        try:
            table = _read_intact(self.path(digest), digest)
        except FileNotFoundError:
            raise _absent(digest) from None
        if table is None:
            raise _damaged(digest)
        return from_arrow(table)

    def is_intact(self, digest: str) -> bool:
        """Return whether a table is stored and has this digest; it is read for that."""
        return _is_intact(self.path(digest), digest)

    def exists(self, digest: str) -> bool:
        """Return whether a table is stored."""
        return self.path(digest).exists()

    def path(self, digest: str) -> Path:
        """Return the file of a table, whether it exists or not.

        Raises
        ------
        StorageError
            If the digest is malformed, or the file is a link to elsewhere.
        """
        if not is_digest(digest):
            raise StorageError(
                f"{digest!r} is not the digest of a table. Digests have 64 characters of 0-9a-f."
            )
        path = self.folder / f"{digest}.parquet"
        if path.resolve() != path:
            raise StorageError(f"{path} is a link that leads elsewhere. Remove it.")
        return path


def _read_intact(path: Path, digest: str) -> pa.Table | None:
    """Return the content of a file; None if it does not have this digest."""
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
        return table if content_digest(table) == digest else None
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
        return None


def _is_intact(path: Path, digest: str) -> bool:
    try:
        return _read_intact(path, digest) is not None
    except (FileNotFoundError, StorageError):
        return False  # it is not there, or its format is unknown


def _have_same_bytes(path: Path, original: Path) -> bool:
    """Return whether a file equals another, which is quicker to find out than its digest."""
    if not original.exists() or path.stat().st_size != original.stat().st_size:
        return False
    return _bytes_digest(path) == _bytes_digest(original)


def _bytes_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _absent(digest: str) -> StorageError:
    return StorageError(f"The table {digest} is not stored here. Store it again.")


def _damaged(digest: str) -> DamagedFileError:
    return DamagedFileError(
        f"The stored table {digest[:12]} is damaged. Submit the table again to repair it."
    )


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The table cannot be written to {path}: {error}. Make room there, or allow writing."
    )
