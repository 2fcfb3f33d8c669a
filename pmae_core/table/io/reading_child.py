"""The process in which :class:`~pmae_core.table.io.reading_process.ReadingProcess` reads a file.

It gets a request as JSON on its standard input and the file as an open descriptor, and writes the
answer to its standard output. It is given no path, so that none can get into a message or a log.
"""

import contextlib
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any, BinaryIO

from pmae_core.errors import PMAEError, TableError, TableTooLargeError
from pmae_core.table.io.crossing import write_error, write_table_file
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.reading import TableFile, read_table_file

# Pages come first. Jobs have the same priority.
NICENESS = 5
# The most that Linux allows: if memory is short, this process is ended instead of the server.
_FIRST_TO_END = "1000"


def main() -> None:
    """Read the file of a request within its limits, and write the answer."""
    request = json.load(sys.stdin)
    # Nobody has to watch the time: the signal ends this process, whatever it does.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, request["seconds"])
    os.nice(NICENESS)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # in a container that forbids it
            Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_END)
        _limit_memory(request["memory_bytes"])
    name = request["options"]["name"]
    try:
        table = _read(request)
        with _answer_file() as file:
            write_table_file(file, table)
    except MemoryError:
        _answer_with(TableTooLargeError(f"{name!r} does not fit into memory.", code="memory"))
    except OSError as error:
        _answer_with(
            TableError(
                f"Reading {name!r} failed: {error.strerror or error}.",
                advice="Check whether the disk for temporary files is full.",
            )
        )
    except PMAEError as error:
        _answer_with(error)


def _read(request: dict[str, Any]) -> TableFile:
    with open(request["descriptor"], "rb") as file:
        return read_table_file(
            file, limits=ReadingLimits(**request["limits"]), **request["options"]
        )


def _limit_memory(n_bytes: int) -> None:
    """Limit what this process takes from now on; 0 for no limit. Only Linux enforces it."""
    if n_bytes:
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = n_pages * resource.getpagesize() + n_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _answer_with(error: PMAEError) -> None:
    """Write an error, in place of a table that was written in part."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))  # if memory was short, this needs some
    os.ftruncate(sys.stdout.fileno(), 0)
    with _answer_file() as file:
        file.seek(0)
        write_error(file, error)


def _answer_file() -> BinaryIO:
    """Open the standard output; what cannot be written is known when it is closed."""
    return open(os.dup(sys.stdout.fileno()), "wb")


if __name__ == "__main__":
    main()
