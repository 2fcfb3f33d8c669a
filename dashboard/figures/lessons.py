"""Figures of the lessons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.figures.style import styled
from dashboard.shell.theme import MASKED, MISSING, NEUTRAL, OBSERVED, tint
from dashboard.text import figure_text

_BINS = 28


# A small table to click on


def small_table_figure(cells: pd.DataFrame, chosen: tuple[int, str] | None = None) -> go.Figure:
    """Draw a small table as squares that can be clicked.

    Parameters
    ----------
    cells : DataFrame of str
        What to write into each cell; "?" where it is missing.
    chosen : (row, column), optional
        The cell to frame.
    """
    names = list(cells.columns)
    places = [(row, name) for row in range(len(cells)) for name in names]
    words = [str(cells.iloc[row][name]) for row, name in places]
    missing = np.array([word == "?" for word in words])
    # One trace: a point must keep its place in the selection whatever its color.
    squares = go.Scatter(
        x=[names.index(name) for _, name in places],
        y=[row for row, _ in places],
        mode="markers+text",
        text=[figure_text(word, 8) for word in words],
        textfont={"color": "white", "size": 11},
        customdata=[[row, name] for row, name in places],
        marker={
            "symbol": "square",
            "size": 27,
            "color": np.where(missing, MISSING, OBSERVED),
            "opacity": 1,
            "line": {
                "color": MASKED,
                "width": [5 if place == chosen else 0 for place in places],
            },
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": "white"}},
        hovertemplate="%{customdata[1]} of patient %{customdata[0]}: %{text}<extra></extra>",
        showlegend=False,
    )
    bare = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {
            **bare,
            "side": "top",
            "tickmode": "array",
            "tickvals": list(range(len(names))),
            "ticktext": [figure_text(name.replace("_", " "), 18) for name in names],
            "tickangle": -40,
            "range": [-0.6, len(names) - 0.4],
        },
        "yaxis": {
            **bare,
            "title": {"text": "patient"},
            "tickmode": "array",
            "tickvals": list(range(len(cells))),
            "range": [len(cells) - 0.4, -0.6],
        },
        "uirevision": "cells",
    }
    figure = styled(go.Figure([squares], layout), height=110 + 30 * len(cells))
    figure.layout.clickmode = "event+select"
    return figure


# Distributions, and what chance does to an estimate


def densities_figure(groups: Mapping[str, tuple[np.ndarray, str]], title: str) -> go.Figure:
    """Draw overlaid histograms of some groups of numbers, each with its mean as a line.

    Parameters
    ----------
    groups : mapping of name to (numbers, color)
        The groups; counts are drawn, so that their sizes can be compared.
    title : str
        What the numbers are.
    """
    everything = np.concatenate([values for values, _ in groups.values()])
    edges = np.linspace(everything.min(), everything.max(), _BINS + 1)
    figure = go.Figure()
    for name, (values, color) in groups.items():
        figure.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=np.histogram(values, edges)[0],
            width=np.diff(edges),
            name=name,
            marker={"color": tint(color, 0.55), "line": {"width": 0}},
            hovertemplate=f"{name}, about %{{x:.0f}}: %{{y}} rows<extra></extra>",
        )
    for values, color in groups.values():
        figure.add_vline(x=float(values.mean()), line={"color": color, "width": 3})
    figure.update_layout(barmode="overlay", bargap=0, showlegend=True)
    figure.update_xaxes(title={"text": title})
    figure.update_yaxes(title={"text": "rows"})
    return styled(figure)


def repetitions_figure(
    estimates: np.ndarray, marks: Mapping[str, tuple[float, str, str]], title: str
) -> go.Figure:
    """Draw an estimate in many repetitions, with some values to compare it with.

    Parameters
    ----------
    estimates : array
        One number per repetition.
    marks : mapping of name to (value, color, dash)
        Lines to draw, such as the truth.
    title : str
        What the estimate is.
    """
    counts, edges = np.histogram(estimates, _BINS)
    top = float(counts.max()) * 1.05
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=np.diff(edges),
            name="repetitions",
            marker={"color": tint(OBSERVED, 0.55), "line": {"width": 0}},
            hovertemplate="about %{x:.2f}: %{y} repetitions<extra></extra>",
        )
    )
    for name, (value, color, dash) in marks.items():
        figure.add_scatter(
            x=[value, value],
            y=[0, top],
            mode="lines",
            name=name,
            line={"color": color, "width": 3, "dash": dash},
            hovertemplate=f"{name}: %{{x:.2f}}<extra></extra>",
        )
    figure.update_layout(bargap=0)
    figure.update_xaxes(title={"text": title})
    figure.update_yaxes(title={"text": "repetitions"}, range=[0, top])
    return styled(figure)


# A slope


def scatter_figure(
    rows: pd.DataFrame,
    kept: np.ndarray | None = None,
    *,
    line: tuple[float, float],
    kept_line: tuple[float, float] | None = None,
) -> go.Figure:
    """Draw two columns against each other, with regression lines.

    Parameters
    ----------
    rows : DataFrame of two columns
        The first is on the horizontal axis, the second on the vertical.
    kept : bool array, optional
        The complete rows; all if not given.
    line, kept_line : (slope, intercept)
        Of all rows, and of the complete ones.
    """
    x, y = rows.columns
    kept = np.ones(len(rows), dtype=bool) if kept is None else kept
    figure = go.Figure()
    looks = (("complete rows", kept, OBSERVED, 0.65), ("incomplete rows", ~kept, MISSING, 0.4))
    for name, group, color, opacity in looks:
        if group.any():
            figure.add_scatter(
                x=rows.loc[group, x],
                y=rows.loc[group, y],
                mode="markers",
                name=name,
                marker={"color": color, "size": 6, "opacity": opacity},
                hovertemplate=f"{_words(x)} %{{x:.0f}}, {_words(y)} %{{y:.0f}}<extra></extra>",
            )
    ends = np.array([rows[x].min(), rows[x].max()])
    for name, shown, look in (
        ("line, all rows", line, {"color": NEUTRAL, "dash": "dash"}),
        ("line, complete rows", kept_line, {"color": OBSERVED, "dash": "solid"}),
    ):
        if shown is not None:
            slope, intercept = shown
            figure.add_scatter(
                x=ends,
                y=slope * ends + intercept,
                mode="lines",
                name=name,
                line={"width": 4, **look},
                hovertemplate=f"{slope:.2f} per year<extra></extra>",
            )
    figure.update_xaxes(title={"text": _words(x)})
    figure.update_yaxes(title={"text": _words(y)})
    figure.update_layout(showlegend=True)
    return styled(figure, height=360)


def _words(name: str) -> str:
    return figure_text(str(name).replace("_", " "))


# Training cases and results of maskings


_KINDS = {
    "missing": ("gain missing", MISSING),
    "uniform": ("uniform masking", NEUTRAL),
    "proportional": ("proportional masking", MASKED),
}


def training_cases_figure(visible: pd.DataFrame, kinds: Sequence[str] = tuple(_KINDS)) -> go.Figure:
    """Draw how many predictors are visible, in missing cells and in training cases."""
    figure = go.Figure()
    for kind in kinds:
        name, color = _KINDS[kind]
        figure.add_bar(
            x=visible["predictors"],
            y=visible[kind],
            name=name,
            marker={"color": color},
            hovertemplate=f"{name}: %{{x}} predictors visible in %{{y:.1%}}<extra></extra>",
        )
    figure.update_layout(barmode="group", showlegend=True)
    figure.update_xaxes(title={"text": "visible predictors"}, dtick=1)
    figure.update_yaxes(title={"text": "share of cases"}, tickformat=".0%", range=[0, 1.02])
    return styled(figure)


def trained_figure(runs: pd.DataFrame) -> go.Figure:
    """Draw the R² that networks reach with both maskings: one line per seed and length."""
    kinds = ("uniform", "proportional")
    figure = go.Figure()
    ticks: dict[int, str] = {}
    for steps, of_steps in runs.groupby("steps"):
        places = [len(ticks), len(ticks) + 1]
        ticks |= {
            place: f"{kind}<br>{steps:,} steps" for place, kind in zip(places, kinds, strict=True)
        }
        for seed, scores in of_steps.pivot(index="seed", columns="masking", values="r2").iterrows():
            figure.add_scatter(
                x=places,
                y=[scores[kind] for kind in kinds],
                mode="lines+markers",
                line={"color": NEUTRAL, "width": 1.5},
                marker={"color": [_KINDS[kind][1] for kind in kinds], "size": 13, "opacity": 1},
                hovertemplate=f"seed {seed}, {steps:,} steps: %{{y:.2f}}<extra></extra>",
                showlegend=False,
            )
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(ticks),
        ticktext=list(ticks.values()),
        range=[-0.5, len(ticks) - 0.5],
    )
    lowest = min(0.0, float(runs["r2"].min()) - 0.05)
    figure.update_yaxes(title={"text": "R² of imputed cells"}, range=[lowest, 1.02])
    return styled(figure)


# Two worlds


def reporting_figure(curve: pd.DataFrame) -> go.Figure:
    """Draw the probability of reporting an income in both worlds."""
    figure = go.Figure()
    for name, color, dash in (("MAR", OBSERVED, "dash"), ("MNAR", MISSING, "solid")):
        figure.add_scatter(
            x=curve["income"],
            y=curve[name],
            mode="lines",
            name=f"{name} world",
            line={"color": color, "width": 3, "dash": dash},
            hovertemplate=f"{name}: income %{{x:.0f}} reported with %{{y:.0%}}<extra></extra>",
        )
    figure.update_xaxes(title={"text": "income in thousands"})
    figure.update_yaxes(
        title={"text": "probability of reporting"}, tickformat=".0%", range=[0, 1.02]
    )
    return styled(figure)


def means_figure(means: Mapping[str, tuple[float, str]], title: str) -> go.Figure:
    """Draw a few means as dots on one axis, each with its name."""
    places = list(range(len(means)))
    figure = go.Figure(
        go.Scatter(
            x=[value for value, _ in means.values()],
            y=places,
            mode="markers+text",
            text=[f"{value:.1f}" for value, _ in means.values()],
            textposition="middle right",
            cliponaxis=False,
            marker={"color": [color for _, color in means.values()], "size": 16, "opacity": 1},
            hovertemplate="%{x:.2f}<extra></extra>",
        )
    )
    values = [value for value, _ in means.values()]
    margin = max(max(values) - min(values), 1e-9) * 0.35
    figure.update_xaxes(title={"text": title}, range=[min(values) - margin, max(values) + margin])
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[figure_text(name, 40) for name in means],
        range=[len(means) - 0.5, -0.5],
    )
    return styled(figure, height=90 + 44 * len(means))
