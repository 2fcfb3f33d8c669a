"""What an upload may take, as the server's administrator says in the environment."""

from __future__ import annotations

import sys

from dashboard.state.environment import environment_number
from pmae_core.errors import TableError
from pmae_core.table import ReadingLimits
from pmae_core.table.io.limits import DEFAULT_LIMITS
from pmae_core.table.io.reading_process import DEFAULT_PROCESS_LIMITS, ProcessLimits


def table_limits() -> ReadingLimits:
    """Return how large the table of an upload may be."""
    most = _number("PMAE_UPLOAD_COLUMNS", DEFAULT_LIMITS.max_columns, "a number of columns")
    return ReadingLimits(max_columns=int(most) or sys.maxsize)


def process_limits() -> ProcessLimits:
    """Return how long reading an upload may take, and how much memory."""
    usual = DEFAULT_PROCESS_LIMITS
    gigabytes = _number("PMAE_UPLOAD_MEMORY_GB", usual.memory_bytes / 1e9, "a number of gigabytes")
    return ProcessLimits(
        seconds=_number("PMAE_UPLOAD_SECONDS", usual.seconds, "a number of seconds"),
        memory_bytes=round(1e9 * gigabytes),
    )


def _number(variable: str, default: float, what: str) -> float:
    return environment_number(
        variable, default, advice=f"{what}, or to 0 for no limit", error=TableError
    )
