"""A figure on a page: the question it answers, its menu, the chart and how to read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.components.figure_menu import figure_menu
from dashboard.text import spoken

if TYPE_CHECKING:  # it is slow to import, and not every page has figures
    import plotly.graph_objects as go

# Nothing of Plotly's own stands in the figure: what its bar offers is in the menu.
_CONFIG = {"displayModeBar": False, "scrollZoom": False}


def show_figure(
    figure: go.Figure,
    *,
    question: str,
    key: str,
    data: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
    caption: str | None = None,
    on_select: Callable[[], None] | str | None = None,
) -> Any:
    """Draw a figure below the question that it answers.

    Parameters
    ----------
    figure
        Of a builder in ``dashboard.figures``.
    question
        A sentence (Markdown; user text through ``text.plain`` or ``text.code``).
    key
        Unique on the page; also the name of downloaded files.
    data
        The figure's data for download, or a function that makes it when asked.
    caption
        What to know when reading the figure, below it.
    on_select
        "rerun" or a callback makes points clickable; the selection is returned.

    Returns
    -------
    object
        Streamlit's selection, with `on_select`.
    """
    with st.container(key=f"figure-{key}", gap="small"):
        with st.container(horizontal=True, wrap=False, gap="small"):
            st.subheader(question, anchor=False)
            figure_menu(figure, question=question, name=key, has_data=data is not None)
        selection = st.plotly_chart(
            figure,
            width="stretch",
            key=f"{key}:chart",
            on_select=on_select or "ignore",
            selection_mode="points",
            config=_CONFIG,
            alt=spoken(question),
        )
        if caption:
            st.caption(caption)
        if data is not None:
            _download_button(key, data)
    return selection if on_select else None


def _download_button(key: str, data: pd.DataFrame | Callable[[], pd.DataFrame]) -> None:
    """Draw the button that the menu presses: it stays out of sight, and makes the file late."""
    st.download_button(
        "Data as CSV",
        data=lambda: _csv(data() if callable(data) else data),
        file_name=f"{key}.csv",
        mime="text/csv",
        on_click="ignore",
        key=f"{key}:csv",
    )


def _csv(data: pd.DataFrame) -> bytes:
    return data.to_csv(index=False).encode()
