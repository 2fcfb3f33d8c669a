"""The line on top of every page: which table is open, how much is missing, which runs go on."""

import functools
from collections.abc import Sequence

import streamlit as st

from dashboard import runs
from dashboard.errors import errors_as_notices, fragment, sentence_of, shown_errors
from dashboard.state import notices, session
from dashboard.state.table_state import OpenTable, TableState
from dashboard.text import plain
from dashboard.widgets.links import page_link
from dashboard.widgets.qr_code import show_qr
from pmae_core.errors import PMAEError
from pmae_core.jobs import JobRecord
from pmae_core.jobs.store import DamagedJob
from pmae_core.words import count, percent, shorten

POLL_SECONDS = 2.0
MOST_RUNS = 5
LONGEST_NAME = 40


def show_header(page: str) -> None:
    """Draw the header of a page, and the notices that wait.

    Parameters
    ----------
    page
        The title of the page below.
    """
    with st.container(key="header", horizontal=True, vertical_alignment="center", gap="small"):
        try:
            table = session.open_table()
        except PMAEError as error:
            _show_switcher(None)
            notices.notify("error", sentence_of(error))
        else:
            _show_switcher(table.state)
            st.markdown(about(table), width="content")
        try:
            show_runs(page)
        except Exception as error:  # a store that is busy is no reason to show no page
            notices.notify("error", sentence_of(error))
    # In a place of their own: a page that moves when they go loses the edit under way.
    with st.container():
        notices.show_notices()


# The table


def _show_switcher(open_state: TableState | None) -> None:
    """Draw the name of the open table; below it the way to others, and to other devices."""
    name = plain(shorten(open_state.name, LONGEST_NAME)) if open_state else "Open a table"
    with st.popover(f"**{name}**", icon=":material/table_view:", type="tertiary", key="switcher"):
        others = [
            state
            for state in session.workspace().recent_tables()
            if open_state is None or state.raw != open_state.raw
        ]
        if others:
            st.caption("Recent tables")
        for state in others:
            st.button(
                plain(shorten(state.name, LONGEST_NAME)),
                key=f"switch:{state.raw}",
                icon=":material/table_view:",
                type="tertiary",
                help=plain(state.source),
                on_click=errors_as_notices(session.workspace().switch_to),
                args=(state.raw,),
            )
        page_link("data.py", "Open another table", ":material/add:")
        if session.has_previous_workspace():
            st.button(
                "Return to the previous workspace",
                key="previous-workspace",
                icon=":material/undo:",
                type="tertiary",
                help="The one that this browser had before it opened a link",
                on_click=errors_as_notices(session.return_to_previous_workspace),
            )
        with st.expander("Open on another device", icon=":material/devices:"):
            _show_link_to_workspace()


@fragment
def _show_link_to_workspace() -> None:
    """Draw the way to a link that opens the workspace in one other browser."""
    st.caption(
        "A link opens your workspace, with its tables and runs, in one other browser, which can "
        "then see and change them."
    )
    link = session.link_to_workspace()
    st.button(
        "Create another link" if link else "Create a link",
        key="create-link",
        icon=":material/add_link:",
        on_click=errors_as_notices(session.create_link_to_workspace),
    )
    if link is None:
        return
    if not link.works:
        st.caption("Your last link was used or has expired.")
        return
    st.code(link.address, language=None, wrap_lines=True)
    until = runs.browser_moment(link.made.expires_at, "%H:%M")
    st.caption(f"Works once, until {until}. Open it there, or scan the code.")
    show_qr(link.address, caption="QR code of the link", width=200)


def about(table: OpenTable) -> str:
    """Return the size of a table, and how much of it is missing."""
    n_rows, n_columns = table.frame.shape
    share = share_missing(table.digest, table)
    missing = f"{percent(share)} missing" if share else "nothing missing"
    return f"{count(n_rows, 'row')} × {count(n_columns, 'column')}, {missing}"


@st.cache_data(max_entries=16, show_spinner=False)
def share_missing(digest: str, _table: OpenTable) -> float:
    """Return the share of missing cells of a table."""
    return float(_table.frame.isna().sum().sum() / _table.frame.size)


# Runs


def show_runs(page: str) -> None:
    """Draw the runs; the browser asks again every few seconds only while some go on.

    The end of a run is announced, except on its own page, which shows it.
    """
    runs.supervise()
    latest = runs.latest().jobs
    runs.announce(latest, page=page)
    runs.announce_restoration(latest)
    is_active = bool(_active(latest))
    draw = functools.partial(_draw_runs, is_active)
    st.fragment(draw, run_every=POLL_SECONDS if is_active else None)()


def _draw_runs(expected: bool) -> None:
    with shown_errors():
        runs.supervise()
        found = runs.latest()
        latest, damaged = found.jobs, found.damaged
        active = _active(latest)
        if latest or damaged:
            icon = ":material/progress_activity:" if active else ":material/history:"
            with st.popover(runs_in_words(active), icon=icon, type="tertiary", key="runs"):
                for run in latest[:MOST_RUNS]:
                    _show_run(run)
                for job in damaged[:MOST_RUNS]:
                    _show_damaged(job)
        # Not in here: what a fragment announces is gone when the page is drawn anew.
        if runs.unannounced(latest) or (expected and not active):
            st.rerun()


def _active(known: Sequence[JobRecord]) -> list[JobRecord]:
    return [run for run in known if run.state in runs.ACTIVE]


def _show_run(run: JobRecord) -> None:
    words = runs.STATE_WORDS[run.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        page = runs.PAGE_OF.get(run.kind)
        if page is None:
            st.markdown(runs.title(run), width="content")
        else:
            page_link(f"{page.lower()}.py", runs.title(run), words.icon)
        st.caption(f"{words.label} · {runs.browser_moment(run.created_at)}", width="content")


def _show_damaged(job: DamagedJob) -> None:
    when = "" if job.created_at is None else f" · {runs.browser_moment(job.created_at)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(runs.damaged_title(job), width="content")
        st.caption(f"Damaged{when}", width="content")
        runs.remove_button(job, key="header")


def runs_in_words(active: Sequence[JobRecord]) -> str:
    """Return how many runs go on and wait, and how far a single one is."""
    waiting = sum(run.started_at is None for run in active)
    running = [run for run in active if run.started_at is not None]
    parts = [f"{count(len(running), 'run')} active"] if running else []
    if len(running) == 1 and running[0].progress and running[0].progress.fraction:
        parts = [f"1 run at {running[0].progress.fraction:.0%}"]
    if waiting:
        parts.append(f"{count(waiting, 'run')} waiting")
    return ", ".join(parts) or "Runs"
