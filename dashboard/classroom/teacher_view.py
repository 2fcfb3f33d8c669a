"""What a teacher shows on the projector: the question, answers as they come in, the solution."""

from __future__ import annotations

import streamlit as st

from dashboard.classroom.addresses import (
    CLASS_PARAMETER,
    class_link,
    is_for_this_computer_only,
    typed_address,
)
from dashboard.classroom.answers import answers_csv, counts, lesson_named
from dashboard.classroom.codes import spaced
from dashboard.classroom.questions import present_exercise, question_of
from dashboard.classroom.store import Classroom, ClassState, Desk
from dashboard.learn import LESSONS, Lesson
from dashboard.learn.exercises import EXERCISES
from dashboard.learn.exercises.exercise import Exercise, choose_lesson_seed
from dashboard.learn.view import show_picture, show_solution
from dashboard.text import plain
from dashboard.widgets import errors_as_notices, shown_errors
from dashboard.widgets.qr_code import show_qr
from pmae_core.words import count

POLL_SECONDS = 1.0

_HIDE_KEY = "class-hide-answers"
_Version = tuple[int, int]


def show_teacher(desk: Desk) -> None:
    """Draw the class as its teacher leads it."""
    classroom = desk.classroom
    version, state = classroom.version(), classroom.state()
    with st.container(key="class-teacher"):
        if state.phase == "joining":
            _show_lobby(desk, state, version)
        elif state.phase == "ended":
            _show_end(classroom)
        else:
            _show_question(desk, state, version)


# Joining


def _show_lobby(desk: Desk, state: ClassState, version: _Version) -> None:
    code = desk.classroom.code
    with st.container(key="class-lobby"):
        picture, words = st.columns([2, 3], gap="large", vertical_alignment="center")
    with picture:
        show_qr(class_link(code), caption="Scan to join the class", width=400)
    with words:
        st.markdown(f"Or open **{plain(typed_address())}** and enter the code")
        with st.container(key="class-code"):
            st.title(spaced(code), anchor=False)
        _count_students(desk.classroom, version)
        lesson = lesson_named(state.question.lesson)
        with st.container(horizontal=True, gap="small"):
            st.button(
                f"Start: {lesson.title}",
                type="primary",
                icon=":material/play_arrow:",
                key="class-begin",
                on_click=errors_as_notices(desk.begin),
            )
            _offer_more(desk)
        if is_for_this_computer_only():
            st.caption(
                ":material/info: Telephones cannot open this address, because it is for this "
                "computer only. Open the studio at its address in your network first."
            )


@st.fragment(run_every=POLL_SECONDS)
def _count_students(classroom: Classroom, version: _Version) -> None:
    with shown_errors():
        _follow(classroom, version)
        st.header(f"{count(classroom.n_present(), 'student')} here", anchor=False)


# A question


def _show_question(desk: Desk, state: ClassState, version: _Version) -> None:
    lesson = lesson_named(state.question.lesson)
    _show_bar(desk, lesson)
    picture, words = st.columns([3, 2], gap="medium")
    with picture:
        if state.phase == "asking":
            st.markdown(lesson.story)
        exercise = present_exercise(desk.classroom, state)
        if state.phase == "asking":
            show_picture(exercise.question, lesson, play=False)
        else:
            show_solution(lesson, exercise)
    with words:
        st.subheader(lesson.question, anchor=False)
        _show_answers(desk.classroom, lesson, state, version)
        if state.phase == "revealed":
            st.markdown(exercise.sentence)
        _show_controls(desk, state)


