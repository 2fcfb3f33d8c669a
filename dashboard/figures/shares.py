"""Groups of values laid over one another: how each is spread, as shares of the group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import tint
from pmae_core.plots.labels import figure_text, hover_names, name_ticks
from pmae_core.plots.style import styled

MOST_BINS = 24


def bin_edges(values: np.ndarray) -> np.ndarray:
    """Return the ends of at most 24 bins: values in the middle of bins, if they are few or whole.

    Parameters
    ----------
    values : float array
        Finite; there may be none.

    Examples
    --------
    >>> bin_edges(np.array([1.0, 2.0, 2.0])).tolist()
    [0.5, 1.5, 2.5]
    >>> bin_edges(np.arange(48)).tolist()[:3]
    [-0.5, 1.5, 3.5]
    """
    distinct = np.unique(values)
    if len(distinct) == 0:
        return np.array([0.0, 1.0])
    low, high = float(distinct[0]), float(distinct[-1])
    if low == high:
        reach = max(abs(low) * 0.01, 0.5)
        return np.array([low - reach, low + reach])
    if len(distinct) <= MOST_BINS:
        middles = (distinct[1:] + distinct[:-1]) / 2
        return np.concatenate([[2 * low - middles[0]], middles, [2 * high - middles[-1]]])
    if (distinct == np.round(distinct)).all():
        step = np.ceil((high - low + 1) / MOST_BINS)  # as many numbers in each bin
        return low - 0.5 + step * np.arange(np.ceil((high - low + 1) / step) + 1)
    return np.linspace(low, high, MOST_BINS + 1)


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
