"""A lesson on paper: one page with the question, one with its solution."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.classroom.addresses import HANDOUT_PARAMETER, class_link
from dashboard.classroom.answers import lesson_named
from dashboard.classroom.desk import open_desk
from dashboard.classroom.store import ClassroomError
from dashboard.components.print_button import print_button
from dashboard.components.stage import show_stage
from dashboard.components.stage.scene import Scene
from dashboard.learn import Lesson
from dashboard.learn.exercises import EXERCISES, lesson_settings
from dashboard.learn.exercises.exercise import Exercise, fixed_settings
from dashboard.learn.progress import SECTION
from dashboard.learn.view import marked_answers
from dashboard.state.links import read_shared, share_link
from dashboard.widgets.qr_code import show_qr

_STYLE = Path(__file__).with_name("handout.css")
# In pixels, so that question and solution fill one page of A4 or letter paper each.
_QR_WIDTH = 120
_QUESTION_HEIGHT, _SOLUTION_HEIGHT, _LUCK_HEIGHT = 340, 228, 158


@dataclass(frozen=True)
class Handout:
    """A lesson with the seed and the settings that its pages show."""

    lesson: Lesson
    seed: int
    settings: Mapping[str, Any]

    @classmethod
    def read(cls, shared: str) -> Handout:
        """Return the handout that an address names.

        Raises
        ------
        ClassroomError
            If it names none.
        """
        try:
            values = _lesson_values(shared)
            lesson = lesson_named(values["lesson"])
            seed = values[f"{lesson.name}_seed"]
        except (ValueError, KeyError) as error:
            raise ClassroomError(
                "This address of a handout cannot be read. Open the handout on Learn again."
            ) from error
        prefix = f"{lesson.name}_"
        settings = {
            name.removeprefix(prefix): value
            for name, value in values.items()
            if name.startswith(prefix)
        }
        return cls(lesson, seed, settings)


def _lesson_values(shared: str) -> Mapping[str, Any]:
    """Return the settings of an address that lessons can use."""
    return read_shared(shared, lambda section: lesson_settings()).usable


def show_handout() -> None:
    """Draw the handout of the address."""
    st.html(_STYLE)
    shared = st.query_params[HANDOUT_PARAMETER]
    handout = Handout.read(shared)
    with st.container(key="handout-bar", horizontal=True, vertical_alignment="center"):
        print_button(key="handout-print")
        st.caption("Two pages: the question, and its solution.")
    with st.container(key="handout-question"):
        exercise = _show_question(handout, shared)
    with st.container(key="handout-solution"):
        _show_solution(handout.lesson, exercise)


def _show_question(handout: Handout, shared: str) -> Exercise:
    lesson = handout.lesson
    st.title(lesson.title, anchor=False)
    st.markdown(lesson.story)
    with fixed_settings(handout.settings):
        exercise = EXERCISES[lesson.name](lesson, handout.seed)
    _show_picture(exercise.question, "question", _QUESTION_HEIGHT)
    answers, way_in = st.columns([4, 1])
    with answers:
        _show_answers(lesson)
    with way_in:
        _show_link(shared)
    return exercise


def _show_picture(scene: Scene, name: str, height: int) -> None:
    show_stage(dataclasses.replace(scene, height=height), key=f"handout-picture-{name}")


def _show_answers(lesson: Lesson) -> None:
    st.subheader(lesson.question, anchor=False)
    boxes = [f":material/check_box_outline_blank: {words}" for words in lesson.answers.values()]
    st.markdown("  \n".join(boxes))


def _show_link(shared: str) -> None:
    """Draw the way from the paper to a telephone: to the class under way, or to the lesson."""
    desk = open_desk()
    if desk is not None:
        show_qr(class_link(desk.classroom.code), caption="Join the class", width=_QR_WIDTH)
        return
    show_qr(
        share_link(SECTION, _lesson_values(shared)), caption="Open this lesson", width=_QR_WIDTH
    )


def _show_solution(lesson: Lesson, exercise: Exercise) -> None:
    st.title(f"Solution: {lesson.title}", anchor=False)
    st.markdown(f"**{lesson.question}**")
    st.markdown("  \n".join(marked_answers(lesson, exercise.right, None)))
    st.markdown(exercise.sentence)
    _show_picture(exercise.solution.revealed(), "solution", _SOLUTION_HEIGHT)
    if exercise.luck is not None:
        st.markdown("**Was it luck?**")
        _show_picture(exercise.luck.revealed(), "luck", _LUCK_HEIGHT)
    st.markdown("**What to remember**")
    st.markdown("\n".join(f"- {point}" for point in lesson.points))
    if lesson.simplified:
        st.caption(lesson.simplified)