def _show_bar(desk: Desk, lesson: Lesson) -> None:
    """Draw the lesson's title, how to join, and what is needed less often."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="class-bar"):
        st.header(lesson.title, anchor=False)
        st.markdown(f"Code **{spaced(desk.classroom.code)}**", width="content")
        with st.popover("QR code", icon=":material/qr_code_2:"):
            link = class_link(desk.classroom.code)
            show_qr(link, caption="Scan to join the class", width=420)
            st.code(link, language=None, wrap_lines=True)
        _offer_more(desk)


@st.fragment(run_every=POLL_SECONDS)
def _show_answers(
    classroom: Classroom, lesson: Lesson, state: ClassState, version: _Version
) -> None:
    """Draw how many students gave each answer, as they come in."""
    with shown_errors():
        _follow(classroom, version)
        _draw_answers(classroom, lesson, state)


def _draw_answers(classroom: Classroom, lesson: Lesson, state: ClassState) -> None:
    given = counts(classroom, state.number, lesson)
    total = sum(given.values())
    is_hidden = state.phase == "asking" and st.session_state.get(_HIDE_KEY, False)
    for key, words in lesson.answers.items():
        is_right = state.phase == "revealed" and key == state.question.right
        mark = ":material/check_circle: " if is_right else ""
        words = f"**{words}**" if is_right else words
        with st.container(key=f"class-answer-{'right' if is_right else 'given'}-{key}"):
            if is_hidden:
                st.markdown(words)
            else:
                st.progress(given[key] / max(total, 1), text=f"{mark}{words}: **{given[key]}**")
    present = count(classroom.n_present(), "student")
    st.caption(f"{count(total, 'answer')} · {present} here")


def _follow(classroom: Classroom, version: _Version) -> None:
    """Draw the whole page anew when another window of the teacher has moved on."""
    if classroom.version() != version:
        st.rerun()


def _show_controls(desk: Desk, state: ClassState) -> None:
    """Draw the way on: the solution first, then the next question."""
    if state.phase == "asking":
        st.button(
            "Show the solution to everybody",
            type="primary",
            icon=":material/visibility:",
            key="class-reveal",
            on_click=errors_as_notices(desk.reveal),
            args=(state.number,),
        )
    with st.container(horizontal=True, gap="small"):
        button_place = st.container(width="content")
        with st.popover("Choose", icon=":material/tune:", help="Which question comes next"):
            lesson, seed, exercise = _choose_question(state)
        button_place.button(
            f"Next: {lesson.title}",
            type="primary" if state.phase == "revealed" else "secondary",
            icon=":material/arrow_forward:",
            key="class-next",
            on_click=errors_as_notices(desk.ask),
            args=(question_of(lesson, seed, exercise),),
            kwargs={"after": state.number, "rows": exercise.rows},
        )


def _choose_question(state: ClassState) -> tuple[Lesson, int, Exercise]:
    """Ask for the next question: the lesson that follows, unless the teacher wants another."""
    names = [lesson.name for lesson in LESSONS]
    following = (names.index(state.question.lesson) + 1) % len(names)
    name = st.selectbox(
        "Lesson",
        names,
        index=following,
        format_func=lambda key: lesson_named(key).title,
        key=f"class-next-lesson-{state.number}",
    )
    lesson = lesson_named(name)
    seed = choose_lesson_seed(lesson)
    return lesson, seed, EXERCISES[lesson.name](lesson, seed)


# What is needed less often


def _offer_more(desk: Desk) -> None:
    with st.popover("More", icon=":material/more_horiz:"):
        if st.button("Students", icon=":material/groups:", type="tertiary", key="class-names"):
            _show_students(desk.classroom)
        _offer_answers(desk.classroom)
        st.toggle(
            "Hide answers until the solution",
            key=_HIDE_KEY,
            help="Students who see what others answer tend to follow them.",
        )
        st.button(
            "End the class",
            icon=":material/stop_circle:",
            type="tertiary",
            key="class-end",
            help="Students see that the class is over. You can still download the answers.",
            on_click=errors_as_notices(desk.end),
        )


@st.dialog("Students")
def _show_students(classroom: Classroom) -> None:
    students = classroom.students()
    if not students:
        st.markdown("Nobody has joined yet.")
    for number, student in enumerate(students, start=1):
        name = plain(student.name) or "no name"
        away = "" if student.present else " (page closed)"
        st.markdown(f"{number}\\. {name}{away}")


def _offer_answers(classroom: Classroom) -> None:
    st.download_button(
        "Answers as CSV",
        data=lambda: answers_csv(classroom),
        file_name=f"class-{classroom.code}.csv",
        mime="text/csv",
        icon=":material/download:",
        type="tertiary",
        key="class-csv",
        on_click="ignore",
    )


def _show_end(classroom: Classroom) -> None:
    st.title("The class has ended", anchor=False)
    st.markdown(
        f"{count(len(classroom.students()), 'student')} took part. Download the answers now: the "
        "server removes them with the class."
    )
    with st.container(horizontal=True, gap="small"):
        _offer_answers(classroom)
        if st.button("Back to Learn", icon=":material/school:", key="class-leave"):
            del st.query_params[CLASS_PARAMETER]
            st.rerun()
