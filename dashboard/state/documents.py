"""Small JSON documents in a folder, safe with several tabs and several servers at once."""

import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pmae_core.errors import PMAEError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_log = logging.getLogger(__name__)


class DocumentsGoneError(PMAEError):
    """The folder that holds the documents was deleted."""


class Documents:
    """JSON objects by name, one file each; a change is seen as a whole or not at all.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     documents = Documents(Path(folder))
    ...     with documents.changing("masking") as document:
    ...         document["a"] = 0.05
    ...     documents.read("masking")
    {'a': 0.05}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> dict[str, Any]:
        """Return a document; an empty one if it was never written or is damaged.

        Raises
        ------
        OSError
            If the disk does not give it; to take it for empty would mean to overwrite it.
        """
        path = self._path(name)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError:
            _log.exception("The document %s cannot be read and is treated as empty.", name)
            return {}
        return content if isinstance(content, dict) else {}

    @contextmanager
    def changing(self, name: str) -> Iterator[dict[str, Any]]:
        """Give a document to change in place, and write it when the block ends well.

        Nobody else reads in order to write meanwhile, so no change of another tab is lost.
        """
        path = self._path(name)
        try:
            self.folder.mkdir(exist_ok=True)
        except FileNotFoundError:  # not made anew: what was deleted would come back
            raise DocumentsGoneError(
                "What you are changing was deleted, perhaps in another tab. Reload the page."
            ) from None
        with _locked(self.folder / ".lock"):
            document = self.read(name)
            before = json.dumps(document)
            yield document
            text = json.dumps(document, allow_nan=False, ensure_ascii=False)
            if text != before or not path.exists():
                _write_whole(path, text)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a document.")
        return self.folder / f"{name}.json"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for the lock of a folder, between threads and between processes."""
    with path.open("ab") as handle:
        _lock(handle.fileno())
        yield  # closing the file gives the lock back


if os.name == "nt":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _write_whole(path: Path, text: str) -> None:
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
