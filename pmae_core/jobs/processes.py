"""Processes known by more than their number, which the system gives to later ones again."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
PROCESSES = Path("/proc")
# Of two times of creation; nothing that has a number again within it is taken for another.
TOLERANCE_SECONDS = 2.0
_CREATED = "created "
_START_TICKS = 19  # place of starttime in /proc/<pid>/stat, counted from the state


@dataclass(frozen=True)
class ProcessId:
    """A process of a machine.

    Attributes
    ----------
    pid : int
        Its number.
    birth : str
        Differs from that of a later process with the same number. On Linux it is the boot of the
        machine and the clock ticks from then to the start of the process: setting the clock
        changes neither. Elsewhere it is the time of creation, which those systems note once.
    host : str
        The machine.
    """

    pid: int
    birth: str
    host: str

    @classmethod
    def of(cls, pid: int) -> ProcessId | None:
        """Return a process of this machine; None if there is none with this number."""
        birth = _birth_by_ticks(pid)
        if birth is None:
            created = _created(pid)
            birth = None if created is None else f"{_CREATED}{created!r}"
        return None if birth is None else cls(pid, birth, socket.gethostname())

    @classmethod
    def current(cls) -> ProcessId:
        """Return the calling process."""
        found = cls.of(os.getpid())
        assert found is not None, "the calling process exists"
        return found

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ProcessId:
        """Return a process as the store has it; earlier releases stored the time of creation.

        Raises
        ------
        ValueError
            If it is not one.
        """
        pid, host = stored.get("pid"), stored.get("host")
        birth = stored["birth"] if "birth" in stored else f"{_CREATED}{stored.get('created')!r}"
        if not (isinstance(pid, int) and isinstance(birth, str) and isinstance(host, str)):
            raise ValueError("These are not the number, birth and host of a process.")
        if birth.startswith(_CREATED):
            float(birth.removeprefix(_CREATED))
        return cls(pid, birth, host)

    def exists(self) -> bool:
        """Return whether the process of this machine with this number is still the same one.

        One that has ended exists until its parent has noticed.
        """
        if not self.birth.startswith(_CREATED):
            return _birth_by_ticks(self.pid) == self.birth
        created = _created(self.pid)
        expected = float(self.birth.removeprefix(_CREATED))
        return created is not None and abs(created - expected) < TOLERANCE_SECONDS


def _birth_by_ticks(pid: int) -> str | None:
    """Return the boot and the start of a process in ticks; None where Linux does not tell."""
    try:
        boot = BOOT_ID.read_text().strip()
        stat = (PROCESSES / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name of the program stands in parentheses before, and may contain anything.
    return f"{boot} {stat.rpartition(')')[2].split()[_START_TICKS]}"


def _created(pid: int) -> float | None:
    """Return when a process was created, in seconds since 1970; None if there is none."""
    import psutil

    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return None
