"""The GPUs of this machine, and how workers share them out without a referee."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import time
from pathlib import Path

from pmae_core.errors import JobError

VISIBLE = "CUDA_VISIBLE_DEVICES"
WAIT_SECONDS = 60.0


@functools.cache
def visible_gpus() -> tuple[str, ...]:
    """Return the names by which CUDA knows the GPUs that may be used; torch is not imported."""
    listed = os.environ.get(VISIBLE)
    if listed is not None:
        return tuple(name for name in listed.split(",") if name.strip() not in ("", "-1"))
    command = shutil.which("nvidia-smi")
    if command is None:
        return ()
    try:
        answer = subprocess.run([command, "-L"], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return ()
    lines = answer.stdout.splitlines() if answer.returncode == 0 else []
    return tuple(str(i) for i, line in enumerate(lines) if line.startswith("GPU "))


def take_gpus(home: Path, names: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Take some GPUs for this process alone, until it ends.

    A GPU belongs to whoever holds the lock on its file, and the operating system lets go of the
    locks of a process that dies, however it dies.

    Parameters
    ----------
    home : Path
        The home of jobs.
    names : tuple of str
        The GPUs there are.
    count : int
        How many to take.

    Raises
    ------
    JobError
        If they do not become free.
    """
    import fcntl

    taken: list[str] = []
    give_up_at = time.monotonic() + WAIT_SECONDS
    while len(taken) < count:
        for name in names:
            if name in taken or len(taken) == count:
                continue
            # Not closed on purpose: the lock lives as long as the descriptor.
            lock = os.open(home / f"gpu-{name.replace('/', '_')}.lock", os.O_CREAT | os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                taken.append(name)
            except BlockingIOError:
                os.close(lock)
        if len(taken) < count:
            if time.monotonic() > give_up_at:
                raise JobError(
                    f"The job needs {count} GPU(s), and only {len(taken)} of {len(names)} are free."
                )
            time.sleep(0.5)
    return tuple(taken)
