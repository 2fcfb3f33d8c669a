"""The section "Complete cases": what dropping incomplete rows costs."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.missingness import controls, words
from dashboard.missingness.controls import SECTION
from dashboard.missingness.facts import MissingnessFacts, path_of, shift_of
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.widgets import choose_page, fragment, show_figure
from pmae_core.missingness import count_complete_rows
from pmae_core.plots import missingness as figures
from pmae_core.words import shorten

ROWS, SHIFTS = "Rows gained", "Shifts of columns"
STEPS_PER_PAGE = 12
SHIFTS_PER_PAGE = 12


@fragment
def show_complete_cases(table: OpenTable, facts: MissingnessFacts) -> None:
    """Draw which columns cost most rows, and how far columns move without incomplete rows."""
    settings, answer = controls.beside()
    with settings:
        view = controls.choose_one("Show", "complete_view", [ROWS, SHIFTS])
        chosen = _choose_needed(facts)
    patterns = facts.patterns
    needed = tuple(chosen or patterns.columns)
    n_complete = count_complete_rows(patterns, needed)
    path = path_of(table.digest, needed, facts)
    with answer:
        cases = words.complete_cases(
            n_complete, patterns.n_rows, len(needed), are_chosen=bool(chosen)
        )
        st.markdown(f"{cases} {words.largest_gain(path)}")
        if view == ROWS:
            _show_path(path, patterns.n_rows, settings)
        elif n_complete in (0, patterns.n_rows):
            _say_nothing_shifts(n_complete)
        else:
            _show_shifts(table, needed, settings)


def _choose_needed(facts: MissingnessFacts) -> list[str]:
    needed: list[str] = memory.remembered(
        st.multiselect,
        "Columns your analysis needs",
        section=SECTION,
        name="needed",
        default=[],
        options=list(facts.patterns.columns),
        wrap=True,
        format_func=lambda name: shorten(name, 40),
        placeholder="All columns",
        help="A row is dropped if one of these is missing. Leave it empty for all columns.",
    )
    return needed


def _show_path(path: pd.DataFrame, n_rows: int, settings: DeltaGenerator) -> None:
    with settings:
        shown = choose_page(SECTION, "steps", len(path), STEPS_PER_PAGE, "steps")
    show_figure(
        figures.dropping_figure(path.iloc[shown], n_rows),
        question="Which columns cost most rows?",
        key="missingness-dropping",
        data=lambda: path.assign(
            left_out=["; ".join(map(str, names)) for names in path["left_out"]]
        ),
        caption="From top to bottom, the columns that cost most rows are left out "
        "next. Columns that are missing in the same rows are left out together.",
    )


def _say_nothing_shifts(n_complete: int) -> None:
    st.info(
        "All rows are complete: nothing shifts."
        if n_complete
        else "No row is complete, so there is nothing to compare. Choose fewer columns: "
        "**Rows gained** shows which cost most.",
        icon=":material/info:",
    )


def _show_shifts(table: OpenTable, needed: tuple[str, ...], settings: DeltaGenerator) -> None:
    shift = shift_of(table.digest, needed, table)
    measured = shift[shift["shift"].notna()]
    if measured.empty:
        st.info("No column has values to compare.", icon=":material/info:")
        return
    with settings:
        shown = choose_page(SECTION, "shifts", len(measured), SHIFTS_PER_PAGE, "columns")
    show_figure(
        figures.shifts_figure(measured.iloc[shown]),
        question="How far do columns shift if incomplete rows are dropped?",
        key="missingness-shift",
        data=lambda: shift.rename_axis("column").reset_index(),
        caption="Compared with all observed cells, which may be biased themselves. Dropping as "
        "many rows at random stays in the gray band in 19 of 20 cases.",
    )
