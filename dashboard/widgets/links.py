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
