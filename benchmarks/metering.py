"""What a piece of work costs its process.

Our own methods and other packages are measured by the same code, so it needs the standard library
only: the environments of other packages do not have ours.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS = Path("/proc/self/status")


@contextmanager
def metered() -> Iterator[dict[str, float]]:
    """Measure a ``with`` block; the dict has its figures after the block.

    Memory is that of the whole process: at its peak, and before the block, when it holds little
    but libraries.
    """
    cost = {"libraries_megabytes": round(_peak_megabytes(), 1)}
    wall, cpu = time.perf_counter(), _cpu_seconds()
    yield cost
    cost["seconds"] = round(time.perf_counter() - wall, 2)
    cost["cpu_seconds"] = round(_cpu_seconds() - cpu, 2)
    cost["peak_megabytes"] = round(_peak_megabytes(), 1)


def _cpu_seconds() -> float:
    # All threads, and child processes that have ended.
    return sum(os.times()[:4])


def _peak_megabytes() -> float:
    # On Linux, getrusage starts with the peak of the process that started this one.
    if STATUS.exists():
        fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) / 1024
    # macOS counts bytes here, others kilobytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
