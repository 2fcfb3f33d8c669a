"""The line on top of every page: which table is open, how much is missing, which jobs run."""

import functools

import streamlit as st

from dashboard import runs
from dashboard.state import notices, session
from dashboard.state.workspace import OpenTable, Workspace
from dashboard.text import plain, shorten
from dashboard.widgets.errors import sentence_of, shown_errors
from pmae_core.errors import PMAEError
from pmae_core.words import count, percent

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
            notices.notify("error", sentence_of(error))
        with shown_errors():  # a store that is busy is no reason to show no page
            show_jobs(session.workspace())
    # In a place of their own: a page that moves when they go loses the edit under way.
    with st.container():
        for kind, sentence in notices.take_notices():
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


def show_jobs(workspace: Workspace) -> None:
    """Draw the jobs; the browser asks again every few seconds only while there are some."""
    runs.supervise()
    runs.announce()
    unfinished = runs.unfinished(workspace.id)
    draw = functools.partial(_draw_jobs, workspace, bool(unfinished))
    st.fragment(draw, run_every=POLL_SECONDS if unfinished else None)()


def _draw_jobs(workspace: Workspace, expected: bool) -> None:
    with shown_errors():
        runs.supervise()
        unfinished = runs.unfinished(workspace.id)
        if unfinished:
            st.markdown(f":material/progress_activity: {unfinished.sentence()}", width="content")
        # Not in here: what a fragment announces is gone when the page is drawn anew.
        if runs.unheard() or (expected and not unfinished):
            st.rerun()
