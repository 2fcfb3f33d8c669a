"""The line on top of every page: which table is open, how much is missing, which jobs run."""

import functools
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard import session
from dashboard.text import count, percent, plain, shorten
from dashboard.widgets.errors import sentence_of, shown_errors
from dashboard.workspace import OpenTable, Workspace
from pmae_core.errors import PMAEError
from pmae_core.home import pmae_home
from pmae_core.jobs import JobState, JobStore

POLL_SECONDS = 2.0


def show_header(data_page: st.Page) -> None:
    """Draw the header and the notices that wait."""
    with st.container(
        key="header", horizontal=True, vertical_alignment="center", gap="small", border=True
    ):
        try:
            _show_table(session.open_table(), data_page)
        except PMAEError as error:
            st.page_link(data_page, label="Open a table", icon=":material/table_view:")
            session.notify("error", sentence_of(error))
        show_jobs(session.workspace())
    for kind, sentence in session.take_notices():
        getattr(st, kind)(sentence)


def _show_table(table: OpenTable, data_page: st.Page) -> None:
    n_rows, n_columns = table.frame.shape
    st.page_link(
        data_page,
        label=f"**{plain(shorten(table.name, 40))}**",
        icon=":material/table_view:",
        help="The open table. Go to Data to open another one.",
    )
    share = share_missing(table.digest, table)
    missing = f"{percent(share)} missing" if share else "nothing missing"
    size = f"{count(n_rows, 'row')} × {count(n_columns, 'column')}"
    st.markdown(f"{size}, {missing}", width="content")


@st.cache_data(max_entries=16, show_spinner=False)
def share_missing(digest: str, _table: OpenTable) -> float:
    """Return the share of missing cells of a table."""
    return float(_table.frame.isna().sum().sum() / _table.frame.size)


# Jobs


@dataclass(frozen=True)
class JobCounts:
    """How many jobs of a workspace are not finished."""

    running: int = 0
    queued: int = 0

    def __bool__(self) -> bool:
        return bool(self.running or self.queued)

    def sentence(self) -> str:
        """Return them in words."""
        parts = {"running": self.running, "waiting": self.queued}
        return ", ".join(f"{count(n, 'job')} {word}" for word, n in parts.items() if n)


def show_jobs(workspace: Workspace) -> None:
    """Draw the jobs; the browser asks again every few seconds only while there are some."""
    jobs = unfinished_jobs(workspace)
    draw = functools.partial(_draw_jobs, workspace, bool(jobs))
    st.fragment(draw, run_every=POLL_SECONDS if jobs else None)()


def _draw_jobs(workspace: Workspace, expected: bool) -> None:
    with shown_errors():
        jobs = unfinished_jobs(workspace)
        if jobs:
            st.markdown(f":material/progress_activity: {jobs.sentence()}", width="content")
        elif expected:
            st.rerun()  # the last job ended: draw the page anew, and ask no more


def unfinished_jobs(workspace: Workspace) -> JobCounts:
    """Ask the store of jobs; without a store there are none."""
    home = pmae_home()
    if not (home / "jobs.sqlite").exists():
        return JobCounts()
    store = _job_store(home)
    return JobCounts(
        running=store.count(workspace.id, states=[JobState.RUNNING]),
        queued=store.count(workspace.id, states=[JobState.QUEUED]),
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _job_store(home: Path) -> JobStore:
    return JobStore(home)
