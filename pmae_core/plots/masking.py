"""The masking function, with the columns of a table on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import MASKED, NEUTRAL, OBSERVED
from pmae_core.plots.labels import figure_text, hover_list
from pmae_core.plots.style import styled

_LABEL_SIZE = (0.4, 0.12)  # of a usual name on a narrow screen, in shares of the axes

# Dense at both ends, where the logit turns sharply.
CURVE_POINTS = np.unique(
    np.concatenate(
        [np.linspace(0, 1, 101), np.geomspace(1e-4, 0.05, 25), 1 - np.geomspace(1e-4, 0.05, 25)]
    )
)


def curve_data(probability: Callable[[np.ndarray], np.ndarray]) -> pd.DataFrame:
    """Return the curve M_j(p_obs) of a masking function."""
    return pd.DataFrame({"p_obs": CURVE_POINTS, "M_j": probability(CURVE_POINTS)})


def curve_figure(
    curve: pd.DataFrame,
    weights: pd.DataFrame,
    *,
    uniform: float,
    name: str = "yours",
    focus: str | None = None,
    revision: str = "curve",
) -> go.Figure:
    """Draw the masking curve with every column of the table as a point on it.

    Parameters
    ----------
    curve : DataFrame with p_obs, M_j
        From :func:`curve_data`. The value at p_obs = 1 is not joined to the line: some functions
        never mask complete columns.
    weights : DataFrame with column, p_obs, M_j
        The table's columns; those with equal values share one point.
    uniform : float
        Rate of uniform masking, drawn for comparison.
    name : str
        What to call the curve.
    focus : str, optional
        A column to highlight.
    revision : str
        While it stays the same, a zoomed view stays zoomed.
    """
    inner = curve[curve["p_obs"] < 1]
    points = _points(weights)
    chosen = weights[weights["column"] == focus]
    traces = [
        go.Scatter(
            x=[0, 1],
            y=[uniform, uniform],
            mode="lines",
            name="uniform",
            line={"color": NEUTRAL, "width": 2, "dash": "dash"},
            hovertemplate=f"uniform masking: {uniform:.0%} of every column<extra></extra>",
        ),
        go.Scatter(
            x=inner["p_obs"],
            y=inner["M_j"],
            mode="lines",
            name=name,
            line={"color": MASKED, "width": 3},
            hovertemplate="observed in %{x:.0%} of rows: %{y:.0%} masked<extra></extra>",
        ),
        go.Scatter(
            x=points["p_obs"],
            y=points["M_j"],
            mode="markers+text",
            name="columns",
            text=_sparse_labels(points, focus),
            textposition=_text_sides(points),
            cliponaxis=False,
            customdata=points["hover"],
            marker={"color": OBSERVED, "opacity": 1, "size": 10 + 3 * np.log2(points["n"])},
            hovertemplate="%{customdata}<br>observed in %{x:.1%} of rows: %{y:.1%} masked"
            "<extra></extra>",
        ),
        go.Scatter(
            x=chosen["p_obs"],
            y=chosen["M_j"],
            mode="markers+text",
            text=[figure_text(focus, 20)] * len(chosen),
            textposition=_text_sides(chosen),
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
            marker={"symbol": "circle-open", "size": 22, "color": MASKED, "line": {"width": 3}},
        ),
    ]
    layout = {
        "xaxis": {
            "title": {"text": "share of rows observed"},
            "tickformat": ".0%",
            "range": [0, 1.02],
        },
        "yaxis": {
            "title": {"text": "share of cells masked"},
            "tickformat": ".0%",
            "range": [-0.04, 1.06],
        },
        "uirevision": revision,
    }
    figure = styled(go.Figure(traces, layout), height=340)
    # Zooming separates columns that lie close together.
    figure.layout.xaxis.fixedrange = figure.layout.yaxis.fixedrange = False
    figure.layout.dragmode = "zoom"
    return figure


def _points(weights: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each place on the curve, with the columns that lie there."""
    places: dict[tuple[float, bool, float], list[str]] = {}
    for column, p_obs, probability in zip(
        weights["column"], weights["p_obs"].tolist(), weights["M_j"].tolist(), strict=True
    ):
        # Rounding must not move an incomplete column to the place of the complete ones.
        place = (round(p_obs, 4), p_obs == 1.0, round(probability, 4))
        places.setdefault(place, []).append(column)
    ordered = sorted(places)
    return pd.DataFrame(
        {
            "p_obs": [place[0] for place in ordered],
            "M_j": [place[2] for place in ordered],
            "n": [len(places[place]) for place in ordered],
            "names": [places[place] for place in ordered],
            "hover": [hover_list(places[place]) for place in ordered],
        }
    )


def _sparse_labels(points: pd.DataFrame, focus: str | None) -> list[str]:
    """Label only points far enough from each other and from the one in focus."""
    places = points[["p_obs", "M_j"]].to_numpy()
    taken = [places[i] for i, names in enumerate(points["names"]) if focus in names]
    texts = []
    for place, names in zip(places, points["names"], strict=True):
        free = all((np.abs(place - other) > _LABEL_SIZE).any() for other in taken)
        one = len(names) == 1
        texts.append((figure_text(names[0], 20) if one else f"{len(names)} columns") * free)
        if free:
            taken.append(place)
    return texts


def _text_sides(points: pd.DataFrame) -> list[str]:
    """Return the sides on which names fit beside a falling curve and inside the axes."""
    return [
        "top right" if p_obs < 0.5 else "bottom left" if probability > 0.1 else "top left"
        for p_obs, probability in zip(points["p_obs"], points["M_j"], strict=True)
    ]
