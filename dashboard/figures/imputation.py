"""Figures of a filling: what is said about one cell, and when a conclusion tips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.figures.labels import hover_names, name_ticks
from dashboard.figures.style import styled
from dashboard.shell.theme import IMPUTED, MISSING, NEUTRAL, OBSERVED, tint
from dashboard.text import exact_text, figure_text
from pmae_core.explain import CellDetails
from pmae_core.inference import DeltaCurve

SIMILAR, DRAWS, COLUMN = "similar rows", "draws", "whole column"
MOST_METHODS = 20
_ROW = 34
_LONGEST = 26


# One cell


def biography_data(told: CellDetails) -> pd.DataFrame:
    """Return who says what about a cell: ``who``, ``what`` it is, ``value`` and ``share``.

    Methods come first, then draws, similar rows and the whole column. ``share`` is the share of
    draws (or of observed cells) below a number, or that are of a category.
    """
    rows: list[tuple[str, str, Any, float | None]] = [
        (method, "method", value, None)
        for method, value in list(told.values.items())[:MOST_METHODS]
        if value is not None
    ]
    if told.spread is not None:
        known = told.spread.quantiles or told.spread.shares
        pairs = (
            ((value, share) for share, value in known.items())
            if told.spread.quantiles
            else known.items()
        )
        rows += [(DRAWS, "draw", value, share) for value, share in pairs]
    rows += [(SIMILAR, "donor", value, None) for value in told.donors["value"]]
    for fact, share in (("lowest", 0.0), ("mean", None), ("highest", 1.0)):
        if fact in told.facts:
            rows.append((COLUMN, fact, told.facts[fact], share))
    if "mode" in told.facts:
        rows.append((COLUMN, "mode", told.facts["mode"], told.facts["mode_share"]))
    return pd.DataFrame(rows, columns=["who", "what", "value", "share"])


def biography_figure(data: pd.DataFrame, column: str, *, revision: str = "cell") -> go.Figure:
    """Draw what each method, the draws, similar rows and the column say about one cell.

    Parameters
    ----------
    data : DataFrame
        Of :func:`biography_data`.
    column : str
        The cell's column.
    """
    who = list(dict.fromkeys(data["who"]))
    place = {name: number for number, name in enumerate(who)}
    is_kind = not _is_ordered(data["value"])
    kinds = list(dict.fromkeys(map(exact_text, data["value"]))) if is_kind else []
    values = (
        [kinds.index(exact_text(value)) for value in data["value"]]
        if is_kind
        else [_on_axis(value) for value in data["value"]]
    )
    shown = data.assign(x=values, y=[place[name] for name in data["who"]])
    figure = go.Figure()
    for what, name, color, symbol, size in (
        ("method", "a method", IMPUTED, "circle", 14),
        ("donor", "a similar row", OBSERVED, "diamond", 11),
        ("mean", "mean of the column", NEUTRAL, "line-ns", 16),
        ("mode", "most frequent", NEUTRAL, "square", 12),
    ):
        chosen = shown[shown["what"] == what]
        if len(chosen):
            figure.add_trace(_dots(chosen, name, color, symbol, size, faint=what == "donor"))
    _add_spread(figure, shown, is_kind)
    _add_range(figure, shown)
    text = figure_text(column)
    is_span = any(isinstance(value, pd.Timedelta) for value in data["value"])
    figure.update_layout(
        xaxis={
            "title": {"text": f"{text}, in seconds" if is_span else text},
            "zeroline": False,
            **(name_ticks(kinds, most=12) | {"range": [-0.6, len(kinds) - 0.4]} if is_kind else {}),
        },
        yaxis={
            "tickvals": list(range(len(who))),
            "ticktext": [figure_text(name, _LONGEST) for name in who],
            "range": [len(who) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        uirevision=revision,
        showlegend=False,
    )
    return styled(figure, height=90 + _ROW * max(len(who), 3))


def _is_ordered(values: pd.Series) -> bool:
    numbers = (int, float, np.number, pd.Timestamp, pd.Timedelta)
    return all(isinstance(value, numbers) and not isinstance(value, bool) for value in values)


def _on_axis(value: Any) -> Any:
    return value.total_seconds() if isinstance(value, pd.Timedelta) else value


def _dots(
    rows: pd.DataFrame, name: str, color: str, symbol: str, size: int, *, faint: bool
) -> go.Scatter:
    return go.Scatter(
        x=rows["x"],
        y=rows["y"],
        mode="markers",
        name=name,
        marker={
            "symbol": symbol,
            "size": size,
            "color": color,
            "opacity": 0.85 if faint else 1.0,
            "line": {"width": 2, "color": color},
        },
        text=hover_names(rows["who"].tolist()),
        customdata=hover_names([exact_text(value) for value in rows["value"]]),
        hovertemplate="%{text}: %{customdata}<extra></extra>",
    )


def _add_spread(figure: go.Figure, shown: pd.DataFrame, is_kind: bool) -> None:
    """Draw the draws: nine in ten as a thin bar, half of them as a thick one; or shares."""
    draws = shown[shown["what"] == "draw"]
    if draws.empty:
        return
    if is_kind:
        dots = _dots(draws, "share of the draws", IMPUTED, "circle", 0, faint=True)
        dots.marker.size = (8 + 22 * np.sqrt(draws["share"].astype(float))).tolist()
        dots.customdata = [f"{100 * share:.0f}% of the draws" for share in draws["share"]]
        figure.add_trace(dots)
        return
    at = dict(zip(draws["share"], draws["x"], strict=True))
    for low, high, width, words in (
        (0.05, 0.95, 5, "nine in ten draws"),
        (0.25, 0.75, 13, "half of the draws"),
    ):
        figure.add_trace(
            go.Scatter(
                x=[at[low], at[high]],
                y=[draws["y"].iloc[0]] * 2,
                mode="lines",
                name=words,
                line={"color": tint(IMPUTED, 0.6), "width": width},
                hovertemplate=f"%{{x}}<extra>{words}</extra>",
            )
        )


def _add_range(figure: go.Figure, shown: pd.DataFrame) -> None:
    ends = shown[shown["what"].isin(["lowest", "highest"])]
    if len(ends) == 2:
        figure.add_trace(
            go.Scatter(
                x=ends["x"],
                y=ends["y"],
                mode="lines+markers",
                name="lowest to highest observed",
                marker={"symbol": "line-ns", "size": 12, "line": {"width": 2, "color": OBSERVED}},
                line={"color": OBSERVED, "width": 1.5},
                hovertemplate="%{x}<extra>lowest and highest observed</extra>",
            )
        )


# What if


def delta_figure(
    curve: DeltaCurve, delta: float, words: str, column: str, *, revision: str = "delta"
) -> go.Figure:
    """Draw an estimate over all shifts, where its conclusion tips, and the chosen shift.

    Parameters
    ----------
    curve : DeltaCurve
        Of :func:`pmae_core.explain.tipping_point`.
    delta : float
        The shift to mark, one of the curve's.
    words : str
        What is estimated, such as "mean of age".
    column : str
        Whose filled cells are shifted.
    """
    table = curve.table
    here = table.loc[(table["delta"] - delta).abs().idxmin()]
    figure = go.Figure(
        [
            _band(table["delta"], table["low"], table["high"]),
            go.Scatter(
                x=table["delta"],
                y=table["estimate"],
                mode="lines",
                name="estimate",
                line={"color": IMPUTED, "width": 2.5},
                hovertemplate="shifted by %{x:.1f}: %{y:.4g}<extra></extra>",
            ),
            go.Scatter(
                x=[here["delta"]],
                y=[here["estimate"]],
                mode="markers",
                name="your shift",
                marker={"size": 14, "color": IMPUTED, "line": {"width": 2, "color": "white"}},
                error_y={
                    "type": "data",
                    "array": [here["high"] - here["estimate"]],
                    "arrayminus": [here["estimate"] - here["low"]],
                    "color": IMPUTED,
                    "thickness": 2.5,
                },
                hovertemplate="shifted by %{x:.1f}: %{y:.4g}<extra></extra>",
            ),
        ]
    )
    figure.add_hline(y=curve.null, line={"color": NEUTRAL, "width": 1.5, "dash": "dash"})
    for tipping in (curve.tipping_down, curve.tipping_up):
        if tipping is not None:
            figure.add_vline(x=tipping, line={"color": MISSING, "width": 2, "dash": "dot"})
    shift = f"filled cells of {figure_text(column)} shifted by, in standard deviations"
    figure.update_layout(
        xaxis={"title": {"text": shift}, "zeroline": False},
        yaxis={"title": {"text": figure_text(words, 40)}, "zeroline": False},
        uirevision=revision,
        showlegend=True,
    )
    return styled(figure, height=400)


def _band(x: Sequence[float], low: pd.Series, high: pd.Series) -> go.Scatter:
    x = list(x)
    return go.Scatter(
        x=[*x, *reversed(x)],
        y=[*high, *reversed(low.tolist())],
        mode="lines",
        name="95% interval",
        line={"width": 0},
        fill="toself",
        fillcolor=tint(IMPUTED, 0.2),
        hoverinfo="skip",
    )
