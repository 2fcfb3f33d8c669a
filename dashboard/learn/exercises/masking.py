"""Lesson 5 on the page: what each masking trains on, and what networks reach with it."""

from __future__ import annotations

import streamlit as st

from dashboard.figures.lessons import trained_figure, training_cases_figure
from dashboard.figures.masking import weights_figure
from dashboard.learn import Lesson, masking
from dashboard.learn.exercises.exercise import Exercise
from dashboard.learn.progress import SECTION
from dashboard.state import memory
from dashboard.text import code
from dashboard.widgets import show_figure


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Count the training cases of both maskings with the paper's a."""
    usual = _cases(masking.USUAL_A, seed)
    return Exercise(
        usual.answer, lambda _revealed: _show_columns(usual), lambda: _show_solution(lesson, seed)
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _trader(seed: int) -> masking.Trader:
    return masking.make_trader(seed)


@st.cache_resource(max_entries=64, show_spinner=False)
def _cases(a: float, seed: int) -> masking.TrainingCases:
    return masking.training_cases(_trader(seed), a, seed)


def _show_columns(usual: masking.TrainingCases) -> None:
    show_figure(
        weights_figure(usual.weights, uniform=masking.UNIFORM_RATE),
        question="How much of each column does proportional masking mask?",
        key="lesson-masking-weights",
        data=usual.weights,
        caption="Masked cells are predicted, the others reconstructed. The white mark is uniform "
        "masking.",
    )
    show_figure(
        training_cases_figure(usual.visible, ["missing"]),
        question="How many predictors are observed where `gain` is missing?",
        key="lesson-masking-missing",
        data=usual.visible[["predictors", "missing"]],
    )


def _show_solution(lesson: Lesson, seed: int) -> None:
    a = memory.remembered(
        st.slider,
        "a: effect of missingness",
        section=SECTION,
        name=f"{lesson.name}_a",
        default=masking.USUAL_A,
        min_value=0.0,
        max_value=masking.LARGEST_A,
        step=0.01,
        help="0 is uniform masking; the paper uses 0.05.",
    )
    cases = _cases(a, seed)
    st.markdown(cases.sentence())
    if warning := cases.warning():
        st.warning(warning, icon=":material/lightbulb:")
    left, right = st.columns(2, gap="medium")
    with left:
        show_figure(
            training_cases_figure(cases.visible),
            question="Do training cases resemble the missing cells?",
            key="lesson-masking-cases",
            data=cases.visible,
        )
    with right:
        _show_trained()


def _show_trained() -> None:
    trained = masking.read_trained()
    if trained is None:
        st.info(
            "What networks reach with each masking was not measured in this installation. "
            "`python -m benchmarks.accuracy.lesson_masking` measures it in a few minutes."
        )
        return
    show_figure(
        trained_figure(trained.runs),
        question="Which masking learns faster?",
        key="lesson-masking-trained",
        data=trained.runs,
        caption="Small networks, trained briefly; one line per seed. "
        f"{' '.join(trained.sentences())} This is speed, not a better result: with longer training "
        f"uniform masking catches up. Measured by {code(trained.command)} with "
        f"a = {masking.USUAL_A}, whatever the slider says.",
    )
