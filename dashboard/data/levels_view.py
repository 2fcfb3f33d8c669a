"""Where users put the levels of an ordinal column in order."""

import streamlit as st

from dashboard.data import levels
from dashboard.state import session
from dashboard.state.table_state import OpenTable
from dashboard.widgets import errors_as_notices

_KEY = "data:levels"


def show_levels(table: OpenTable) -> None:
    """Draw the order of the levels of one column, which can be changed."""
    names = levels.columns_with_levels(table)
    if not names:
        return
    with st.expander("Order of levels", icon=":material/stairs_2:"):
        left, right = st.columns([1, 2.5], gap="small")
        with left:
            column = st.selectbox("Column", names, key=f"{_KEY}:column")
        text, is_known = levels.order_of(table, column)
        with right:
            st.text_input(
                "From the lowest to the highest",
                text,
                key=f"{_KEY}:text:{table.digest}:{column}",
                help="Separate levels by <. An ordinal column is imputed by its levels in order.",
            )
        if not is_known:
            st.caption("These levels are in alphabetical order. Put them in their own order.")
        st.button(
            "Use this order",
            key=f"{_KEY}:use",
            icon=":material/check:",
            on_click=_keep_levels,
            args=(column, f"{_KEY}:text:{table.digest}:{column}"),
        )


@errors_as_notices
def _keep_levels(column: str, key: str) -> None:
    in_order = levels.read_order(st.session_state[key])
    session.workspace().set_levels(column, in_order)
