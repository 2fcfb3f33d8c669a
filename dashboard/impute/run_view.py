"""A run that has no result yet: its progress, and the answers it gives before its end."""

from __future__ import annotations

import streamlit as st

from dashboard import runs
from dashboard.export.files import stem_of
from dashboard.impute.choose import SECTION
from dashboard.impute.completed_tables import CompletedTable, answer_of
from dashboard.state import memory, session
from pmae_core.export import escape_formulas
from pmae_core.jobs import JobRecord, JobState
from pmae_core.jobs.worker.answers import answer_words
from pmae_core.words import count

SKILL_HELP = (
    "Skill is 1 for perfect imputation and 0 for the accuracy of the column mean, measured on "
    "held-out cells."
)


def show_run(record: JobRecord) -> None:
    """Draw how far a run is, and offer its newest answer; both move while it runs."""
    runs.watch(_draw_run, [record.id])


def _draw_run(found: list[JobRecord]) -> None:
    if not found:
        st.info("This imputation was removed. Choose another one.")
        return
    runs.show_job(found[0], key=SECTION)
    answer = answer_of(found[0])
    if answer is not None:
        _offer_answer(answer)


def chosen_answer(record: JobRecord) -> JobRecord | None:
    """Return the newest answer of a run if the user asked to see one."""
    answer = answer_of(record)
    if answer is None or not _is_shown(answer):
        return None
    session.workspace().update(SECTION, answer=_answer_name(answer))  # the newest replaces others
    return answer


def _offer_answer(answer: JobRecord) -> None:
    """Say that there is an answer, and show it if asked to."""
    if session.workspace().get(SECTION).get("answer") == _answer_name(answer):
        return
    sentence, label = _answer_words(answer)
    about = answer_words(answer.result or {})
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/bolt: {sentence}: {about}.", width="content")
        if st.button(label, key=f"{SECTION}:{answer.id}:answer", help=SKILL_HELP):
            memory.remember(SECTION, answer=_answer_name(answer))
            st.rerun()


def _answer_words(answer: JobRecord) -> tuple[str, str]:
    """Return what to say of an answer, and the label of the button that shows it."""
    if answer.state in runs.ACTIVE:
        which = "newer" if _is_shown(answer) else "first"
        return f"A {which} answer is ready", "Show it"
    how = "was cancelled" if answer.state is JobState.CANCELLED else "ended early"
    return f"The run {how}. Its last answer is available", "Use its last answer"


def _answer_name(answer: JobRecord) -> str:
    return f"{answer.id}:{len((answer.result or {})['answers'])}"


def _is_shown(answer: JobRecord) -> bool:
    """Say whether the user is looking at an answer of this run."""
    return str(session.workspace().get(SECTION).get("answer")).startswith(f"{answer.id}:")


def show_early_answer(completed: CompletedTable) -> None:
    """Say what an answer rests on, and offer its table."""
    result = completed.record.result or {}
    sentence_place, button_place = st.columns([4, 1], gap="medium", vertical_alignment="center")
    sentence_place.markdown(
        f":material/bolt: **{count(result['n_imputed'], 'cell')} imputed by an early answer** "
        f"({answer_words(result)}). Several imputations and the script come with the finished run."
    )
    button_place.download_button(
        "CSV",
        data=lambda: escape_formulas(completed.imputed_frame).to_csv(index=False).encode(),
        file_name=f"{stem_of(completed)}-answer.csv",
        mime="text/csv",
        on_click="ignore",
        key=f"{SECTION}:answer-csv",
        icon=":material/download:",
        help="The imputed table so far. Text that begins like a formula gets an apostrophe, so "
        "that no spreadsheet runs it.",
        width="stretch",
    )
