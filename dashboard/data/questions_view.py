"""The questions that a table raises, each with buttons to answer it."""

import streamlit as st

from dashboard.data.editors_view import declare_missing, draw_editors_anew
from dashboard.data.questions import TableQuestion, dismiss
from dashboard.data.uploads import NumberQuestion, settle_question, start_reading
from dashboard.state import session
from dashboard.state.table_state import TableState
from dashboard.text import code
from dashboard.widgets import errors_as_notices
from pmae_core.words import count

MOST_IN_SIGHT = 3


def show_questions(
    questions: list[TableQuestion], state: TableState, numbers: NumberQuestion | None = None
) -> None:
    """Draw the questions, the first ones in sight and the others folded.

    Parameters
    ----------
    questions
        On columns and values.
    state
        Of the open table.
    numbers
        How to read the numbers of the file, which comes before all others.
    """
    if not questions and numbers is None:
        return
    with st.container(key="data-questions", border=True, gap="xsmall"):
        if numbers is not None:
            _ask_for_numbers(numbers)
        for question in questions[:MOST_IN_SIGHT]:
            _show_question(question, state)
        if others := questions[MOST_IN_SIGHT:]:
            with st.expander(count(len(others), "more question")):
                for question in others:
                    _show_question(question, state)


def _ask_for_numbers(question: NumberQuestion) -> None:
    taken, other = question.values
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f":material/help: {code(question.text)} in {code(question.column)} can be read in two "
            "ways. Which number is it?",
            width="stretch",
        )
        st.button(_written(taken), key="data:numbers:taken", on_click=_keep_numbers)
        st.button(
            _written(other), key="data:numbers:other", on_click=_read_otherwise, args=(question,)
        )


def _written(value: float) -> str:
    """Return a number so that nobody takes decimals for thousands."""
    if value.is_integer():
        return f"{value:.0f} (thousands)"
    return f"{value:.16g} (decimals)"


@errors_as_notices
def _keep_numbers() -> None:
    settle_question(session.workspace())


@errors_as_notices
def _read_otherwise(question: NumberQuestion) -> None:
    start_reading(session.workspace(), question.otherwise)


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


@errors_as_notices
def _accept(question: TableQuestion) -> None:
    if question.roles:
        session.workspace().set_roles(question.roles)
        draw_editors_anew()
    if question.missing:
        declare_missing(list(question.missing))


@errors_as_notices
def _dismiss(question: TableQuestion, state: TableState) -> None:
    dismiss(session.workspace(), state, question.topics)
