"""Files that are written all or nothing: readers see the old file or the new one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file in the same folder to write, which replaces `path` at the end.

    If the block fails, `path` stays as it was and the temporary file is removed.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file all or nothing."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
