"""What the page Compare draws: the settings at first, the answers as soon as there is a run."""

from __future__ import annotations

import streamlit as st

from dashboard import runs
from dashboard.compare.result_view import show_results
from dashboard.compare.settings_view import SECTION, show_settings
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from pmae_core.jobs import JobKind, JobRecord

MOST_RUNS = 50


def show_comparison(table: OpenTable) -> None:
    """Draw the page: settings alone, or the answers of a run with the settings folded away."""
    found = runs.records(kinds=[JobKind.COMPARE], limit=MOST_RUNS)
    if not found:
        _show_first_state(table)
        return
    title_place, run_place, new_place = st.columns(
        [3, 6, 3], gap="medium", vertical_alignment="center"
    )
    title_place.title("Compare", anchor=False)
    with run_place:
        run = _choose_run(found)
    # Known by the newest run: starting another folds the settings again.
    wants_another = new_place.toggle("New comparison", key=f"{SECTION}:new:{found[0].id}")
    if wants_another:
        with st.container(border=True):
            show_settings(table)
    runs.show_damaged([JobKind.COMPARE], key=SECTION)
    show_results(run, table)


def _show_first_state(table: OpenTable) -> None:
    st.title("Compare", anchor=False)
    st.markdown(
        "Which method imputes this table best, and does the choice change your result? Methods "
        "are scored on held-out cells, whose true values are known."
    )
    runs.show_damaged([JobKind.COMPARE], key=SECTION)
    show_settings(table)
    st.caption(
        "Quick methods come first. You can leave this page while slower ones are running.",
    )


def _choose_run(found: list[JobRecord]) -> JobRecord:
    by_id = {run.id: run for run in found}
    chosen = memory.remembered(
        st.selectbox,
        "Comparison",
        section=SECTION,
        name="run",
        default=found[0].id,
        options=list(by_id),
        format_func=runs.labels(found).get,
        label_visibility="collapsed",
    )
    return by_id[chosen]
