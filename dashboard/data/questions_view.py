"""The questions that a table raises, each with buttons to answer it."""

import streamlit as st

from dashboard.data.editors_view import declare_missing, draw_editors_anew
from dashboard.data.questions import TableQuestion, dismiss
from dashboard.state import session
from dashboard.state.table_state import TableState
from dashboard.widgets import calm
from pmae_core.words import count

MOST_IN_SIGHT = 3


def show_questions(questions: list[TableQuestion], state: TableState) -> None:
    """Draw the questions, the first ones in sight and the others folded."""
    if not questions:
        return
    with st.container(key="data-questions", border=True, gap="xsmall"):
        for question in questions[:MOST_IN_SIGHT]:
            _show_question(question, state)
        if others := questions[MOST_IN_SIGHT:]:
            with st.expander(count(len(others), "more question")):
                for question in others:
                    _show_question(question, state)


def _show_question(question: TableQuestion, state: TableState) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/help: {question.text}", width="stretch")
        st.button(
            question.yes,
            key=f"data:yes:{question.key}",
            on_click=_accept,
            args=(question,),
        )
        if question.parts:
            with st.popover("One by one", key=f"data:parts:{question.key}"):
                for part in question.parts:
                    _show_question(part, state)
        st.button(
            question.no,
            key=f"data:no:{question.key}",
            type="tertiary",
            on_click=_dismiss,
            args=(question, state),
        )


@calm
def _accept(question: TableQuestion) -> None:
    if question.roles:
        session.workspace().set_roles(question.roles)
        draw_editors_anew()
    if question.missing:
        declare_missing(list(question.missing))


@calm
def _dismiss(question: TableQuestion, state: TableState) -> None:
    dismiss(session.workspace(), state, question.topics)
