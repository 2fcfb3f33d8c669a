"""Runs in words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta, timezone

import streamlit as st

from dashboard.text import plain
from pmae_core.jobs import JobKind, JobRecord, JobState
from pmae_core.jobs.store import DamagedJob, Restoration
from pmae_core.words import count, duration, moment, time_left


@dataclass(frozen=True)
class StateWords:
    """How a state is called and what it looks like."""

    label: str
    icon: str
    color: str


STATE_WORDS: Mapping[JobState, StateWords] = {
    JobState.QUEUED: StateWords("Waiting", ":material/hourglass_empty:", "gray"),
    JobState.RUNNING: StateWords("Running", ":material/progress_activity:", "blue"),
    JobState.SUCCEEDED: StateWords("Done", ":material/check_circle:", "green"),
    JobState.FAILED: StateWords("Failed", ":material/error:", "red"),
    JobState.CANCELLED: StateWords("Cancelled", ":material/cancel:", "gray"),
    JobState.INTERRUPTED: StateWords("Interrupted", ":material/warning:", "orange"),
}


def title(job: JobRecord) -> str:
    """Return a job's name as Markdown."""
    return plain(job.name or f"{str(job.kind).capitalize()} {job.id[:8]}")


def damaged_title(job: DamagedJob) -> str:
    """Return what a run whose record cannot be read is called, as Markdown."""
    return plain(job.name or f"Run {(job.id or '')[:8]}".strip())


def restoration_sentence(restored: Restoration) -> str:
    """Say that the list of runs was damaged and what became of it, as Markdown."""
    source = "the folders of the runs"
    if restored.backup_at is not None:
        source = f"the backup of {browser_moment(restored.backup_at)} and {source}"
    return (
        f"The list of runs was damaged and has been restored from {source}. Runs whose state was "
        "lost are marked as interrupted: resume them to continue."
    )


def labels(jobs: Sequence[JobRecord]) -> dict[str, str]:
    """Return jobs by id as lines of a list: the name, and when it was handed in.

    A browser knows an option by its line. So no two are the same, and a job keeps its own
    whatever becomes of it: else the choice would jump to another job when its state changes.
    """
    lines = {
        job.id: f"{job.name or job.id[:8]} · {browser_moment(job.created_at, '%d %b %H:%M:%S')}"
        for job in jobs
    }
    times = Counter(lines.values())
    return {
        job_id: line if times[line] == 1 else f"{line} · {job_id[:4]}"
        for job_id, line in lines.items()
    }


def browser_moment(timestamp: float, form: str = "%d %b %H:%M") -> str:
    """Return a time as the clock of the browser shows it."""
    offset = st.context.timezone_offset
    zone = None if offset is None else timezone(timedelta(minutes=-offset))
    return moment(timestamp, form, zone)


def seconds_taken(job: JobRecord, now: float | None = None) -> float | None:
    """Return how long the last attempt took, or has taken so far; None before the first."""
    if job.started_at is None:
        return None
    return max(0.0, (job.finished_at or now or time.time()) - job.started_at)


def sentence(job: JobRecord, position: int | None = None, now: float | None = None) -> str:
    """Say in words where a job stands, as Markdown.

    Parameters
    ----------
    job
        The job.
    position
        Of a waiting job in the queue.
    now
        The time; that of the clock by default.
    """
    taken = seconds_taken(job, now)
    after = "" if taken is None else f" after {duration(taken)}"
    match job.state:
        case JobState.QUEUED:
            return _waiting_sentence(position)
        case JobState.RUNNING if job.cancel_requested_at is not None:
            return "Stopping, which takes a few seconds. Finished work is kept."
        case JobState.RUNNING:
            return _running_sentence(job, now)
        case JobState.SUCCEEDED:
            return "Done." if taken is None else f"Done in {duration(taken)}."
        case JobState.FAILED:
            return f"Failed{after}. {plain(job.error or 'The reason is unknown.')}"
        case JobState.CANCELLED:
            return f"Cancelled{after}. {kept_sentence(job)}"
        case _:
            why = plain(job.error or "The worker process ended.")
            return f"Interrupted{after}. {why} {kept_sentence(job)}"


def _waiting_sentence(position: int | None) -> str:
    if position is None:
        return "Waiting in the queue."
    if position == 1:
        return "Next in the queue; starts as soon as there is room."
    return f"Waiting: {count(position - 1, 'run')} ahead in the queue. You can close this tab."


def _running_sentence(job: JobRecord, now: float | None) -> str:
    progress = job.progress
    parts = [plain(progress.message) if progress and progress.message else "Starting"]
    if progress is not None and progress.eta_seconds is not None:
        parts.append(time_left(progress.eta_seconds))
    taken = seconds_taken(job, now)
    if taken is not None:
        parts.append(f"running for {duration(taken)}")
    return f"{', '.join(parts)}. You can close this tab."


def kept_sentence(job: JobRecord) -> str:
    """Say what is left of a run that did not end."""
    if job.attempt == 0:
        return "It had not started."
    if job.kind in (JobKind.COMPARE, JobKind.BENCHMARK):
        return "Finished parts are kept; Resume runs the rest."
    return "Resume continues from the last checkpoint, if there is one."
