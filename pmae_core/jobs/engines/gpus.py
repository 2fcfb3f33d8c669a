"""The GPUs of this machine, and how workers share them through locks."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import time
from pathlib import Path

from pmae_core.errors import JobError
from pmae_core.jobs.posix import hold_lock
from pmae_core.words import count as counted

VISIBLE = "CUDA_VISIBLE_DEVICES"
WAIT_SECONDS = 60.0


@functools.cache
def visible_gpus() -> tuple[str, ...]:
    """Return CUDA's names of the GPUs that may be used, without importing torch."""
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


def reserve_gpus(home: Path, names: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Reserve some GPUs for this process until it ends.

    A GPU belongs to the process that holds the lock on its file. The operating system releases
    the locks of a process that dies, however it dies.

    Parameters
    ----------
    home : Path
        The home of jobs.
    names : tuple of str
        The GPUs of this machine.
    count : int
        How many to reserve.

    Raises
    ------
    JobError
        If they do not become free.
    """
    taken: list[str] = []
    give_up_at = time.monotonic() + WAIT_SECONDS
    while len(taken) < count:
        for name in names:
            if name in taken or len(taken) == count:
                continue
            if hold_lock(home / f"gpu-{name.replace('/', '_')}.lock"):
                taken.append(name)
        if len(taken) < count:
            if time.monotonic() > give_up_at:
                raise JobError(
                    f"The job needs {counted(count, 'GPU')}, but only {len(taken)} of "
                    f"{len(names)} became free. Wait until other jobs end, or ask for fewer."
                )
            time.sleep(0.5)
    return tuple(taken)
