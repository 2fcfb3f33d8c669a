"""What the page Train draws: the run and whether it learns, or the settings of the next one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import runs
from dashboard.runs.staleness import stale_sentence
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.train.run_view import show_run
from dashboard.train.settings_view import SECTION, show_settings
from dashboard.widgets import errors_as_notices
from pmae_core.jobs import JobKind, JobRecord

MOST_RUNS = 50
WHAT_IT_IS = (
    "The network masks some observed cells, learns to predict them from the other cells of the "
    "row, and then imputes the missing ones. Training continues if you close this tab."
)


def show_training(table: OpenTable) -> None:
    """Draw the page.

    Parameters
    ----------
    table : OpenTable
        The open table.
    """
    found = runs.records(kinds=[JobKind.TRAIN], limit=MOST_RUNS)
    if found:
        _show_with_runs(found, table)
    else:
        _show_first_state(table)


def _show_first_state(table: OpenTable) -> None:
    st.title("Train", anchor=False)
    st.markdown(WHAT_IT_IS)
    runs.show_damaged([JobKind.TRAIN], key=SECTION)
    show_settings(table)
    st.info(
        "No run yet. **Balanced** is a good first choice. Press **Start training**, and the "
        "learning curve appears here, relative to mean imputation.",
        icon=":material/model_training:",
    )


def _show_with_runs(found: Sequence[JobRecord], table: OpenTable) -> None:
    is_new = bool(session.workspace().get(SECTION).get("new"))
    title, choice, button = st.columns([1, 3, 1], gap="medium", vertical_alignment="bottom")
    title.title("Train", anchor=False)
    with choice:
        labels = runs.labels(found)
        chosen = memory.remembered(
            st.selectbox,
            "Run",
            section=SECTION,
            name="run",
            default=found[0].id,
            options=list(labels),
            format_func=labels.get,
            label_visibility="collapsed",
        )
    with button:
        st.button(
            "Hide settings" if is_new else "New run",
            icon=":material/close:" if is_new else ":material/add:",
            key=f"{SECTION}:new",
            on_click=errors_as_notices(lambda: memory.remember(SECTION, new=not is_new)),
            help=WHAT_IT_IS,
            width="stretch",
        )
    if is_new:
        with st.container(border=True):
            show_settings(table)
    runs.show_damaged([JobKind.TRAIN], key=SECTION)
    _watch(chosen, found, table)


def _watch(chosen: str, found: Sequence[JobRecord], table: OpenTable) -> None:
    def draw(records: list[JobRecord]) -> None:
        if not records:
            st.info("This run was removed. Choose another one.")
            return
        if notice := stale_sentence(records[0], table):
            st.warning(notice, icon=":material/history:")
        show_run(records[0], found)

    runs.watch(draw, [chosen])
