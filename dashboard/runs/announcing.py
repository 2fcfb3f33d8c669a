"""A run that ended says so, on whatever page the user is."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from dashboard.runs.lookup import ACTIVE, listing
from dashboard.runs.service import store, store_exists
from dashboard.runs.submission import MOST_UNFINISHED, ORIGINS
from dashboard.runs.wording import STATE_WORDS, restoration_sentence, title
from dashboard.state import session
from dashboard.state.allowed_values import NumberWithin
from dashboard.state.notices import notify
from pmae_core.jobs import JobKind, JobRecord, JobState
from pmae_core.jobs.store import JobListing

MOST_TOASTS = 3
PAGE_OF = {JobKind.TRAIN: "Train", JobKind.COMPARE: "Compare", JobKind.IMPUTE: "Impute"}

_SECTION = "jobs"
_HEARD_KEY = "_jobs_heard_until"


def latest() -> JobListing:
    """Return the newest jobs of this workspace, newest first: all that the header tells of."""
    return listing(limit=2 * MOST_UNFINISHED)


def announce(known: Sequence[JobRecord], *, page: str) -> None:
    """Tell of the jobs that ended since this browser tab last heard of any; called by the header.

    What ended while no page was open is told when one opens again.

    Parameters
    ----------
    known
        As `latest` returns them, those that can be read.
    page
        The title of the page in sight, which shows the end of its own runs itself: a toast would
        cover it.
    """
    ended = unannounced(known)
    if not ended:
        return
    elsewhere = [one for one in ended if PAGE_OF.get(one.kind) != page]
    for one in elsewhere[-MOST_TOASTS:]:
        words = STATE_WORDS[one.state]
        st.toast(announcement(one), icon=words.icon, duration="short")
    until = max(one.finished_at or 0.0 for one in ended)
    st.session_state[_HEARD_KEY] = until
    if _kept_heard_until() < until:
        session.workspace().update(_SECTION, heard_until=until)


def announce_restoration(known: Sequence[JobRecord]) -> None:
    """Say once to each workspace with runs that the list of runs was restored after damage.

    Parameters
    ----------
    known
        As for `announce`.
    """
    restored = store().restorations() if store_exists() else []
    own = session.workspace()
    if not restored or restored[0].at <= own.get(_SECTION).get("restoration_heard", 0.0):
        return
    had_runs = bool(own.get(ORIGINS))
    if had_runs or known:
        notify("warning", restoration_sentence(restored[0]))
    own.update(_SECTION, restoration_heard=restored[0].at)


def unannounced(known: Sequence[JobRecord]) -> list[JobRecord]:
    """Return those of some jobs whose end was not told in this tab, the earliest first."""
    ended = [one for one in known if one.state not in ACTIVE]
    if _HEARD_KEY not in st.session_state:  # from now on, what another tab hears is its own
        st.session_state[_HEARD_KEY] = _kept_heard_until()
    until = st.session_state[_HEARD_KEY]
    new = [one for one in ended if (one.finished_at or 0.0) > until]
    return sorted(new, key=lambda one: one.finished_at or 0.0)


def _kept_heard_until() -> float:
    """Return until when this workspace heard of all runs; 0 if what it keeps is no moment."""
    kept = session.workspace().get(_SECTION).get("heard_until")
    return kept if NumberWithin(0.0, time.time()).allows(kept) else 0.0


def announcement(ended: JobRecord) -> str:
    """Return what to say of a job that ended, as Markdown."""
    words = {
        JobState.SUCCEEDED: "is done.",
        JobState.FAILED: "failed.",
        JobState.CANCELLED: "was cancelled.",
        JobState.INTERRUPTED: "was interrupted.",
    }[ended.state]
    page = PAGE_OF.get(ended.kind)
    see = f" See the page {page}." if page and ended.state is not JobState.CANCELLED else ""
    return f"**{title(ended)}** {words}{see}"
