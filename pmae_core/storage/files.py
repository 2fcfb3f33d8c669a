"""Files that are written all or nothing, outlast a power cut, and show when they are damaged.

Work that can be resumed depends on what it left on disk. So there is one way to leave it:
:func:`replacing` writes a file whole, and can keep the version before it; :func:`write_sealed`
writes JSON with its checksum. A reader that finds another content raises
:class:`~pmae_core.errors.DamagedFileError`, and :func:`read_newest` returns the newest version that
is intact.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pmae_core.errors import DamagedFileError, DamageWarning
from pmae_core.events import Callback, DamageFound

_CHECKSUM = "sha256"
# A second key says that there is a checksum, so that damage to the name of one of them is noticed.
_HAS_CHECKSUM = "sealed"

Content = TypeVar("Content")


@contextmanager
def replacing(path: Path, *, lasting: bool = False, keep_previous: bool = False) -> Iterator[Path]:
    """Give a temporary file in the same folder to write, which replaces `path` at the end.

    If the block fails, `path` stays as it was and the temporary file is removed.

    Parameters
    ----------
    path : Path
        The file.
    lasting : bool, default False
        Whether to wait until the disk has the new file, so that it outlasts a power cut.
    keep_previous : bool, default False
        Whether to keep the file that is replaced, as :func:`previous_version`.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield unfinished
        if lasting:
            sync(unfinished)
        if keep_previous:
            with suppress(FileNotFoundError):
                os.replace(path, previous_version(path))
        os.replace(unfinished, path)
        if lasting:
            sync(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, text: str, *, lasting: bool = False) -> None:
    """Write a text file all or nothing; `lasting` as for :func:`replacing`."""
    with replacing(path, lasting=lasting) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def sync(path: Path) -> None:
    """Wait until the disk has the content of a file, or the names in a folder."""
    is_folder = path.is_dir()
    if is_folder and os.name == "nt":
        return  # Windows has no such thing for folders
    descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Versions


def previous_version(path: Path) -> Path:
    """Return where the version before the newest one is kept.

    Examples
    --------
    >>> previous_version(Path("checkpoint.safetensors")).name
    'checkpoint.previous.safetensors'
    """
    return path.with_name(f"{path.stem}.previous{path.suffix}")


def read_newest(
    path: Path, read: Callable[[Path], Content]
) -> tuple[Content | None, list[DamagedFileError]]:
    """Return the newest intact version of a file, and what is wrong with newer ones.

    A damaged version gets the ending ``.damaged``: the next one must not keep it in place of an
    intact one.

    Parameters
    ----------
    path : Path
        The file, written by :func:`replacing` with ``keep_previous``.
    read : callable
        Reads a version. It raises FileNotFoundError or DamagedFileError if it cannot.

    Returns
    -------
    content : object or None
        What `read` returned; None if there is no intact version.
    damages : list of DamagedFileError
        One for each damaged version.
    """
    damages: list[DamagedFileError] = []
    for version in (path, previous_version(path)):
        try:
            return read(version), damages
        except FileNotFoundError:
            continue
        except DamagedFileError as damage:
            damages.append(damage)
            os.replace(version, version.with_name(version.name + ".damaged"))
    return None, damages


def report_damage(callbacks: Iterable[Callback], sentence: str) -> None:
    """Say how work goes on without a damaged file, to callbacks and with a warning.

    Parameters
    ----------
    callbacks : iterable of callables
        Each is called with :class:`~pmae_core.events.DamageFound`.
    sentence : str
        What happened, for the user.
    """
    for callback in callbacks:
        callback(DamageFound(sentence=sentence))
    warnings.warn(sentence, DamageWarning, stacklevel=3)


# JSON with a checksum


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with its checksum, all or nothing, so that it lasts."""
    plain = json.loads(json.dumps(content, allow_nan=False))
    text = json.dumps(sealed(plain), indent=1, ensure_ascii=False)
    write_whole(path, text + "\n", lasting=True)


def read_sealed(path: Path) -> dict[str, Any]:
    """Return what :func:`write_sealed` wrote.

    Files of earlier releases have no checksum; only their form is checked.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DamagedFileError
        If the file holds something else than what was written.
    """
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} is damaged ({error}).") from error
    if not isinstance(content, dict):
        raise DamagedFileError(f"{path} is damaged (it does not hold a JSON object).")
    return unsealed(content, path)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON data with their checksum."""
    return {_HAS_CHECKSUM: True, **content, _CHECKSUM: _checksum(content)}


def unsealed(content: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the data that :func:`sealed` was given; the error names the file they are from."""
    keys = (_HAS_CHECKSUM, _CHECKSUM)
    plain = {name: value for name, value in content.items() if name not in keys}
    found = tuple(content.get(key) for key in keys)
    if found not in ((None, None), (True, _checksum(plain))):
        raise DamagedFileError(f"{path} is damaged (its checksum does not match).")
    return plain


def _checksum(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
