"""A figure on a page: its question above, its data and pictures to take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

if TYPE_CHECKING:  # it is slow to import, and not every page has figures
    import plotly.graph_objects as go

PICTURE_FORMATS = ("PNG", "SVG")


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
        Unique on the page; also the name of the downloaded files.
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
        with st.container(horizontal=True, vertical_alignment="top", wrap=False):
            st.subheader(question, anchor=False, width="stretch")
            picture = _downloads(key, data)
        selection = st.plotly_chart(
            figure,
            width="stretch",
            key=f"{key}:chart",
            on_select=on_select or "ignore",
            selection_mode="points",
            config=_config(key, picture),
            alt=question,
        )
        if caption:
            st.caption(caption)
    return selection if on_select else None


def _downloads(key: str, data: pd.DataFrame | Callable[[], pd.DataFrame] | None) -> str:
    """Draw the menu of downloads and return the chosen kind of picture."""
    with st.popover("Download", icon=":material/download:", type="tertiary", key=f"{key}:menu"):
        picture = st.radio(
            "Picture",
            PICTURE_FORMATS,
            horizontal=True,
            key=f"{key}:picture",
            help="PNG for slides and letters, SVG for print: it stays sharp at any size.",
        )
        st.caption("Then point at the figure and press the camera in its upper right corner.")
        if data is not None:
            st.download_button(
                "Data as CSV",
                data=lambda: _csv(data() if callable(data) else data),
                file_name=f"{key}.csv",
                mime="text/csv",
                on_click="ignore",
                key=f"{key}:csv",
                icon=":material/table_view:",
                help="The numbers that the figure shows.",
            )
    return picture or PICTURE_FORMATS[0]


def _csv(data: pd.DataFrame) -> bytes:
    return data.to_csv(index=False).encode()


def _config(key: str, picture: str) -> dict[str, Any]:
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "scrollZoom": False,
        "toImageButtonOptions": {"format": picture.lower(), "filename": key, "scale": 3},
    }
