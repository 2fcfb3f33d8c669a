"""What the page Data draws: ways to open a table at the left, what it is like at the right."""

import functools
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import Column, DatetimeColumn

from dashboard.data import columns, samples, summary, uploads
from dashboard.data.editors_view import height_of, show_roles, show_rules, show_sentinels
from dashboard.data.levels_view import show_levels
from dashboard.data.opening_view import show_opening
from dashboard.data.questions import (
    TableQuestion,
    dismissed_topics,
    find_role_suggestions,
    open_questions,
)
from dashboard.data.questions_view import show_questions
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable, TableState
from dashboard.state.workspace import Workspace
from dashboard.text import plain
from dashboard.widgets import errors_as_notices, shown_errors
from dashboard.widgets.links import page_link
from pmae_core.table import RoleSuggestion, SentinelSuggestion, load_dataset

SECTION = "data"
PREVIEW_ROWS = 1_000
PREVIEW_HEIGHT = 322  # pixels
STEPS = (
    ("missingness.py", "See what is missing", ":material/counter_1:"),
    ("compare.py", "Compare methods", ":material/counter_2:"),
    ("impute.py", "Impute and export", ":material/counter_3:"),
)


def show_data() -> None:
    """Draw the page."""
    own = session.workspace()
    title_place, steps_place = st.columns([1, 3], gap="medium", vertical_alignment="bottom")
    title_place.title("Data", anchor=False)
    with steps_place:
        _show_steps(own)
    with st.container(key="settings-beside-data"):
        opening_place, answer_place = st.columns([1, 3], gap="medium")
    with opening_place, shown_errors():
        show_opening(own)
    # Whatever is wrong with the open table: another one can be opened.
    with answer_place, shown_errors():
        table = session.open_table()
        state = own.table_state()
        # Each in a place of its own: an editor that moves on the page loses the edit under way.
        with st.container():
            _show_answer(table)
        with st.container():
            show_questions(
                _questions(own, table, state), state, uploads.number_question(own, state)
            )
        _show_details(own, table, state)


# First steps


def _show_steps(own: Workspace) -> None:
    if own.get(SECTION).get("steps_dismissed"):
        return
    with st.container(key="data-steps", horizontal=True, vertical_alignment="center", gap="small"):
        for file, label, icon in STEPS:
            page_link(file, label, icon)
        st.button(
            "Dismiss",
            key="data:dismiss_steps",
            icon=":material/close:",
            type="tertiary",
            on_click=_dismiss_steps,
            help="Hides these three steps. The navigation on the left has all pages.",
        )


@errors_as_notices
def _dismiss_steps() -> None:
    session.workspace().update(SECTION, steps_dismissed=True)


# The answer


def _show_answer(table: OpenTable) -> None:
    sentences = [summary.answer(table), summary.remarkable_columns(table)]
    st.markdown(f"{plain(table.name)}: " + " ".join(filter(None, sentences)))
    if sample := samples.sample_of(table):
        st.markdown(plain(sample.story or f"{sample.title}."), help=plain(samples.origin(sample)))
    for sentence in summary.cautions(table):
        st.markdown(f":material/lightbulb: {sentence}")


@st.cache_data(max_entries=8, show_spinner="Looking for codes for missing values …")
def _suggested_sentinels(cells_digest: str, _frame: pd.DataFrame) -> list[SentinelSuggestion]:
    return columns.find_suggestions(_frame)


@st.cache_data(max_entries=8, show_spinner=False)
def _suggested_roles(digest: str, _table: OpenTable) -> list[RoleSuggestion]:
    return find_role_suggestions(_table)


def _questions(own: Workspace, table: OpenTable, state: TableState) -> list[TableQuestion]:
    return open_questions(
        table,
        _suggested_sentinels(state.cells_digest, table.frame),
        _suggested_roles(table.digest, table),
        dismissed_topics(own, state),
    )


# The table and what is known about its columns


def _show_details(own: Workspace, table: OpenTable, state: TableState) -> None:
    rows, roles, sentinels, rules = st.tabs(
        ["Table", "Roles", "Codes for missing values", "Limits and derived columns"],
        key="data:tab",
        on_change="rerun",  # so that it stays open when a notice moves the page
    )
    meanings = _meanings(table)
    with rows:
        _show_rows(table, meanings)
    with roles:
        show_roles(table, state, meanings)
        show_levels(table)
    with sentinels:
        raw = own.raw_table(state)
        suggestions = [
            *_suggested_sentinels(state.raw, raw),  # in the open table, those declared are gone
            *_suggested_sentinels(state.cells_digest, table.frame),
        ]
        show_sentinels(table, state, raw, suggestions)
    with rules:
        show_rules(table, state)


@st.cache_data(max_entries=4, show_spinner=False)
def _described(name: str) -> Mapping[str, str]:
    return dict(load_dataset(name).descriptions)


def _meanings(table: OpenTable) -> Mapping[str, str]:
    """Return what the columns of a sample mean; nothing is known about users' own."""
    sample = samples.sample_of(table)
    return _described(sample.name) if sample else {}


def _show_rows(table: OpenTable, meanings: Mapping[str, str]) -> None:
    rows_place = st.container()
    only_incomplete = memory.remembered(
        st.toggle,
        "Only rows with missing values",
        section=SECTION,
        name="only_incomplete",
        default=False,
    )
    rows = table.frame
    if only_incomplete:
        rows = rows[rows.isna().any(axis=1)]
    if rows.empty:
        rows_place.info("No row has a missing value.", icon=":material/check:")
        return
    preview = rows.head(PREVIEW_ROWS)
    rows_place.dataframe(
        columns.under_roles(preview, table.schema),
        width="stretch",
        height=height_of(preview, most=PREVIEW_HEIGHT, n_headers=2),
        key="data:preview",
        alt="The rows of the table, with the role above the name of each column",
        column_config=_column_config(preview, meanings),
    )
    if len(preview) < len(rows):
        rows_place.caption(f"The first {len(preview):,} of {len(rows):,} rows.")


def _column_config(preview: pd.DataFrame, meanings: Mapping[str, str]) -> dict[int, Any]:
    """Return how to show the columns, by their place: the index comes first."""
    days = columns.whole_days(preview)
    kinds = {name: functools.partial(DatetimeColumn, format="YYYY-MM-DD") for name in days}
    return {
        place: kinds.get(name, Column)(width=width, help=meanings.get(name))
        for place, (name, width) in enumerate(columns.widths(preview).items(), start=1)
    }
