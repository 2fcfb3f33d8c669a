"""Words and figures about jobs, as ``pmae jobs`` prints them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from pmae_core.cli.options import as_text, show

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord, JobStore


def is_over(record: JobRecord) -> bool:
    """Say whether a job has ended, or waits to be resumed."""
    return record.state.is_final or record.state == "interrupted"


def state_sentence(store: JobStore, record: JobRecord) -> str:
    """Say in which state a job is, and where in the queue."""
    if record.state == "queued":
        return f"Queued, number {store.queue_position(record.id)} in the queue."
    if record.state == "running" and record.cancel_requested_at is not None:
        return "Running, asked to stop."
    return f"{str(record.state).capitalize()}."


def progress_text(record: JobRecord) -> str:
    """Say how far a job is, and when it will end."""
    if record.state != "running" or record.progress is None:
        return "" if is_over(record) else str(record.state)
    progress = record.progress
    parts = [progress.message]
    if progress.fraction is not None:
        parts.append(f"{progress.fraction:.0%}")
    if progress.eta_seconds is not None:
        parts.append(f"{duration(progress.eta_seconds)} left")
    return ", ".join(filter(None, parts))


def estimate_sentence(estimate: Mapping[str, Any]) -> str:
    """Say what a job will cost, and what it did cost if that is known."""
    low, high = duration(estimate["total_low"]), duration(estimate["total_high"])
    text = f"About {duration(estimate['total_seconds'])} ({low} to {high})"
    unknown = [cost["method"] for cost in estimate["per_method"] if cost["seconds"] is None]
    if unknown:
        text += f", without {', '.join(unknown)}"
    if estimate["memory_mb"] is not None:
        text += f", {estimate['memory_mb']:,.0f} MB"
    if estimate.get("ratio") is not None:
        actual = duration(estimate["actual_seconds"])
        text += f"; in fact {actual}, {estimate['ratio']:.2g} times the estimate"
    return f"{text}."


def seconds_taken(record: JobRecord) -> float | None:
    """Return how long a job has run, None if it has not."""
    if record.started_at is None:
        return None
    return (record.finished_at or time.time()) - record.started_at


def duration(seconds: float | None) -> str:
    """Write seconds for people."""
    if seconds is None:
        return ""
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(timestamp: float) -> str:
    """Write a time stamp in the local time."""
    return datetime.fromtimestamp(timestamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def plain_text(value: Any) -> str:
    """Write a value of a result as one text."""
    if isinstance(value, str):
        return value
    return "" if value in (None, [], {}) else json.dumps(value, ensure_ascii=False)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of text under their headers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*map(as_text, row))
    show(table)
