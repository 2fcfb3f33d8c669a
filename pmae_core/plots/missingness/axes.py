"""Axes, bars and labels that the figures of missingness share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pmae_core.colors import COLOR_OF, MISSING, OBSERVED
from pmae_core.plots.labels import figure_text, name_ticks

FROM_OBSERVED_TO_MISSING = [[0, OBSERVED], [1, MISSING]]
_KINDS: dict[float | None, str] = {0.0: "complete columns", 1.0: "columns without values"}
SHARES = {"tickformat": ".0%", "range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1]}


def group_label(group: Sequence[Any], share_missing: float | None = None) -> str:
    """Return the label of a line or point: a name, or the first of several and how many others.

    Where it is known that all or none of their cells are missing, several columns are called by
    that.
    """
    if len(group) == 1:
        return figure_text(group[0], 22)
    if share_missing in _KINDS:
        return f"{len(group):,} {_KINDS[share_missing]}"
    others = "1 other" if len(group) == 2 else f"{len(group) - 1:,} others"
    return f"{figure_text(group[0], 16)} + {others}"


def share_bar(
    shares: Iterable[float], kind: str, hover: np.ndarray, template: str, *, name: str | None = None
) -> go.Bar:
    """Return a bar per line for the shares of one kind, "observed" or "missing"."""
    return go.Bar(
        x=list(shares),
        y=list(range(len(hover))),
        orientation="h",
        name=name or kind,
        marker={"color": COLOR_OF[kind], "line": {"width": 0}},
        customdata=hover,
        hovertemplate=f"{template}<extra></extra>",
    )


def names_downwards(names: Sequence[Any]) -> dict[str, Any]:
    """Return settings of an axis with names from top to bottom at 0, 1, 2, ..."""
    return {
        **name_ticks(names, most=len(names) or 1),
        "range": [len(names) - 0.4, -0.6],
        "showgrid": False,
        "zeroline": False,
    }


def labels_downwards(labels: Sequence[str]) -> dict[str, Any]:
    """Return settings of an axis with finished labels from top to bottom at 0, 1, 2, ..."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": list(labels),
        "range": [len(labels) - 0.4, -0.6],
        "showgrid": False,
        "zeroline": False,
    }


def different(labels: Iterable[str]) -> list[str]:
    """Return labels that differ, so that an axis of names keeps equal ones apart."""
    seen: dict[str, int] = {}
    result = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        result.append(label + "\u200b" * (seen[label] - 1))
    return result


def flat_scale(title: str, **settings: Any) -> dict[str, Any]:
    """Return a color scale that lies flat below the figure, where a narrow screen has room."""
    return {
        "title": {"text": title, "side": "bottom"},
        "orientation": "h",
        "thickness": 10,
        "len": 0.8,
        "x": 0,
        "xanchor": "left",
        "y": -0.02,
        "yanchor": "top",
        **settings,
    }


def with_room_for_100(figure: go.Figure) -> go.Figure:
    """Return the figure with a margin for half of the label "100%", which is left out without."""
    return figure.update_layout(margin={"r": 28})


def height_of(n_items: int, each: int, around: int) -> int:
    """Return the height of a figure whose items are `each` pixels high."""
    return around + each * max(n_items, 1)
