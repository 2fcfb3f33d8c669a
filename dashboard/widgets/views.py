"""The choice of a part of a page, of which only the chosen one is computed and drawn."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from dashboard.state import memory


def choose_view(label: str, views: Iterable[str], *, section: str, name: str = "view") -> str:
    """Let the reader choose one of several views, at first the first; remembered by section.

    Parameters
    ----------
    label
        What the choice is about, for screen readers.
    views
        The names of the views.
    section, name
        What the choice is remembered as.
    """
    options = list(views)
    chosen: str = memory.remembered(
        st.segmented_control,
        label,
        section=section,
        name=name,
        default=options[0],
        options=options,
        required=True,
        wrap=True,
        width="content",
        label_visibility="collapsed",
    )
    return chosen
