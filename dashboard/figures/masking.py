"""Figures of the masking lab: the weights of both tasks, and cells of the table.

The curve is in :mod:`pmae_core.plots.masking`, which notebooks use as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import COLOR_OF, MASKED, OBSERVED
from pmae_core.plots.labels import hover_names, name_ticks
from pmae_core.plots.style import color_legend, styled


def weights_figure(
    weights: pd.DataFrame, *, uniform: float, revision: str = "weights"
) -> go.Figure:
    """Draw the shares of prediction and reconstruction in the loss of each column.

    Columns keep their order.
    """
    places = np.arange(len(weights))
    columns = list(weights["column"])
    names = hover_names(columns)
    bars = [
        go.Bar(
            y=places,
            x=share,
            name=name,
            orientation="h",
            marker={"color": color},
            customdata=names,
            hovertemplate=f"%{{customdata}}: {name} %{{x:.1%}}<extra></extra>",
        )
        for name, share, color in (
            ("predict (masked)", weights["M_j"], MASKED),
            ("reconstruct (not masked)", 1.0 - weights["M_j"], OBSERVED),
        )
    ]
    beside = go.Scatter(
        x=np.full(len(weights), uniform),
        y=places,
        mode="markers",
        name="uniform masking",
        marker={"symbol": "line-ns", "size": 16, "line": {"width": 3, "color": "white"}},
        hovertemplate=f"uniform masking: {uniform:.0%}<extra></extra>",
        showlegend=False,
    )
    layout = {
        "barmode": "stack",
        "xaxis": {
            "title": {"text": "weight in the column's loss"},
            "tickformat": ".0%",
            "range": [0, 1.005],
        },
        "yaxis": {
            "autorange": "reversed",
            **name_ticks(list(weights["column"]), most=len(weights)),
        },
        "uirevision": revision,
    }
    figure = styled(go.Figure([*bars, beside], layout), height=110 + 24 * max(len(weights), 2))
    figure.layout.legend.traceorder = "normal"
    return figure


# The states of a cell, by number.
MISSING_CELL, OBSERVED_CELL, MASKED_CELL = 0, 1, 2
STATES = np.array(["missing", "observed", "masked"], dtype=object)


def cell_states(observed: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """Return the state of each cell: missing, observed, or masked."""
    states = np.where(observed, OBSERVED_CELL, MISSING_CELL)
    if masked is not None:
        states[masked & observed] = MASKED_CELL
    return states


def cells_figure(
    states: np.ndarray, columns: Sequence[str], *, revision: str = "cells"
) -> go.Figure:
    """Draw rows of a table cell by cell, each in the color of its state.

    Parameters
    ----------
    states : int array of shape (rows, columns)
        From :func:`cell_states`.
    columns : sequence of str
        Their names.
    """
    n_states = len(STATES)
    scale = [
        (edge, COLOR_OF[word])
        for position, word in enumerate(STATES)
        for edge in (position / n_states, (position + 1) / n_states)
    ]
    cells = go.Heatmap(
        z=states,
        zmin=-0.5,
        zmax=n_states - 0.5,
        colorscale=scale,
        showscale=False,
        xgap=1 if len(columns) <= 60 else 0,
        ygap=1,
        text=hover_names(columns) + ": " + STATES[states],
        hovertemplate="%{text}<extra></extra>",
    )
    occurring = [word for state, word in enumerate(STATES) if (states == state).any()]
    legend = color_legend({word: COLOR_OF[word] for word in occurring})
    bare = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {**bare, **name_ticks(columns, most=20), "tickangle": -90},
        "yaxis": {**bare, "showticklabels": False, "autorange": "reversed"},
        "uirevision": revision,
        "showlegend": True,
    }
    figure = styled(go.Figure([cells, *legend], layout), height=340)
    if len(legend) > 2:  # keeps the legend in one row on narrow screens
        figure.layout.legend.update(entrywidth=0.32, entrywidthmode="fraction")
    return figure
