"""A page with figures of every kind, for tests of their menu: ``streamlit run`` it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from tests.support.paths import ROOT

HOSTILE_NAME = "it's <b>''' \\ & \"5\" `x`"


def bars() -> go.Figure:
    """Return a figure with words of users, and with numbers that are sent packed."""
    from pmae_core.plots.labels import figure_text
    from pmae_core.plots.style import styled

    names = [figure_text(HOSTILE_NAME), "ünïcode", "age"]
    figure = go.Figure()
    figure.add_bar(x=names, y=np.array([0.5, np.nan, 0.25]), name="missing")
    figure.add_bar(x=names, y=np.array([0.5, 0.5, 0.75]), name="observed")
    figure.update_yaxes(title="share of rows")
    return styled(figure)


def points() -> go.Figure:
    """Return a figure that is too long for the cell of a notebook, drawn by WebGL."""
    from pmae_core.plots.style import styled

    places = np.random.default_rng(0).normal(size=(2, 20_000))
    return styled(go.Figure(go.Scattergl(x=places[0], y=places[1], mode="markers")))


def data() -> pd.DataFrame:
    """Return the numbers of the bars."""
    return pd.DataFrame({"column": [HOSTILE_NAME, "age"], "share": [0.5, 0.25]})


def show() -> None:
    """Draw the page."""
    import streamlit as st

    from dashboard.text import code
    from dashboard.widgets import show_figure

    style = ROOT / "dashboard" / "shell" / "style.css"
    st.set_page_config(layout="wide")
    st.html(style)
    question = f"How much of {code(HOSTILE_NAME)} is missing, and how much was observed?"
    show_figure(bars(), question=question, key="bars", data=data, caption="One bar per column.")
    left, right = st.columns(2)
    with left:
        show_figure(points(), question="Where are the points?", key="points")
    with right:
        show_figure(bars(), question="Which bar?", key="chosen", data=data(), on_select="rerun")


if __name__ == "__main__":
    show()
