"""Links from one page to another."""

import streamlit as st
from streamlit.errors import StreamlitAPIException


def page_link(file: str, label: str, icon: str) -> None:
    """Draw a link to a page, which stays in the workspace of this session.

    Parameters
    ----------
    file
        The page's file in ``pages/``.
    label, icon
        What to show.
    """
    try:
        st.page_link(f"../pages/{file}", label=label, icon=icon)
    except StreamlitAPIException:  # a page that runs alone knows no others
        st.markdown(f"{icon} {label}")


def switch_to_page(file: str) -> None:
    """Go to a page of ``pages/`` at once."""
    try:
        st.switch_page(f"../pages/{file}")
    except StreamlitAPIException:  # a page that runs alone knows no others
        st.info("This page runs alone. Open the whole app to go on.")
