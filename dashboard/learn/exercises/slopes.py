"""Lesson 4 on the page: a scatter plot, and its line with and without the incomplete rows."""

from __future__ import annotations

import streamlit as st

from dashboard.figures.lessons import scatter_figure
from dashboard.learn import Lesson, slopes
from dashboard.learn.exercises.exercise import Exercise, choose_setting, show_repetitions
from dashboard.widgets import show_figure


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask why values are missing; the question is what dropping rows does to the slope."""
    cause = choose_setting(
        st.selectbox,
        "Why are values missing?",
        lesson,
        "cause",
        default="chance",
        options=list(slopes.CAUSES),
        format_func=lambda key: slopes.CAUSES[key].title,
    )
    strength = slopes.USUAL_STRENGTH
    if slopes.CAUSES[cause].depends_on is not None:
        strength = choose_setting(
            st.slider,
            "How strict is the rule?",
            lesson,
            "strength",
            default=slopes.USUAL_STRENGTH,
            min_value=slopes.WEAKEST,
            max_value=slopes.STRONGEST,
            step=0.5,
            help="1 is a tendency, 5 nearly a rule without exceptions.",
        )
    st.caption(f":material/info: {slopes.CAUSES[cause].rule}")
    made = _dropped(cause, strength, seed)

    def solve() -> None:
        st.markdown(made.sentence())
        show_repetitions(
            lesson,
            "slope",
            of="the complete rows",
            repeated=made.repeated_slopes,
            truth=made.population_slope,
            imputed=("this table, imputed", made.imputed_slope),
            how=f"The same rule in {len(made.repeated_slopes)} tables of other patients.",
        )

    return Exercise(
        made.cause.effect,
        lambda revealed: _show_rows(made, revealed),
        solve,
        {"cause": cause, "strength": strength},
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _dropped(cause: str, strength: float, seed: int) -> slopes.DroppedRows:
    return slopes.drop_rows(cause, strength, seed)


def _show_rows(made: slopes.DroppedRows, revealed: bool) -> None:
    if revealed:
        show_figure(
            scatter_figure(made.truth, made.kept, line=made.true_line, kept_line=made.kept_line),
            question="Which rows are dropped, and how does the line change?",
            key="lesson-slopes-after",
            data=made.truth.assign(complete=made.kept),
        )
        return
    show_figure(
        scatter_figure(made.truth, line=made.true_line),
        question="How does blood pressure rise with age?",
        key="lesson-slopes-before",
        data=made.truth,
        caption=f"All patients. The line rises by {made.true_line[0]:.2f} per year.",
    )
