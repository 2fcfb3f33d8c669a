"""Words about jobs, as ``pmae jobs`` prints them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pmae_core.words import (
    count,
    duration,
    duration_range,
    expected_duration,
    listed,
    percent,
)

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord, JobStore


def is_over(record: JobRecord) -> bool:
    """Say whether a job has ended, or waits to be resumed."""
    return record.state.is_final or record.state == "interrupted"


def state_sentence(store: JobStore, record: JobRecord) -> str:
    """Say in which state a job is, and where in the queue."""
    if record.state == "queued":
        position = store.queue_position(record.id)
        return "Queued." if position is None else f"Queued, number {count(position)} in the queue."
    if record.state == "running" and record.cancel_requested_at is not None:
        return "Running, asked to stop."
    return f"{str(record.state).capitalize()}."


def progress_text(record: JobRecord) -> str:
    """Say how far a job is, and how long it will take."""
    if record.state != "running" or record.progress is None:
        return "" if is_over(record) else str(record.state)
    progress = record.progress
    parts = [progress.message]
    if progress.fraction is not None:
        parts.append(percent(progress.fraction))
    if progress.eta_seconds is not None:
        parts.append(f"{duration(progress.eta_seconds)} left")
    return ", ".join(filter(None, parts))


def estimate_sentence(estimate: Mapping[str, Any]) -> str:
    """Say what a job will cost and, once it is known, what it did cost."""
    ends = (estimate[f"total_{end}"] for end in ("seconds", "low", "high"))
    text = expected_duration(*ends)
    text = text[0].upper() + text[1:]
    unknown = [cost["method"] for cost in estimate["per_method"] if cost["seconds"] is None]
    if unknown:
        text += f", without {listed(unknown, most=len(unknown))}"
    if estimate["memory_mb"] is not None:
        text += f", {megabytes(estimate['memory_mb'])}"
    if estimate.get("actual_seconds") is not None:
        text += f"; it took {duration(estimate['actual_seconds'])}"
    return f"{text}."


def range_text(low: float | None, high: float | None) -> str:
    """Return a range of times; nothing for an unknown one.

    Examples
    --------
    >>> range_text(50, 8000), range_text(None, None)
    ('50 s to 3 h', '')
    """
    return "" if low is None or high is None else duration_range(low, high)


def megabytes(number: float | None) -> str:
    """Return an amount of memory; nothing for an unknown one.

    Examples
    --------
    >>> megabytes(1234.5), megabytes(None)
    ('1,234 MB', '')
    """
    return "" if number is None else f"{count(round(number))} MB"


def seconds_taken(record: JobRecord) -> float | None:
    """Return how long a job has run, None if it has not."""
    if record.started_at is None:
        return None
    # The clock may have been set back since.
    return max(0.0, (record.finished_at or time.time()) - record.started_at)


def value_text(value: Any) -> str:
    """Return a value of a result as text; nothing for an empty one."""
    if isinstance(value, str):
        return value
    return "" if value in (None, [], {}) else json.dumps(value, ensure_ascii=False)
