"""Scenarios of the Amputation lab: save the settings under a name, open and delete saved ones."""

from __future__ import annotations

import streamlit as st

from dashboard.amputation.controls import control_values
from dashboard.amputation.lab import scenario_words
from dashboard.amputation.scenario import Scenario
from dashboard.amputation.settings_view import SECTION
from dashboard.errors import errors_as_notices, sentence_of
from dashboard.state import memory, session
from dashboard.text import plain
from pmae_core.errors import PMAEError

_MESSAGES = f"{SECTION}:messages"


def show_scenarios(scenario: Scenario, *, can_save: bool) -> None:
    """Draw the form that saves the present settings, and all saved scenarios."""
    st.caption(
        "A scenario simulates the same missing values again: in the Masking lab, and on Compare, "
        "where methods are judged by how well they impute them."
    )
    with (
        st.form(f"{SECTION}:keep", border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input(
            "Name of the scenario",
            key=f"{SECTION}:new_name",
            placeholder="for example: half of the incomes missing",
            max_chars=80,
            help="A scenario of the same name is replaced.",
        )
        submitted = st.form_submit_button(
            "Save", type="primary", disabled=not can_save, icon=":material/bookmark_add:"
        )
    if submitted:
        _save(name, scenario)
    for kind, sentence in st.session_state.pop(_MESSAGES, []):
        getattr(st, kind)(sentence)
    scenarios = session.workspace().scenarios()
    if not scenarios:
        st.caption("No scenarios saved yet.")
    for number, (saved, settings) in enumerate(reversed(scenarios.items())):
        _show_scenario(saved, settings, number)


def _show_scenario(name: str, settings: dict[str, object], number: int) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        try:
            saved = Scenario.from_dict(settings)
            words = scenario_words(saved)
        except PMAEError as error:
            saved, words = None, sentence_of(error)
        st.markdown(f"**{plain(name)}**: {words}", width="stretch")
        with st.container(horizontal=True, width="content"):
            if saved is not None:
                st.button(
                    "Open",
                    key=f"{SECTION}:open:{number}",
                    on_click=_open,
                    args=(name, saved),
                    help="Use the settings of this scenario.",
                )
            st.button(
                "Delete",
                key=f"{SECTION}:delete:{number}",
                on_click=_delete,
                args=(name,),
                help="Delete this scenario.",
            )


def _save(name: str, scenario: Scenario) -> None:
    try:
        session.workspace().save_scenario(name, scenario.to_dict())
    except (PMAEError, OSError) as error:
        _report("error", sentence_of(error))
    else:
        _report("success", f"Saved as **{plain(name)}**.")


@errors_as_notices
def _delete(name: str) -> None:
    session.workspace().delete_scenario(name)
    _report("info", f"Deleted **{plain(name)}**.")


@errors_as_notices
def _open(name: str, scenario: Scenario) -> None:
    memory.remember(SECTION, **control_values(scenario))
    if isinstance(scenario.proportions, dict):
        by_hand = {column: 100 * share for column, share in scenario.proportions.items()}
        session.workspace().update(SECTION, by_hand=by_hand)
        for key in [key for key in st.session_state if f"{SECTION}:by_hand:" in str(key)]:
            del st.session_state[key]
    _report("info", f"Opened **{plain(name)}**: the page now has its settings.")


def _report(kind: str, sentence: str) -> None:
    st.session_state.setdefault(_MESSAGES, []).append((kind, sentence))
