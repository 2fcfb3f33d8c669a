"""The way into a class from Learn."""

from __future__ import annotations

import streamlit as st

from dashboard.classroom.addresses import CLASS_PARAMETER
from dashboard.classroom.codes import spaced
from dashboard.classroom.desk import open_desk, start_class
from dashboard.classroom.store import Question


def offer_class(question: Question) -> None:
    """Draw the button that starts a class with a question, or leads back to the one under way."""
    desk = open_desk()
    if desk is not None:
        code = desk.classroom.code
        if st.button(f"Back to class {spaced(code)}", icon=":material/groups:", key="class-back"):
            _enter(code)
        return
    st.caption("Students answer on their telephones, and you show the solution to everybody.")
    if st.button("Start a class", icon=":material/groups:", key="class-start"):
        _enter(start_class(question).classroom.code)


def _enter(code: str) -> None:
    st.query_params[CLASS_PARAMETER] = code
    st.rerun()
