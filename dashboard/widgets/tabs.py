"""Tabs of which only the one in sight is computed and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st


def show_tabs(contents: Mapping[str, Callable[[], None]], *, key: str) -> None:
    """Draw tabs by their names, and the content of the one that is open.

    Streamlit draws all tabs by default: a page would wait for figures that nobody looks at.
    """
    for place, draw in zip(
        st.tabs(list(contents), key=key, on_change="rerun"), contents.values(), strict=True
    ):
        if place.open:
            with place:
                draw()
