"""What a student sees on a telephone: the question, answers to tap, and later the solution."""

from __future__ import annotations

import streamlit as st

from dashboard.classroom.answers import lesson_named
from dashboard.classroom.codes import spaced
from dashboard.classroom.questions import present_exercise
from dashboard.classroom.store import LONGEST_NAME, Classroom, ClassState, Student
from dashboard.components.attention import bring_reader_here
from dashboard.components.browser_cookie import write_cookie
from dashboard.learn import Lesson
from dashboard.learn.exercises.exercise import Exercise
from dashboard.learn.view import marked_answers, show_picture, show_solution
from dashboard.text import plain
from dashboard.widgets import errors_as_notices, fragment, shown_errors

POLL_SECONDS = 2.0

_COOKIE_DAYS = 2


def show_student(classroom: Classroom) -> None:
    """Draw the class as a student sees it, who has to join first."""
    version, state = classroom.version(), classroom.state()
    student = known_student(classroom)
    if state.phase == "ended":
        st.title("The class has ended", anchor=False)
        st.markdown("You can close this page.")
    elif student is None:
        _offer_to_join(classroom)
    else:
        with st.container(key="class-student"):
            _show_phase(classroom, state, student)
        _keep_token_in_browser(classroom)
        _watch(classroom, _token(classroom), version)


def known_student(classroom: Classroom) -> Student | None:
    """Return the student that this browser is in the class; None before joining."""
    return classroom.student(_token(classroom))


# Joining


def _offer_to_join(classroom: Classroom) -> None:
    with st.form("join", border=False, width=420):
        st.title("Join the class", anchor=False)
        st.caption(f"Class {spaced(classroom.code)}. You need no account.")
        name = st.text_input(
            "Your name (optional)",
            max_chars=LONGEST_NAME,
            help="Your teacher sees it beside your answers.",
        )
        if st.form_submit_button("Join", type="primary", width="stretch"):
            st.session_state[_session_key(classroom)] = classroom.join(name)
            st.rerun()


def _token(classroom: Classroom) -> str:
    """Return the student's secret: of this session, or kept by the browser before a reload."""
    kept = st.session_state.get(_session_key(classroom))
    return str(kept or st.context.cookies.get(_cookie_name(classroom), ""))


def _keep_token_in_browser(classroom: Classroom) -> None:
    name, token = _cookie_name(classroom), _token(classroom)
    if st.context.cookies.get(name) != token:
        write_cookie(name, token, days=_COOKIE_DAYS)


def _session_key(classroom: Classroom) -> str:
    return f"_student_of:{classroom.code}"


def _cookie_name(classroom: Classroom) -> str:
    return f"pmae_class_{classroom.code}"


# The lesson


def _show_phase(classroom: Classroom, state: ClassState, student: Student) -> None:
    who = f"{plain(student.name)}, you are in." if student.name else "You are in."
    if state.phase == "joining":
        st.title(who, anchor=False)
        st.markdown("The class starts soon. Keep this page open.")
        return
    lesson = lesson_named(state.question.lesson)
    with st.container(key="class-student-top"):
        st.header(lesson.title, anchor=False)
        verdict_place = st.container()
        # A student who answered has scrolled down, and what is new begins at the top.
        news = f"{state.number} {state.phase}"
        bring_reader_here("class-student-top", occasion=news, scroll="top")
    picture, words = st.columns([3, 2], gap="medium")
    with picture:
        if state.phase == "asking":
            st.markdown(lesson.story)
        exercise = present_exercise(classroom, state)
        if state.phase == "asking":
            show_picture(exercise.question, lesson, play=False)
        else:
            show_solution(lesson, exercise)
    if state.phase == "asking":
        with words:
            _ask(classroom, lesson, state.number)
    else:
        with verdict_place:
            _show_verdict(lesson, exercise, classroom.answer_of(_token(classroom), state.number))


@fragment
def _ask(classroom: Classroom, lesson: Lesson, number: int) -> None:
    """Draw the answers as buttons; one that was tapped can be changed until the reveal."""
    token = _token(classroom)
    chosen = classroom.answer_of(token, number)
    st.markdown(f"**{lesson.question}**")
    for key, words in lesson.answers.items():
        st.button(
            words,
            key=f"class-answer-{number}-{key}",
            type="primary" if key == chosen else "secondary",
            icon=":material/check:" if key == chosen else None,
            width="stretch",
            on_click=errors_as_notices(classroom.answer),
            args=(token, number, key),
        )
    if chosen is None:
        st.caption("Tap an answer.")
    else:
        st.caption("Your answer is in. You can change it until your teacher shows the solution.")


def _show_verdict(lesson: Lesson, exercise: Exercise, answer: str | None) -> None:
    if answer is None:
        st.info("You did not answer this question.", icon=":material/lightbulb:")
    elif answer == exercise.right:
        st.success("Correct.", icon=":material/check_circle:")
    else:
        st.warning("Not quite.", icon=":material/lightbulb:")
    st.markdown(f"**{lesson.question}**")
    st.markdown("  \n".join(marked_answers(lesson, exercise.right, answer)))
    st.markdown(exercise.sentence)


# Following the teacher


@st.fragment(run_every=POLL_SECONDS)
def _watch(classroom: Classroom, token: str, version: tuple[int, int]) -> None:
    """Draw the page anew once the teacher has decided something; say that we are here."""
    with shown_errors():
        classroom.note_presence(token)
        if classroom.version() != version:
            st.rerun()
