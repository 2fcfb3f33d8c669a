"""The log of a worker: what it prints, as far as the disk takes it."""

from __future__ import annotations

import io
import sys

STDOUT, STDERR = 1, 2


class _ForgivingFile(io.FileIO):
    """A file that drops what cannot be written, as on a full disk; the work matters more."""

    def write(self, data: object) -> int:
        """Write, or drop what cannot be written."""
        try:
            written = super().write(data)  # type: ignore[arg-type]
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written  # type: ignore[arg-type]


def print_as_far_as_possible() -> None:
    """Let what this process prints, tracebacks included, never raise an error.

    A log on a full disk would otherwise end whatever prints: the work, or the thread that reports
    on it.
    """
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.BufferedWriter(_ForgivingFile(descriptor, "w", closefd=False)),
            encoding="utf-8",
            errors="backslashreplace",
            line_buffering=True,
        )
        for descriptor in (STDOUT, STDERR)
    )
