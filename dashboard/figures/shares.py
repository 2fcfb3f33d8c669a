"""Groups of values laid over one another: how each is spread, as shares of the group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.figures.labels import hover_names, name_ticks
from dashboard.figures.style import styled
from dashboard.shell.theme import tint
from dashboard.text import figure_text


def shares_figure(
    data: pd.DataFrame,
    groups: Sequence[tuple[str, str, str]],
    *,
    name: str,
    share_of: str,
    edges: Any = None,
    revision: str = "shares",
) -> go.Figure:
    """Draw how groups of values are spread: bars for categories, stepped areas for bins.

    Parameters
    ----------
    data : DataFrame
        One row per ``category``, or per bin ``from`` ... ``to``; one column of shares per group.
    groups : sequence of (column, title, color)
        What to draw.
    name : str
        What the values are.
    share_of : str
        Of what the shares are, for the axis.
    edges : array, optional
        The ends of the bins where ``from`` and ``to`` are no numbers to show, such as dates.
    """
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": figure_text(name)}},
        "yaxis": {
            "title": {"text": f"share of {share_of}"},
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        "uirevision": revision,
    }
    traces: list[Any]
    if "category" in data:
        labels = list(data["category"])
        layout["barmode"] = "group"
        layout["xaxis"] |= name_ticks(labels, most=max(1, len(labels)))
        traces = [
            go.Bar(
                x=np.arange(len(data)),
                y=data[key],
                name=title,
                marker={"color": color},
                customdata=hover_names(labels),
                hovertemplate=f"%{{customdata}}: %{{y:.1%}}<extra>{title}</extra>",
            )
            for key, title, color in groups
        ]
    else:
        edges = np.append(data["from"], data["to"].iloc[-1:]) if edges is None else edges
        traces = [
            go.Scatter(
                x=edges,
                y=np.append(data[key], data[key].iloc[-1:]),
                name=title,
                mode="lines",
                line={"color": color, "width": 2, "shape": "hv"},
                fill="tozeroy",
                fillcolor=tint(color, 0.25),
                hovertemplate=f"%{{y:.1%}} from %{{x}}<extra>{title}</extra>",
            )
            for key, title, color in groups
        ]
    return styled(go.Figure(traces, layout))
