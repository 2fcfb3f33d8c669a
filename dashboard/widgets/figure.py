"""A figure on a page: its question above, its data and pictures to take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.text import spoken

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
        st.subheader(question, anchor=False)
        selection = st.plotly_chart(
            figure,
            width="stretch",
            key=f"{key}:chart",
            on_select=on_select or "ignore",
            selection_mode="points",
            config=_config(key),
            alt=spoken(question),
        )
        if caption:
            st.caption(caption)
        _show_downloads(key, data)
    return selection if on_select else None


def _show_downloads(key: str, data: pd.DataFrame | Callable[[], pd.DataFrame] | None) -> None:
    with st.popover("Download", icon=":material/download:", key=f"{key}:menu"):
        st.radio(
            "Picture",
            PICTURE_FORMATS,
            horizontal=True,
            key=_picture_key(key),
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


def _csv(data: pd.DataFrame) -> bytes:
    return data.to_csv(index=False).encode()


def _config(key: str) -> dict[str, Any]:
    picture = st.session_state.get(_picture_key(key)) or PICTURE_FORMATS[0]
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "scrollZoom": False,
        "toImageButtonOptions": {"format": picture.lower(), "filename": key, "scale": 3},
    }


def _picture_key(key: str) -> str:
    return f"{key}:picture"
