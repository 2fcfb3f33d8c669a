"""Parts of pages that follow runs while they go on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard.errors import shown_errors
from dashboard.runs.lookup import ACTIVE, record
from dashboard.runs.service import POLL_SECONDS, supervise
from pmae_core.jobs import JobRecord, JobState


def watch(draw: Callable[[list[JobRecord]], None], job_ids: Sequence[str]) -> None:
    """Draw a part of a page about jobs, and again every second while one of them goes on.

    When the state of one changes, the whole page is drawn anew, once. Without a job that waits
    or runs, the browser does not ask again.

    Parameters
    ----------
    draw
        Gets the records as they are now, in the order of the ids; those removed meanwhile are
        left out. What it draws stays in its place.
    job_ids
        Jobs of this workspace.
    """
    supervise()
    before = _states(_found(job_ids))
    is_active = any(state in ACTIVE for state in before.values())
    part = functools.partial(_draw_watched, draw, tuple(job_ids), before)
    st.fragment(part, run_every=POLL_SECONDS if is_active else None)()


def _draw_watched(
    draw: Callable[[list[JobRecord]], None], job_ids: Sequence[str], before: Mapping[str, JobState]
) -> None:
    with shown_errors():
        supervise()
        found = _found(job_ids)
        if _states(found) != before:
            st.rerun()
        draw(found)


def _found(job_ids: Sequence[str]) -> list[JobRecord]:
    return [found for job_id in job_ids if (found := record(job_id)) is not None]


def _states(found: Sequence[JobRecord]) -> dict[str, JobState]:
    return {one.id: one.state for one in found}
