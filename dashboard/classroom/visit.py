"""Visits to a class at ``…/learn?class=CODE``: no navigation, and for students no workspace."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.classroom.addresses import CLASS_PARAMETER
from dashboard.classroom.codes import WrongCodes, typed_code
from dashboard.classroom.desk import own_desk
from dashboard.classroom.store import Classroom
from dashboard.classroom.student_view import known_student, show_student
from dashboard.classroom.teacher_view import show_teacher
from dashboard.state import notices
from dashboard.widgets import shown_errors

_WRONG_CODES = WrongCodes()
_ADMITTED_KEY = "_admitted_to_class"
_LONGEST_TYPED = 20
_STYLE = Path(__file__).with_name("style.css")


def show_class() -> None:
    """Draw the class of the address, as its teacher or as a student sees it."""
    st.html(_STYLE)
    code = st.query_params[CLASS_PARAMETER]
    classroom = _admitted(code) if code else None
    if classroom is None:
        _ask_for_code()
        return
    with st.container():
        notices.show_notices()
    with shown_errors():
        desk = own_desk(classroom)
        if desk is None:
            show_student(classroom)
        else:
            show_teacher(desk)


def _admitted(code: str) -> Classroom | None:
    """Return the class of a code; None, and why, if there is none or too many were tried."""
    classroom = Classroom.open(code)
    if classroom is not None and _belongs_to(classroom):
        return classroom
    address = st.context.ip_address or "this computer"
    # Whether the code is right or wrong, the answer is the same.
    if not _WRONG_CODES.allows(address):
        st.warning("Too many wrong codes were tried. Wait a minute, then try again.")
        return None
    if classroom is None:
        _note_wrong(address, code)
        st.warning(
            "There is no class with this code. Check the code on the board; classes are removed "
            "some time after they end."
        )
        return None
    st.session_state[_ADMITTED_KEY] = classroom.code
    return classroom


def _belongs_to(classroom: Classroom) -> bool:
    """Say whether the visitor was let in before: mistakes of others lock nobody out."""
    was_admitted = st.session_state.get(_ADMITTED_KEY) == classroom.code
    return was_admitted or known_student(classroom) is not None or own_desk(classroom) is not None


def _note_wrong(address: str, code: str) -> None:
    """Count a wrong code once, although the page is drawn again."""
    seen = st.session_state.setdefault("_wrong_class_codes", set())
    if code not in seen:
        seen.add(code)
        _WRONG_CODES.note(address)


def _ask_for_code() -> None:
    with st.form("join-a-class", border=False, width=420):
        st.title("Join a class", anchor=False)
        typed = st.text_input("Code", max_chars=_LONGEST_TYPED, placeholder="BCDF GHJK")
        if st.form_submit_button("Join", type="primary", width="stretch"):
            st.query_params[CLASS_PARAMETER] = typed_code(typed) or typed
            st.rerun()
