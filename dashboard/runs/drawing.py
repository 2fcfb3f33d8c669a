"""One run on a page: where it stands, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.errors import errors_as_notices
from dashboard.runs.lookup import ACTIVE, record
from dashboard.runs.service import engine, store
from dashboard.runs.submission import check_room
from dashboard.runs.wording import STATE_WORDS, kept_sentence, sentence, title
from pmae_core.errors import JobError
from pmae_core.jobs import JobRecord, JobState
from pmae_core.jobs.store import RESUMABLE


def show_job(job: JobRecord, *, key: str) -> None:
    """Draw a job: its name, its state in a sentence, how far it is, and what can be done.

    Call it inside `watch`, so that it moves. `key` parts it from the same job elsewhere.
    """
    words = STATE_WORDS[job.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{title(job)}**", width="content")
        st.badge(words.label, icon=words.icon, color=words.color)
    show_progress(job)
    show_buttons(job, key=key)


def show_progress(job: JobRecord) -> None:
    """Draw where a job stands: a sentence, and a bar while it runs."""
    position = store().queue_position(job.id) if job.state is JobState.QUEUED else None
    text = sentence(job, position)
    if job.state is JobState.RUNNING:
        fraction = job.progress.fraction if job.progress else None
        st.progress(min(1.0, max(0.0, fraction or 0.0)), text=text)
    elif job.state is JobState.FAILED:
        st.error(text, icon=STATE_WORDS[job.state].icon)
    elif job.state is JobState.INTERRUPTED:
        st.warning(text, icon=STATE_WORDS[job.state].icon)
    else:
        st.markdown(text)


def show_buttons(job: JobRecord, *, key: str) -> None:
    """Draw what can be done with a job: cancel or resume it, remove it when it ended."""
    with st.container(horizontal=True, gap="small", key=f"{key}:{job.id}:buttons"):
        if job.state in ACTIVE:
            is_asked = job.cancel_requested_at is not None
            pressed = st.button(
                "Stopping …" if is_asked else "Cancel",
                icon=":material/stop_circle:",
                key=f"{key}:{job.id}:cancel",
                disabled=is_asked,
                help="Stops within seconds. Finished work is kept, and you can resume the run.",
            )
            return _do_if(pressed, _cancel, job.id)
        if job.state in RESUMABLE:
            pressed = st.button(
                "Resume",
                icon=":material/play_circle:",
                key=f"{key}:{job.id}:resume",
                help=kept_sentence(job),
            )
            _do_if(pressed, _resume, job.id)
        with st.popover("Remove", icon=":material/delete:", key=f"{key}:{job.id}:remove"):
            st.markdown("This removes the run and its results. You cannot undo this.")
            pressed = st.button("Remove permanently", key=f"{key}:{job.id}:remove-sure")
            _do_if(pressed, _remove, job.id)


def _do_if(pressed: bool, action: Callable[[str], None], job_id: str) -> None:
    """Do what a button says and draw the whole page anew, with a notice where that failed."""
    if pressed:
        errors_as_notices(action)(job_id)
        st.rerun()


def _own(job_id: str) -> JobRecord:
    """Return a job of this workspace, or raise a sentence if it is gone."""
    found = record(job_id)
    if found is None:
        raise JobError("This run no longer exists. It may have been removed in another tab.")
    return found


def _cancel(job_id: str) -> None:
    if _own(job_id).state in ACTIVE:  # it may have ended since the button was drawn
        engine().cancel(job_id)


def _resume(job_id: str) -> None:
    check_room()
    if _own(job_id).state in RESUMABLE:
        engine().resume(job_id)


def _remove(job_id: str) -> None:
    if record(job_id) is not None:
        store().delete(job_id)
