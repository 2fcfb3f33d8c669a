"""A button that prints the page: Streamlit has none."""

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "pmae_print_button",
    html=(_HERE / "print_button.html").read_text(encoding="utf-8"),
    css=(_HERE / "print_button.css").read_text(encoding="utf-8"),
    js=(_HERE / "print_button.js").read_text(encoding="utf-8"),
)


def print_button(*, key: str) -> None:
    """Draw the button.

    Parameters
    ----------
    key
        Unique on the page.
    """
    _mount(key=key)
