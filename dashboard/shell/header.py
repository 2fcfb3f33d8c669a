"""The line on top of every page: which table is open, how much is missing, which runs go on."""

import functools
from collections.abc import Sequence

import streamlit as st

from dashboard import runs
from dashboard.state import notices, session
from dashboard.state.table_state import OpenTable, TableState
from dashboard.text import plain, shorten
from dashboard.widgets.errors import calm, sentence_of, shown_errors
from dashboard.widgets.links import page_link
from pmae_core.errors import PMAEError
from pmae_core.jobs import JobRecord
from pmae_core.words import count, percent

POLL_SECONDS = 2.0
MOST_RUNS = 5
LONGEST_NAME = 40


def show_header() -> None:
    """Draw the header and the notices that wait."""
    with st.container(key="header", horizontal=True, vertical_alignment="center", gap="small"):
        try:
            table = session.open_table()
        except PMAEError as error:
            _show_switcher(None)
            notices.notify("error", sentence_of(error))
        else:
            _show_switcher(table.state)
            st.markdown(about(table), width="content")
        with shown_errors():  # a store that is busy is no reason to show no page
            show_runs()
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
                on_click=calm(session.workspace().switch_to),
                args=(state.raw,),
            )
        page_link("data.py", "Open another table", ":material/add:")
        with st.expander("Open on another device", icon=":material/devices:"):
            st.caption(
                "This link opens your workspace with its tables and runs. Anyone who has it can "
                "see and change them."
            )
            st.code(session.link_to_workspace(), language=None, wrap_lines=True)


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


def show_runs() -> None:
    """Draw the runs; the browser asks again every few seconds only while some go on."""
    runs.supervise()
    runs.announce()
    active = runs.records(states=runs.ACTIVE)
    draw = functools.partial(_draw_runs, bool(active))
    st.fragment(draw, run_every=POLL_SECONDS if active else None)()


def _draw_runs(expected: bool) -> None:
    with shown_errors():
        runs.supervise()
        active = runs.records(states=runs.ACTIVE)
        recent = runs.records(limit=MOST_RUNS)
        if recent:
            icon = ":material/progress_activity:" if active else ":material/history:"
            with st.popover(runs_in_words(active), icon=icon, type="tertiary", key="runs"):
                for run in recent:
                    _show_run(run)
        # Not in here: what a fragment announces is gone when the page is drawn anew.
        if runs.unheard() or (expected and not active):
            st.rerun()


def _show_run(run: JobRecord) -> None:
    words = runs.STATE_WORDS[run.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        page = runs.PAGE_OF.get(run.kind)
        if page is None:
            st.markdown(runs.title(run), width="content")
        else:
            page_link(f"{page.lower()}.py", runs.title(run), words.icon)
        st.caption(f"{words.label} · {runs.browser_moment(run.created_at)}", width="content")


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
