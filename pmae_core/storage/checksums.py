"""Files that say when they are damaged: a folder of them has a list of their checksums."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pmae_core.errors import DamagedFileError, PMAEError
from pmae_core.storage.files import read_sealed

# In the format of the command sha256sum, which can check the folder, too.
CHECKSUMS_FILE = "checksums.sha256"


def write_checksums(folder: Path) -> None:
    """Write the checksums of all files in a folder beside them."""
    lines = [
        f"{_sha256(path)}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != CHECKSUMS_FILE
    ]
    (folder / CHECKSUMS_FILE).write_text("".join(lines), encoding="utf-8")


def checked(path: Path) -> Path:
    """Return a file whose content is as it was written, as far as its folder has checksums.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DamagedFileError
        If its content has changed.
    """
    checksums = path.with_name(CHECKSUMS_FILE)
    state = _state(path)
    if checksums.exists() and not _is_listed(path, state, checksums, _state(checksums)):
        raise _damaged(path)
    return path


@contextmanager
def undamaged(path: Path) -> Iterator[Path]:
    """Check a file before it is read in this block; if reading it fails then, it is damaged, too.

    So a file without a checksum is covered as well. Errors of the system (no such file, no
    permission) and of the library are raised as they are.

    Raises
    ------
    DamagedFileError
        If the file is not what was written.
    """
    try:
        yield checked(path)
    except Exception as error:
        is_of_system = isinstance(error, OSError) and error.errno is not None
        is_of_library = isinstance(error, PMAEError) and not isinstance(error, ValueError)
        is_known = isinstance(error, DamagedFileError) and error.path is not None
        if is_of_system or is_of_library or is_known or isinstance(error, MemoryError):
            raise
        raise _damaged(path) from error


def read_document(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DamagedFileError
        If it is not as it was written.
    """
    with undamaged(path):
        return read_sealed(path)


def _damaged(path: Path) -> DamagedFileError:
    problem = f"The file {path.name} of this result is damaged."
    return DamagedFileError(problem, path=path, code="damaged", advice="Run it again.")


def _state(path: Path) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


@functools.lru_cache(maxsize=256)
def _is_listed(
    path: Path, state: tuple[int, int, int], checksums: Path, checksums_state: tuple[int, int, int]
) -> bool:
    """Return whether a file has the checksum it is listed with; hashed once while it stays."""
    listed = checksums.read_bytes().decode(errors="replace").splitlines()
    return f"{_sha256(path)}  {path.name}" in listed


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
