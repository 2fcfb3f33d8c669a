"""What the page Impute draws: the answer first, the marked table, then details on demand."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.impute import summary
from dashboard.impute.choose import SECTION, choose_imputation, shown_imputation
from dashboard.impute.columns_view import show_columns, show_distribution, show_members
from dashboard.impute.completed_tables import (
    CompletedTable,
    column_remarks,
    comparison_of,
    imputation_runs,
    is_done,
    load,
)
from dashboard.impute.run_view import chosen_answer, show_early_answer, show_run
from dashboard.impute.settings_view import show_settings
from dashboard.impute.shift_view import show_shift
from dashboard.impute.table_view import show_table
from dashboard.runs.staleness import digest_of
from dashboard.state.table_state import OpenTable
from dashboard.text import plain
from dashboard.widgets import choose_view, fragment
from pmae_core.jobs import JobKind, JobRecord

COLUMNS, DISTRIBUTION, SHIFT, MEMBERS = (
    "Columns to trust",
    "Distribution",
    "What-if shift",
    "Members",
)
INTRODUCTION = (
    "Every imputed cell is marked. Select one to see each method's value, its spread, and the "
    "most similar rows."
)


def show_impute(table: OpenTable) -> None:
    """Draw the page: the settings at first, and once there is a run, its result."""
    found = imputation_runs()
    if any(run.spec.table == digest_of(table) for run in found):
        record = _show_heading(table, newest=found[0])
    else:
        record = _show_first_settings(table)
    runs.show_damaged([JobKind.IMPUTE], key=SECTION)
    if record is None:
        return
    _show_result(record, table)
    _show_history(found, record)


def _show_first_settings(table: OpenTable) -> JobRecord | None:
    """Draw the settings in full: nothing of the open table is imputed yet."""
    st.title("Impute", anchor=False)
    st.markdown(f"Replace the missing values of your table. {INTRODUCTION}")
    show_settings(table, is_wide=True)
    record = choose_imputation(table)
    if record is None:
        st.caption(
            ":material/info: The run continues in the background. The imputed table appears here."
        )
    return record


def _show_heading(table: OpenTable, newest: JobRecord) -> JobRecord | None:
    """Draw the title, which imputation is shown, and the settings folded away."""
    title_place, choice_place, again_place = st.columns(
        [2, 5, 2], gap="medium", vertical_alignment="bottom"
    )
    notice_place = st.container()
    title_place.title("Impute", anchor=False)
    with choice_place:
        record = choose_imputation(table, notice_place)
    # The newest run is in the key: the settings fold away again when another one starts.
    with (
        again_place,
        st.popover(
            "Impute again",
            icon=":material/replay:",
            width="stretch",
            key=f"{SECTION}:again:{newest.id}",
        ),
    ):
        show_settings(table, is_wide=False)
    return record


# What came out


def _show_result(record: JobRecord, table: OpenTable) -> None:
    if is_done(record):
        with shown_imputation(record):
            completed = load(record, table)
            _show_answer(completed)
            _show_completed(completed)
        return
    run_place, answer_place = st.container(), st.container()
    with answer_place, shown_imputation(record):
        answer = chosen_answer(record)
        if answer is not None:
            completed = load(answer, table)
            show_early_answer(completed)
            _show_completed(completed)
    with run_place:  # drawn last: it offers the answers that are not shown
        show_run(record)


def _show_answer(completed: CompletedTable) -> None:
    is_judged = comparison_of(completed.record) is not None
    remarks = column_remarks(completed)
    n_care = sum(name in remarks for name in completed.imputed_columns)
    st.markdown(summary.answer(completed, n_care=n_care, is_judged=is_judged))
    st.caption(summary.qualification(completed))
    for note in summary.notes(completed.record):
        st.warning(plain(note), icon=":material/warning:")


def _show_completed(completed: CompletedTable) -> None:
    if not completed.imputed_columns:
        st.info("No cell was imputed, so no cell is marked.")
        return
    show_table(completed)
    _show_details(completed)


@fragment
def _show_details(completed: CompletedTable) -> None:
    views: dict[str, Callable[[CompletedTable], None]] = {
        COLUMNS: show_columns,
        DISTRIBUTION: show_distribution,
        SHIFT: show_shift,
    }
    if summary.member_shares(completed.record):
        views[MEMBERS] = show_members
    view = choose_view("Details", views, section=SECTION)
    with shown_imputation(completed.record):
        views[view](completed)


# All of them


def _show_history(found: list[JobRecord], record: JobRecord) -> None:
    with st.expander(f"All imputations ({len(found)})", icon=":material/history:"):
        st.dataframe(
            pd.DataFrame([summary.history_row(run) for run in found]),
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:history",
            alt="All imputations",
            column_config={"Imputed cells": st.column_config.NumberColumn(format="localized")},
        )
        if is_done(record):
            st.caption(f"Shown above: {runs.title(record)}.")
            runs.show_buttons(record, key=SECTION)
