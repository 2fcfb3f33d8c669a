"""Lesson 1 on the page: a small table to click on, and why its values are missing."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.figures.lessons import small_table_figure
from dashboard.figures.missingness import differences_figure
from dashboard.learn import Lesson, reasons
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.learn.progress import SECTION, unanswered
from dashboard.state import memory
from dashboard.text import code
from dashboard.widgets import calm, show_figure
from pmae_core.table.samples.clinic import Clinic, make_clinic
from pmae_core.words import count

_KEY = "lesson-reasons"


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask for a missing cell; the question is why it is missing."""
    clinic = _clinic(seed)
    cells = {f"{row}:{column}": (row, column) for row, column in reasons.missing_cells(clinic)}
    chosen = choose_setting(
        st.selectbox,
        "Missing cell",
        lesson,
        "cell",
        default=next(iter(cells)),
        options=list(cells),
        format_func=lambda key: f"{cells[key][1]} of patient {cells[key][0]}",
        help="Or click a question mark in the table.",
    )
    row, column = cells[chosen]
    st.caption(reasons.clue_sentence(reasons.clues(clinic, column), column))

    def show(_revealed: bool) -> None:
        _show_table(lesson, clinic, (row, column), set(cells.values()))

    def solve() -> None:
        _show_solution(clinic, row, column)

    return Exercise(reasons.kind_of(column), show, solve, {"cell": chosen})


@st.cache_resource(max_entries=16, show_spinner=False)
def _clinic(seed: int) -> Clinic:
    return make_clinic(seed=seed)


def _show_table(
    lesson: Lesson, clinic: Clinic, chosen: tuple[int, str], missing: set[tuple[int, str]]
) -> None:
    table = reasons.patients(clinic)
    words = pd.DataFrame(
        {name: [reasons.cell_words(name, cell) for cell in table[name]] for name in table}
    )
    show_figure(
        small_table_figure(words, chosen),
        question="Which values are missing? Click one.",
        key=_KEY,
        data=table.reset_index(names="patient"),
        on_select=calm(lambda: _take_click(lesson, missing)),
    )


def _take_click(lesson: Lesson, missing: set[tuple[int, str]]) -> None:
    selection = st.session_state.get(f"{_KEY}:chart") or {}
    cell = reasons.clicked_cell(selection.get("selection", {}).get("points", []))
    if cell in missing:
        memory.remember(SECTION, **unanswered(lesson), reasons_cell=f"{cell[0]}:{cell[1]}")


def _show_solution(clinic: Clinic, row: int, column: str) -> None:
    st.markdown(
        f"{reasons.reason(column)} {reasons.cell_details(clinic, row, column)} This kind is called "
        f"**{reasons.kind_of(column)}**."
    )
    clues = reasons.clues(clinic, column)
    show_figure(
        differences_figure(clues),
        question=f"How do patients without {code(column)} differ from the others?",
        key="lesson-reasons-clues",
        data=lambda: clues.rename_axis("column").reset_index(),
        caption="To the right: higher where the value is missing. Gray: the range of chance in 95% "
        f"of tables ({count(len(clinic.frame), 'patient')}); of ten bars, one may exceed it.",
    )
