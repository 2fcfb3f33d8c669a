"""The column that a lab highlights."""

from collections.abc import Sequence

import streamlit as st

from dashboard.state import memory, session


def choose_column(label: str, columns: Sequence[str], *, section: str, help: str) -> str:
    """Ask for a column; until one is chosen, it is the first, even if the order changes."""
    if "focus" not in session.workspace().get(section):
        st.session_state.pop(memory.setting_key(section, "focus"), None)
    chosen: str = memory.remembered(
        st.selectbox,
        label,
        section=section,
        name="focus",
        default=columns[0],
        options=list(columns),
        help=help,
    )
    return chosen
