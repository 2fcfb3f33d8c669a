"""Lesson 3 on the page: a table to sort, and what the three patterns look like."""

from __future__ import annotations

import streamlit as st

from dashboard.figures.amputation import missing_cells_figure, row_bands
from dashboard.learn import Lesson, patterns
from dashboard.learn.exercises.exercise import Exercise
from dashboard.learn.progress import SECTION
from dashboard.state import memory
from dashboard.widgets import show_figure


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Offer to sort the table; the question is which pattern it has."""
    made = _pattern(patterns.kind_of_seed(seed), seed)
    ordered = memory.remembered(
        st.toggle,
        "Sort by missing values",
        section=SECTION,
        name=f"{lesson.name}_sorted",
        default=False,
    )

    def show(_revealed: bool) -> None:
        missing = made.incomplete.isna()
        show_figure(
            missing_cells_figure(row_bands(missing, ordered=ordered)),
            question="Is there an order?",
            key="lesson-patterns",
            data=missing,
        )

    def solve() -> None:
        st.markdown(made.sentence())
        for place, kind in zip(st.columns(len(patterns.KINDS)), patterns.KINDS, strict=True):
            with place:
                missing = _pattern(kind, seed).incomplete.isna()
                show_figure(
                    missing_cells_figure(row_bands(missing)),
                    question=kind.capitalize(),
                    key=f"lesson-patterns-{kind}",
                    data=missing,
                )

    return Exercise(made.kind, show, solve)


@st.cache_resource(max_entries=32, show_spinner=False)
def _pattern(kind: str, seed: int) -> patterns.PatternTable:
    return patterns.make_pattern(kind, seed)
