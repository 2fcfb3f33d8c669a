"""A link to the settings of a page."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.state.links import share_link


def share_button(page: str, settings: Mapping[str, Any], *, section: str | None = None) -> None:
    """Draw "Share this view": a link with the settings, without the data.

    Parameters are those of :func:`dashboard.state.links.share_link`.
    """
    with st.popover("Share this view", icon=":material/share:", key=f"{page}:share"):
        st.caption(
            "Anyone who opens this link sees this page with these settings and their own table. "
            "It does not contain your data."
        )
        st.code(share_link(page, settings, section=section), language=None, wrap_lines=True)
