"""The column that a lab highlights."""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.state import memory, session


def choose_column(
    label: str,
    columns: Sequence[str],
    *,
    section: str,
    help: str,
    name: str = "focus",
    format_func: Callable[[str], str] = str,
) -> str:
    """Ask for a column; until one is chosen, it is the first, even if the order changes."""
    if name not in session.workspace().get(section):
        st.session_state.pop(memory.setting_key(section, name), None)
    chosen: str = memory.remembered(
        st.selectbox,
        label,
        section=section,
        name=name,
        default=columns[0],
        options=list(columns),
        format_func=format_func,
        help=help,
    )
    return chosen
