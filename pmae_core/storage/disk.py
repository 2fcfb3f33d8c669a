"""Room on the disk: how much files and folders take, and removing them."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path


def bytes_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder; links are not followed."""
    try:
        if path.is_dir() and not path.is_symlink():
            return _bytes_in(path)
        return path.lstat().st_size
    except FileNotFoundError:  # removed just now by another process
        return 0


def _bytes_in(folder: str | Path) -> int:
    total = 0
    # Paths are slow to make, and a home may have a hundred thousand files.
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if entry.is_dir(follow_symlinks=False):
                    total += _bytes_in(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def remove_path(path: Path) -> None:
    """Remove a file, a link, or a folder with all its content; it may be gone already."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
