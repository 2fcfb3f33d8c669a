"""How groups of rows differ: effects with what chance does, and the values themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pmae_core.colors import FAINT, MISSING, NEUTRAL, OBSERVED
from pmae_core.missingness import ValueDistribution
from pmae_core.plots.labels import figure_text, hover_names, name_ticks
from pmae_core.plots.missingness.axes import height_of, names_downwards
from pmae_core.plots.style import styled
from pmae_core.words import count

# Labels that have room side by side: names, and ranges of whole numbers.
_MOST_NAMES, _MOST_RANGES = 25, 10


def differences_figure(compared: pd.DataFrame) -> go.Figure:
    """Draw how rows with and without a missing value differ, of :func:`compare_rows`."""
    return _effects_figure(
        compared,
        value="effect",
        titles={
            "numerical": "difference of means, in standard deviations",
            "categorical": "Cramér's V: 0 no relation, 1 complete",
        },
        least=0.5,
    )


def shifts_figure(shift: pd.DataFrame) -> go.Figure:
    """Draw how far columns move when rows are dropped, of :func:`dropping_shift`."""
    return _effects_figure(
        shift,
        value="shift",
        titles={
            "numerical": "shift of the mean, in standard deviations",
            "categorical": "share of labels that change",
        },
        least=0.2,
    )


def _effects_figure(
    effects: pd.DataFrame, *, value: str, titles: dict[str, str], least: float
) -> go.Figure:
    """Draw effects as bars, numerical columns above categorical ones, with what chance does.

    Parameters
    ----------
    effects : DataFrame
        By column name: ``kind``, the effect, and its size ``by_chance`` (a gray area reaches to
        it). Rows without an effect are left out.
    value : str
        Name of the effect.
    titles : dict
        What the axes of the two kinds show, the numerical one first.
    least : float
        The axes reach at least so far, so that small effects look small.
    """
    measured = effects[effects[value].notna()]
    panels = [
        (title, measured[measured["kind"] == kind])
        for kind, title in titles.items()
        if (measured["kind"] == kind).any()
    ]
    sizes = [len(panel) for _, panel in panels]
    height = height_of(sum(sizes), 23, 75 * max(1, len(panels)))
    figure = make_subplots(
        rows=max(1, len(panels)),
        cols=1,
        row_heights=[size + 0.5 for size in sizes] or None,
        vertical_spacing=min(0.4, 70 / height),
    )
    for row, (title, panel) in enumerate(panels, start=1):
        for trace in _effect_traces(panel, value):
            figure.add_trace(trace, row=row, col=1)
        figure.update_xaxes(
            title=title,
            zeroline=True,
            zerolinecolor=NEUTRAL,
            range=_effect_range(panel, value, least),
            row=row,
            col=1,
        )
        figure.update_yaxes(**names_downwards(list(panel.index)), row=row, col=1)
    figure.update_layout(showlegend=False, barmode="overlay")
    return styled(figure, height=height)


def _effect_traces(panel: pd.DataFrame, value: str) -> list[go.Bar]:
    places = list(range(len(panel)))
    reach = _reach(panel)
    lowest = np.where(panel["kind"] == "numerical", -reach, 0.0)
    return [
        go.Bar(
            x=reach - lowest,
            base=lowest,
            y=places,
            width=0.8,
            orientation="h",
            marker={"color": FAINT, "line": {"width": 0}},
            hoverinfo="skip",
        ),
        go.Bar(
            x=panel[value],
            y=places,
            width=0.4,
            orientation="h",
            marker={"color": MISSING, "line": {"width": 0}},
            customdata=hover_names(list(panel.index)),
            hovertemplate="%{customdata}: %{x:.2f}<extra></extra>",
        ),
    ]


def _reach(panel: pd.DataFrame) -> np.ndarray:
    return panel["by_chance"].fillna(0).to_numpy(dtype=float)


def _effect_range(panel: pd.DataFrame, value: str, least: float) -> list[float]:
    values, reach = panel[value].to_numpy(dtype=float), _reach(panel)
    highest = 1.05 * max(values.max(), reach.max(), least)
    if (panel["kind"] == "categorical").all():
        return [0, min(highest, 1.001)]
    return [1.05 * min(values.min(), -reach.max(), -least), highest]


def distribution_figure(
    compared: ValueDistribution,
    *,
    column: object,
    other: object,
    second: tuple[str, str] = ("missing", MISSING),
) -> go.Figure:
    """Draw the values of a column apart for rows in which another is observed and missing.

    `second` is what to call the latter rows, and their color.
    """
    groups = [
        (compared.share_observed, compared.n_observed, "observed", OBSERVED),
        (compared.share_missing, compared.n_missing, *second),
    ]
    name = figure_text(column, 18)
    figure = go.Figure()
    for shares, n_rows, kind, color in groups:
        figure.add_trace(
            go.Bar(
                x=list(range(len(compared.labels))),
                y=shares,
                name=f"{name} {kind} ({count(n_rows, 'row')})",
                marker={"color": color, "line": {"width": 0}},
                customdata=hover_names(compared.labels),
                hovertemplate=f"%{{customdata}}: %{{y:.1%}} of rows with {name} {kind}"
                "<extra></extra>",
            )
        )
    figure.update_layout(barmode="group", bargap=0.15, bargroupgap=0)
    figure.update_xaxes(title=figure_text(other, 40), **_value_ticks(compared), showgrid=False)
    figure.update_yaxes(title="share of the group's rows", tickformat=".0%", rangemode="tozero")
    return styled(figure, height=310)


def _value_ticks(compared: ValueDistribution) -> dict[str, Any]:
    """Return where values are written: below their bar, or numbers between the bars they end."""
    if compared.edge_labels is None:
        most = _MOST_NAMES if compared.kind == "categorical" else _MOST_RANGES
        return {**name_ticks(compared.labels, most=most), "automargin": True}
    edges = compared.edge_labels
    step = max(1, (len(edges) - 1) // 4)
    return {
        "tickmode": "array",
        "tickvals": [place - 0.5 for place in range(0, len(edges), step)],
        "ticktext": [figure_text(edge, 20) for edge in edges[::step]],
    }
