"""How much memory a block of code needs, as the operating system reports it."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Self

_STATM = Path("/proc/self/statm")
_MEGABYTE = 1024 * 1024
SAMPLE_SECONDS = 0.02


class PeakMemory:
    """Measure by how much a ``with`` block raises the memory of this process.

    On Linux a light thread reads the resident memory (``/proc/self/statm``) every 20 ms; the
    peak is the highest reading minus the first. Unlike ``tracemalloc`` this sees what NumPy,
    torch and other compiled code hold. It also counts libraries that are loaded for the first
    time inside the block. It does not see peaks shorter than 20 ms, memory reused from earlier
    work, child processes, or GPU memory.

    Elsewhere it is the growth of the highest memory of the process so far (``resource.getrusage``),
    which is 0 while the block stays below an earlier peak. If that is not available either, the
    result is None.

    Attributes
    ----------
    megabytes : float or None
        The peak, after the block.

    Examples
    --------
    >>> with PeakMemory() as peak:
    ...     numbers = bytearray(50 * 1024 * 1024)
    >>> peak.megabytes is None or peak.megabytes >= 0
    True
    """

    def __init__(self) -> None:
        self.megabytes: float | None = None

    def __enter__(self) -> Self:
        self._sampled = _STATM.exists()
        self._first = self._highest = self._read()
        if self._sampled:
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._sampled:
            self._stop.set()
            self._thread.join()
        self._note(self._read())
        if self._first is not None and self._highest is not None:
            self.megabytes = (self._highest - self._first) / _MEGABYTE

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._note(self._read())

    def _note(self, reading: int | None) -> None:
        if reading is not None and self._highest is not None:
            self._highest = max(self._highest, reading)

    def _read(self) -> int | None:
        return _resident_bytes() if self._sampled else _highest_bytes_so_far()


def _resident_bytes() -> int:
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _highest_bytes_so_far() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024
