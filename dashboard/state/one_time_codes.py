"""Codes that let one other browser into a workspace: once, and within some minutes.

The home has one small file per code. Its name is the code's hash, so a code cannot be read from
it, and removing it is the moment at which the code is used: of two browsers that come at once,
the file system lets one remove it. It knows nothing of Streamlit.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from dashboard.state.workspace import Workspace
from pmae_core.storage.files import write_whole
from pmae_core.storage.home import pmae_home

MINUTES = 15


@dataclass(frozen=True)
class OneTimeCode:
    """A code that was made, and when it expires (seconds since 1970)."""

    code: str
    expires_at: float


def create_code(
    workspace: Workspace, home: Path | None = None, *, now: float | None = None
) -> OneTimeCode:
    """Make a code that opens a workspace once; expired codes are removed on the way."""
    now = time.time() if now is None else now
    folder = _folder(home)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_expired(folder, now)
    made = OneTimeCode(secrets.token_urlsafe(24), now + 60 * MINUTES)
    document = {"workspace": workspace.token, "expires_at": made.expires_at}
    write_whole(_path(folder, made.code), json.dumps(document))
    return made


def redeem_code(code: str, home: Path | None = None, *, now: float | None = None) -> str | None:
    """Use a code and return the token of its workspace; None if it is used, expired or wrong."""
    path = _path(_folder(home), code)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
    except FileNotFoundError:
        return None
    now = time.time() if now is None else now
    return str(document["workspace"]) if now < document["expires_at"] else None


def revoke_codes(workspace: Workspace, home: Path | None = None) -> None:
    """Remove all codes that open a workspace."""
    for path in _files(_folder(home)):
        # A code that is used or half written at this moment opens nothing.
        with contextlib.suppress(FileNotFoundError, ValueError):
            if json.loads(path.read_text(encoding="utf-8"))["workspace"] == workspace.token:
                path.unlink(missing_ok=True)


def remove_expired(home: Path | None = None, *, now: float | None = None) -> None:
    """Remove codes that can no longer be used."""
    _remove_expired(_folder(home), time.time() if now is None else now)


def is_waiting(made: OneTimeCode, home: Path | None = None, *, now: float | None = None) -> bool:
    """Say whether a code can still be used."""
    now = time.time() if now is None else now
    return now < made.expires_at and _path(_folder(home), made.code).exists()


def _folder(home: Path | None) -> Path:
    return (home or pmae_home()) / "one_time_codes"


def _path(folder: Path, code: str) -> Path:
    return folder / hashlib.sha256(code.encode()).hexdigest()


def _remove_expired(folder: Path, now: float) -> None:
    for path in _files(folder):
        # A file's age says the same as its content, and also goes for one left half written.
        with contextlib.suppress(FileNotFoundError):
            if now - path.stat().st_mtime > 60 * MINUTES:
                path.unlink()


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
