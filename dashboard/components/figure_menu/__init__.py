"""The menu in the corner of a figure: its picture, its data and its code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.text import spoken

if TYPE_CHECKING:  # it is slow to import, and not every page has figures
    import plotly.graph_objects as go

BUTTON_WIDTH = 32  # pixels, as in the style

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "pmae_figure_menu",
    html=(_HERE / "figure_menu.html").read_text(encoding="utf-8"),
    css=(_HERE / "figure_menu.css").read_text(encoding="utf-8"),
    js=(_HERE / "figure_menu.js").read_text(encoding="utf-8"),
)


def figure_menu(figure: go.Figure, *, question: str, name: str, has_data: bool) -> None:
    """Draw the menu of the figure that stands in the same container ``figure-…``.

    Pictures and code are made in the browser when somebody asks for them. The traces are there
    already, with the chart. The layout is sent once more, since Streamlit lays the colors of the
    browser's theme over the one of the chart, and what leaves the page is for white paper.

    Parameters
    ----------
    figure
        The one that the chart shows.
    question
        Its title in pictures (Markdown).
    name
        Of the files, without their ending.
    has_data
        Whether the container has a download button for the data, which the menu presses.
    """
    from plotly.io.json import to_json_plotly

    _mount(
        key=f"{name}:menu",
        data={
            "name": name,
            "title": spoken(question),
            "layout": to_json_plotly(figure.layout.to_plotly_json()),
            "hasData": has_data,
        },
        width=BUTTON_WIDTH,
    )
