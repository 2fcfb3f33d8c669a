"""Figures of trainings: held-out errors as they fall, columns, held-out cells, and two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.train.curves import smoothed
from pmae_core import colors
from pmae_core.plots.labels import figure_text
from pmae_core.plots.style import styled

MOST_COLUMNS = 30
FEW_POINTS = 30
# A masked cell is predicted, an observed one reconstructed: the colors of those cells.
LOSS_COLORS = {"prediction": colors.MASKED, "reconstruction": colors.OBSERVED}
LOSS_WORDS = {"prediction": "masked cells", "reconstruction": "observed cells"}
_DASHES = {"mean imputation": "dot", "Gaussian start": "dash"}
_LOWEST_SKILL = -1.0  # worse columns are drawn here; the hover has their number
RUN_STYLES = ((colors.OBSERVED, "solid"), (colors.MISSING, "dash"))


def loss_figure(
    losses: pd.DataFrame, *, total_steps: int | None = None, height: int | None = None
) -> go.Figure:
    """Return both losses over the steps; the bold lines are smoothed.

    Parameters
    ----------
    losses
        ``step``, ``prediction`` and ``reconstruction``.
    total_steps
        Where the axis ends, so that the steps to come are seen as empty space.
    height
        Of the figure.
    """
    figure = go.Figure()
    for name, color in LOSS_COLORS.items():
        values = losses[name]
        if values.notna().sum() > FEW_POINTS:
            figure.add_scatter(
                x=losses["step"],
                y=values,
                mode="lines",
                line={"color": colors.tint(color, 0.3), "width": 1},
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
    return _over_steps(figure, total_steps, "training error", height=height)


def reduction_figure(
    curve: pd.DataFrame,
    lines: Mapping[str, float],
    *,
    relative_to: str,
    total_steps: int | None = None,
    height: int | None = None,
) -> go.Figure:
    """Return how much lower the held-out error is than a reference, over the steps.

    Parameters
    ----------
    curve
        ``step``, ``share``, ``low`` and ``high``; a band is drawn where there are bounds. The best
        step, whose model is kept, has a ring.
    lines
        References by words; the one at 0 is what the axis is relative to.
    relative_to
        Its words.
    total_steps
        As for `loss_figure`.
    """
    figure = go.Figure()
    end = total_steps or (curve["step"].max() if len(curve) > 1 else 1.0)
    if curve["low"].notna().any():
        figure.add_scatter(
            x=[*curve["step"], *curve["step"][::-1]],
            y=[*curve["low"], *curve["high"][::-1]],
            fill="toself",
            fillcolor=colors.tint(colors.IMPUTED, 0.18),
            line={"width": 0},
            mode="lines",
            showlegend=False,
            hoverinfo="skip",
        )
    for words, share in lines.items():
        figure.add_scatter(
            x=[0, end],
            y=[share, share],
            mode="lines",
            name=words,
            line={"color": colors.NEUTRAL, "width": 1.5, "dash": _DASHES.get(words, "solid")},
            hovertemplate=f"{words}: %{{y:.1%}}<extra></extra>",
        )
    figure.add_scatter(
        x=curve["step"],
        y=curve["share"],
        mode="lines+markers" if len(curve) < FEW_POINTS else "lines",
        name="network",
        showlegend=False,
        line={"color": colors.IMPUTED, "width": 2.5},
        hovertemplate="step %{x:,.0f}: %{y:.1%}<extra>network</extra>",
    )
    if len(curve):
        best = curve.loc[curve["share"].idxmax()]
        figure.add_scatter(
            x=[best["step"]],
            y=[best["share"]],
            mode="markers",
            showlegend=False,
            cliponaxis=False,  # it may be the first or the last step
            marker={
                "size": 13,
                "color": "rgba(0,0,0,0)",
                "line": {"width": 2.5, "color": colors.MISSING},
            },
            hovertemplate="step %{x:,.0f}: %{y:.1%}<extra>kept model</extra>",
        )
    figure.update_layout(showlegend=True)
    figure.update_xaxes(showticklabels=bool(total_steps) or len(curve) > 1)
    figure.update_yaxes(tickformat=".1~%", range=_range_of(curve, lines))
    axis = f"held-out error below<br>{relative_to}"
    return _over_steps(figure, total_steps, axis, height=height)


def _range_of(curve: pd.DataFrame, lines: Mapping[str, float]) -> list[float]:
    """Return an axis with all references and the kept model; the rest of a curve may leave it.

    Below them there is twice as much room again, since a network may be far worse at times.
    """
    values = np.array([*curve["share"], *curve["high"]], dtype=float)
    values = values[np.isfinite(values)]
    if not len(values):
        return [-0.05, 1.0]
    shown = [0.0, *lines.values(), float(curve["share"].max())]
    top, floor = max(*shown, values.max(), 0.01), min(shown)
    bottom = max(min(floor, values.min()), floor - 2 * (top - floor))
    margin = 0.08 * (top - bottom)
    return [bottom - margin, top + margin]


def skills_figure(skills: pd.DataFrame) -> go.Figure:
    """Return the skill of the kept model in each column, beside that of its start.

    Parameters
    ----------
    skills
        ``column``, ``cells``, ``kept`` and perhaps ``start``; the first ones are shown.
    """
    shown = skills.head(MOST_COLUMNS)
    labels = [figure_text(name) for name in shown["column"]]
    places = np.arange(len(shown))
    figure = go.Figure()
    kinds = {"kept": ("kept model", colors.IMPUTED)}
    if "start" in shown:
        kinds = {"start": ("Gaussian start", colors.NEUTRAL)} | kinds
        figure.add_scatter(
            x=_with_gaps(*(shown[name].clip(lower=_LOWEST_SKILL) for name in ("start", "kept"))),
            y=_with_gaps(places, places),
            mode="lines",
            line={"color": colors.FAINT, "width": 3},
            showlegend=False,
            hoverinfo="skip",
        )
    for name, (words, color) in kinds.items():
        figure.add_scatter(
            x=shown[name].clip(lower=_LOWEST_SKILL),
            y=places,
            mode="markers",
            name=words,
            marker={"color": color, "size": 10},
            customdata=list(zip(labels, shown[name], shown["cells"], strict=True)),
            hovertemplate="%{customdata[0]}: %{customdata[1]:.1%} on %{customdata[2]} held-out "
            f"cells<extra>{words}</extra>",
        )
    figure.add_vline(x=0, line={"color": colors.NEUTRAL, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title="held-out error below mean imputation", tickformat=".0%")
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


def cells_figure(truth: Sequence[Any], predicted: Sequence[Any], column: str) -> go.Figure:
    """Return predictions of held-out numbers or times against the truth, with the diagonal."""
    figure = go.Figure()
    ends = [min([*truth, *predicted]), max([*truth, *predicted])]
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": colors.NEUTRAL, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=list(truth),
        y=list(predicted),
        mode="markers",
        marker={"color": colors.tint(colors.IMPUTED, 0.6), "size": 8},
        hovertemplate="truth %{x}<br>predicted %{y}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title=f"truth: {figure_text(column)}")
    figure.update_yaxes(title="predicted")
    return styled(figure, height=300)


def labels_figure(counts: pd.DataFrame, column: str) -> go.Figure:
    """Return how often each true category is predicted as which.

    Parameters
    ----------
    counts
        Counts, true categories as rows and predicted ones as columns.
    """
    figure = go.Figure(
        go.Heatmap(
            z=counts.to_numpy(),
            texttemplate="%{z}",
            colorscale=[
                [0, colors.tint(colors.IMPUTED, 0.0)],
                [1, colors.tint(colors.IMPUTED, 0.85)],
            ],
            showscale=False,
            hoverinfo="skip",
        )
    )
    figure.update_xaxes(title="predicted", **_ticks(counts.columns))
    figure.update_yaxes(
        title=f"truth: {figure_text(column)}", autorange="reversed", **_ticks(counts.index)
    )
    return styled(figure, height=max(260, 110 + 26 * len(counts)))


def _ticks(names: pd.Index) -> dict[str, Any]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [figure_text(name, 16) for name in names],
        "showgrid": False,
        "zeroline": False,
    }


def overlay_figure(
    runs: Mapping[str, pd.DataFrame], *, axis: str, is_share: bool = False
) -> go.Figure:
    """Return a curve of two runs in one picture.

    Parameters
    ----------
    runs
        Name of a run to a table of ``step`` and ``value``; the first is the solid line.
    axis
        What the values are, in words.
    is_share
        Whether they are shares, which are drawn in percent and not smoothed.
    """
    figure = go.Figure()
    for (name, curve), (color, dash) in zip(runs.items(), RUN_STYLES, strict=False):
        values = curve["value"]
        figure.add_scatter(
            x=curve["step"],
            y=values if is_share or values.notna().sum() <= FEW_POINTS else smoothed(values),
            mode="lines" if len(curve) > 1 else "markers",
            name=figure_text(name, 40),
            line={"color": color, "width": 2.5, "dash": dash},
            hovertemplate=f"step %{{x:,.0f}}: %{{y:{'.1%' if is_share else '.4f'}}}<extra></extra>",
        )
    figure.update_layout(showlegend=True)
    if is_share:
        figure.update_yaxes(tickformat=".1~%")
    return _over_steps(figure, None, axis)


def _over_steps(
    figure: go.Figure, total_steps: int | None, axis: str, *, height: int | None = None
) -> go.Figure:
    steps = {"title": "training step", "rangemode": "tozero"}
    if total_steps:
        steps["range"] = [0, total_steps]
    figure.update_xaxes(**steps)
    figure.update_yaxes(title=axis)
    return styled(figure, height=height)


def _with_gaps(starts: object, ends: object) -> list[float | None]:
    """Return the ends of line segments in a row, a gap after each."""
    pairs = zip(np.asarray(starts, dtype=float), np.asarray(ends, dtype=float), strict=True)
    return [value for start, end in pairs for value in (start, end, None)]
