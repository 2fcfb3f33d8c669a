"""A disk that is full or read-only, without the rights of an administrator."""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

WRITING = os.O_WRONLY | os.O_RDWR


@contextmanager
def broken_disk(folder: Path, number: int = errno.ENOSPC) -> Iterator[None]:
    """Refuse to this process whatever Python would write below a folder.

    What libraries in C write themselves still gets there: the SQLite file and Parquet files.
    """

    def guarded(function: Callable[..., Any], writes: Callable[..., bool]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            inside = isinstance(path, str | Path) and folder in Path(path).absolute().parents
            if inside and writes(path, *args, **kwargs):
                raise OSError(number, os.strerror(number), str(path))
            return function(path, *args, **kwargs)

        return call

    def opens_to_write(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> bool:
        return any(letter in mode for letter in "wax+")

    with ExitStack() as stack:
        for owner, name, writes in (
            (builtins, "open", opens_to_write),
            (io, "open", opens_to_write),
            (os, "open", lambda path, flags, *args, **kwargs: bool(flags & WRITING)),
            (os, "mkdir", lambda path, *args, **kwargs: not os.path.exists(path)),
            (os, "replace", lambda *args, **kwargs: True),
            (os, "rename", lambda *args, **kwargs: True),
            (os, "utime", lambda *args, **kwargs: True),
        ):
            change = mock.patch.object(owner, name, guarded(getattr(owner, name), writes))
            stack.enter_context(change)
        yield
