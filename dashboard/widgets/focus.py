"""The column that a lab looks at closely."""

from collections.abc import Sequence

import streamlit as st

from dashboard.state import memory, session


def choose_column(label: str, columns: Sequence[str], *, section: str, help: str) -> str:
    """Ask for a column; who never chose one sees the first, whatever comes first then."""
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
