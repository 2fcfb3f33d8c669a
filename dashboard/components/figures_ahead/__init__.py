"""Loads Streamlit's drawing code while a page without figures is read.

A browser loads it with the first figure, which takes longer than all else that the figure's page
does: on a page of text there is time for it.
"""

from functools import cache
from pathlib import Path

import streamlit as st

_mount = st.components.v2.component(
    "pmae_figures_ahead",
    js=(Path(__file__).parent / "figures_ahead.js").read_text(encoding="utf-8"),
)


def load_figures_ahead() -> None:
    """Let the browser load the drawing code as soon as it has nothing else to do."""
    if script := drawing_script():
        with st.container(key="figures-ahead"):
            _mount(key="figures-ahead:script", data={"script": script})


@cache
def drawing_script() -> str | None:
    """Return the file name of Streamlit's code for Plotly figures; None if it has no such file."""
    scripts = Path(st.__file__).parent / "static" / "static" / "js"
    return next((path.name for path in scripts.glob("PlotlyChart.*.js")), None)
