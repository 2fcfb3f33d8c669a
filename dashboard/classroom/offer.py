"""The ways from Learn into a class and onto paper."""

from __future__ import annotations

import streamlit as st

from dashboard.classroom.addresses import CLASS_PARAMETER, handout_link
from dashboard.classroom.codes import spaced
from dashboard.classroom.desk import open_desk, start_class
from dashboard.classroom.questions import question_of
from dashboard.learn import Lesson
from dashboard.learn.exercises.exercise import Exercise, link_settings


def offer_class(lesson: Lesson, seed: int, exercise: Exercise) -> None:
    """Draw the button that starts a class with an exercise, or leads back to the one under way."""
    desk = open_desk()
    if desk is not None:
        code = desk.classroom.code
        if st.button(f"Back to class {spaced(code)}", icon=":material/groups:", key="class-back"):
            _enter(code)
        return
    st.caption("Students answer on their telephones, and you show the solution to everybody.")
    if st.button("Start a class", icon=":material/groups:", key="class-start"):
        desk = start_class(question_of(lesson, seed, exercise), exercise.rows)
        _enter(desk.classroom.code)


def offer_handout(lesson: Lesson, seed: int, exercise: Exercise) -> None:
    """Draw the link to the lesson on paper."""
    st.link_button(
        "Handout",
        handout_link(link_settings(lesson, seed, exercise)),
        icon=":material/print:",
        help="Two pages to print: the question, and its solution.",
    )


def _enter(code: str) -> None:
    st.query_params[CLASS_PARAMETER] = code
    st.rerun()
