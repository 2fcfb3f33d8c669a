"""A cookie in the visitor's browser: Streamlit reads cookies, but cannot write them."""

from pathlib import Path

import streamlit as st

_mount = st.components.v2.component(
    "pmae_browser_cookie",
    js=(Path(__file__).parent / "browser_cookie.js").read_text(encoding="utf-8"),
)


def write_cookie(name: str, value: str, *, days: int) -> None:
    """Keep a value in the browser; ``st.context.cookies`` has it from the next visit on.

    Parameters
    ----------
    name, value
        Of the cookie.
    days
        How long the browser keeps it.
    """
    with st.container(key="browser-cookie"):
        _mount(
            key=f"cookie:{name}", data={"name": name, "value": value, "seconds": days * 24 * 3600}
        )
