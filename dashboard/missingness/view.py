"""The Missingness page: its story, and the section that is chosen."""

from __future__ import annotations

import streamlit as st

from dashboard.missingness import words
from dashboard.missingness.clues_view import show_clues
from dashboard.missingness.columns_view import show_how_much, show_where
from dashboard.missingness.complete_cases_view import show_complete_cases
from dashboard.missingness.controls import SECTION
from dashboard.missingness.facts import MissingnessFacts, facts_of
from dashboard.missingness.patterns_view import show_patterns
from dashboard.missingness.pictures_view import show_pictures
from dashboard.missingness.together_view import show_together
from dashboard.state.table_state import OpenTable
from dashboard.text import code
from dashboard.widgets import choose_view

SECTIONS = {
    "How much": show_how_much,
    "Where": show_where,
    "Together": show_together,
    "Patterns": show_patterns,
    "Clues": show_clues,
    "Complete cases": show_complete_cases,
    "Pictures": show_pictures,
}
_SENTENCES_ON_TOP = 2


def show_missingness(table: OpenTable) -> None:
    """Draw the page for a table: the story, and one section, which alone is computed."""
    facts = facts_of(table.digest, table.frame)
    if facts.summary.n_missing == 0:
        st.title("Missingness", anchor=False)
        _show_complete(facts)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Missingness", anchor=False, width="content")
        chosen = choose_view("What do you want to know?", SECTIONS, section=SECTION)
    _tell_story(facts)
    SECTIONS[chosen](table, facts)


def _show_complete(facts: MissingnessFacts) -> None:
    st.success(
        f"{facts.summary.sentence()} If some values stand for missing ones (such as -999 or ?), "
        "declare them on the Data page. To see what missing values would do, simulate some in the "
        "Amputation lab.",
        icon=":material/check_circle:",
    )


def _tell_story(facts: MissingnessFacts) -> None:
    sentences = facts.story.sentences(code)[:_SENTENCES_ON_TOP]
    st.markdown(f"**{' '.join(sentences)}** {words.how_much(facts.summary)}")
