"""The folders of the dashboard's users: whose they are, and when they were used last.

What is inside is the dashboard's business. The clean-up of a home needs no more than this.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from pmae_core.storage.home import pmae_home

# A folder that is used has this file; its time is that of the last use.
LAST_USED = "last_used"

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
_ID = re.compile(r"[0-9a-f]{32}")
_LOCK = ".lock"


def workspaces_folder(home: Path | None = None) -> Path:
    """Return where the workspaces of all users are."""
    return (home or pmae_home()) / "workspaces"


def is_token(name: str) -> bool:
    """Return whether a name has the form of the secret that opens a workspace."""
    return _TOKEN.fullmatch(name) is not None


def workspace_id(token: str) -> str:
    """Return the owner of a workspace's jobs, from which its token cannot be told.

    Examples
    --------
    >>> is_workspace_id(workspace_id("a" * 32)), is_workspace_id("local")
    (True, False)
    """
    return hashlib.sha256(token.encode()).hexdigest()[:32]


def is_workspace_id(owner: str) -> bool:
    """Return whether the owner of a job has the form of a workspace's id."""
    return _ID.fullmatch(owner) is not None


def workspace_folders(home: Path) -> Iterator[Path]:
    """Yield the folders of all workspaces; links and anything else are left out."""
    root = workspaces_folder(home)
    for folder in root.iterdir() if root.is_dir() else ():
        if is_token(folder.name) and folder.is_dir() and not folder.is_symlink():
            yield folder


def last_used(folder: Path) -> float:
    """Return when a workspace was used last, in seconds since 1970; infinity if it is gone."""
    for path in (folder / LAST_USED, folder):
        with contextlib.suppress(FileNotFoundError):
            return path.stat().st_mtime
    return math.inf


def note_use(folder: Path, at: float) -> None:
    """Note that a workspace was in use at some time, unless it was used later."""
    if at > last_used(folder):
        with contextlib.suppress(FileNotFoundError):  # deleted just now
            (folder / LAST_USED).touch()
            os.utime(folder / LAST_USED, (at, at))


def is_unused(folder: Path, days: float, now: float | None = None) -> bool:
    """Return whether nobody used a workspace for so many days; never if that is 0."""
    now = time.time() if now is None else now
    return days > 0 and now - last_used(folder) > days * 86400


def remove_workspace(folder: Path) -> None:
    """Remove a workspace.

    It is renamed first, so that no other process finds it half removed.
    """
    going = folder.with_name(f".{folder.name}.going")
    try:
        folder.rename(going)
    except FileNotFoundError:
        return
    shutil.rmtree(going, ignore_errors=True)


def abandoned_files(home: Path, before: float) -> Iterator[Path]:
    """Yield what broken work left in workspaces: files half written, folders half removed.

    Parameters
    ----------
    home
        The home of the workspaces.
    before
        What changed later, in seconds since 1970, may still be written.
    """
    root = workspaces_folder(home)
    half_removed = list(root.glob(".*.going"))
    half_written = (
        path
        for folder in workspace_folders(home)
        for path in folder.rglob(".*")
        if path.name != _LOCK
    )
    for path in (*half_removed, *half_written):
        try:
            if path.lstat().st_mtime < before:
                yield path
        except FileNotFoundError:  # finished just now
            continue
