"""What background jobs need of a POSIX system: locks that end with their process, and groups.

Nothing else in the library needs them, so they are imported inside functions: without them the
library still works, only jobs do not run in the background.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pmae_core.errors import JobError


def require_posix() -> Any:
    """Return the module ``fcntl``.

    Raises
    ------
    JobError
        If the operating system does not have it.
    """
    try:
        import fcntl
    except ImportError as error:
        raise JobError(
            "Background jobs need a POSIX system such as Linux, macOS or WSL. "
            "Here, call the library directly, or use pmae impute and pmae compare.",
            code="posix",
        ) from error
    return fcntl


def hold_lock(path: Path) -> bool:
    """Lock a file until this process ends, however it ends; False if another process holds it."""
    fcntl = require_posix()
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    return True  # not closed on purpose: the lock lives as long as the descriptor


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Wait for the lock of a file, and hold it while the block runs.

    It holds between threads, too. A shared one keeps out only those that want it alone.
    """
    fcntl = require_posix()
    try:
        descriptor = os.open(path, os.O_RDONLY)  # works on a disk that is read-only
    except FileNotFoundError:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        # Closing is not enough: a process that was forked meanwhile would hold it on.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


class HeldFolder:
    """A folder that this process works in, and knows from another one of the same name.

    Parameters
    ----------
    path : Path
        The folder; made if it is missing.
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = path
        # While it is open, no other folder gets its number, even after it was deleted.
        self._descriptor = os.open(path, os.O_RDONLY)

    def is_there(self) -> bool:
        """Return whether the folder still is where it was: neither deleted nor moved."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except (FileNotFoundError, NotADirectoryError):
            return False


def signal_group(pid: int, *, kill: bool = True) -> None:
    """Kill a process and everything in its group, or ask it to terminate."""
    require_posix()
    os.killpg(pid, signal.SIGKILL if kill else signal.SIGTERM)
