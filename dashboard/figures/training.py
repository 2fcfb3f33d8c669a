"""Figures of trainings: losses as they fall, what each column learned, two runs in one picture."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.figures.style import styled
from dashboard.shell import theme
from dashboard.text import figure_text
from dashboard.train.curves import smoothed

MOST_COLUMNS = 30
FEW_POINTS = 30
# A masked cell is predicted, a seen one is given back: the colors of those cells.
LOSS_COLORS = {"prediction": theme.MASKED, "reconstruction": theme.OBSERVED}
LOSS_WORDS = {"prediction": "predicting masked cells", "reconstruction": "giving back seen cells"}
RUN_STYLES = ((theme.OBSERVED, "solid"), (theme.MISSING, "dash"))


def loss_figure(losses: pd.DataFrame, *, total_steps: int | None = None) -> go.Figure:
    """Return both losses over the steps; the bold lines are calmed.

    Parameters
    ----------
    losses
        ``step``, ``prediction`` and ``reconstruction``.
    total_steps
        The axis reaches so far, so that what is to come is seen as empty space.
    """
    figure = go.Figure()
    for name, color in LOSS_COLORS.items():
        values = losses[name]
        if values.notna().sum() > FEW_POINTS:
            figure.add_scatter(
                x=losses["step"],
                y=values,
                mode="lines",
                line={"color": theme.tint(color, 0.3), "width": 1},
                showlegend=False,
                hoverinfo="skip",
            )
            values = smoothed(values)
        figure.add_scatter(
            x=losses["step"],
            y=values,
            mode="lines" if values.notna().sum() > 1 else "markers",
            name=LOSS_WORDS[name],
            line={"color": color, "width": 2.5},
            hovertemplate="step %{x:,.0f}: %{y:.4f}<extra>" + LOSS_WORDS[name] + "</extra>",
        )
    figure.update_layout(showlegend=True)
    return _over_steps(figure, total_steps, "mean error (lower is better)")


def validation_figure(
    validation: pd.DataFrame, *, total_steps: int | None = None, best_step: float | None = None
) -> go.Figure:
    """Return the score on held-out cells over the steps, the best one marked.

    Parameters
    ----------
    validation
        ``step`` and ``score``.
    total_steps
        As for `loss_figure`.
    best_step
        The step whose weights were taken; that of the lowest score where not given.
    """
    figure = go.Figure()
    figure.add_scatter(
        x=validation["step"],
        y=validation["score"],
        mode="lines+markers" if len(validation) < FEW_POINTS else "lines",
        name="held-out cells",
        line={"color": theme.IMPUTED, "width": 2.5},
        hovertemplate="step %{x:,.0f}: %{y:.4f}<extra></extra>",
    )
    if len(validation):
        best = validation.loc[validation["score"].idxmin()]
        figure.add_scatter(
            x=[best["step"] if best_step is None else best_step],
            y=[best["score"]],
            mode="markers",
            name="the best so far",
            marker={
                "size": 13,
                "color": "rgba(0,0,0,0)",
                "line": {"width": 2.5, "color": theme.MISSING},
            },
            hovertemplate="step %{x:,.0f}: %{y:.4f}<extra>the best</extra>",
        )
    return _over_steps(figure, total_steps, "error on held-out cells")


def columns_figure(columns: pd.DataFrame) -> go.Figure:
    """Return for each column how its prediction loss fell: from the grey dot to the colored one.

    Parameters
    ----------
    columns
        ``column``, ``first`` and ``now``, the worst first; of many, the first ones are shown.
    """
    shown = columns.dropna(subset=["now"]).head(MOST_COLUMNS)
    labels = [figure_text(name) for name in shown["column"]]
    places = np.arange(len(shown))
    figure = go.Figure()
    figure.add_scatter(
        x=_with_gaps(shown["first"], shown["now"]),
        y=_with_gaps(places, places),
        mode="lines",
        line={"color": theme.FAINT, "width": 3},
        showlegend=False,
        hoverinfo="skip",
    )
    for name, words, color in (
        ("first", "at first", theme.NEUTRAL),
        ("now", "by now", theme.MASKED),
    ):
        figure.add_scatter(
            x=shown[name],
            y=places,
            mode="markers",
            name=words,
            marker={"color": color, "size": 10},
            customdata=labels,
            hovertemplate="%{customdata}: %{x:.4f}<extra>" + words + "</extra>",
        )
    figure.update_xaxes(title="error in predicting masked cells", rangemode="tozero")
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=labels,
        range=[len(shown) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(showlegend=True)
    return styled(figure, height=max(220, 110 + 24 * len(shown)))


def overlay_figure(runs: Mapping[str, pd.DataFrame], *, axis: str) -> go.Figure:
    """Return a curve of two runs in one picture.

    Parameters
    ----------
    runs
        Name of a run to a table of ``step`` and ``value``; the first is the solid line.
    axis
        What the values are, in words.
    """
    figure = go.Figure()
    for (name, curve), (color, dash) in zip(runs.items(), RUN_STYLES, strict=False):
        values = curve["value"]
        figure.add_scatter(
            x=curve["step"],
            y=smoothed(values) if values.notna().sum() > FEW_POINTS else values,
            mode="lines" if len(curve) > 1 else "markers",
            name=figure_text(name, 40),
            line={"color": color, "width": 2.5, "dash": dash},
            hovertemplate="step %{x:,.0f}: %{y:.4f}<extra></extra>",
        )
    figure.update_layout(showlegend=True)
    return _over_steps(figure, None, axis)


def _over_steps(figure: go.Figure, total_steps: int | None, axis: str) -> go.Figure:
    steps = {"title": "step of the training", "rangemode": "tozero"}
    if total_steps:
        steps["range"] = [0, total_steps]
    figure.update_xaxes(**steps)
    figure.update_yaxes(title=axis)
    return styled(figure)


def _with_gaps(starts: object, ends: object) -> list[float | None]:
    """Return the ends of line segments in a row, a gap after each."""
    pairs = zip(np.asarray(starts, dtype=float), np.asarray(ends, dtype=float), strict=True)
    return [value for start, end in pairs for value in (start, end, None)]
