"""Figures of an imputed table: one cell in detail, and where a conclusion tips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import IMPUTED, MISSING, NEUTRAL, OBSERVED, tint
from pmae_core.explain import CellDetails
from pmae_core.inference import DeltaCurve
from pmae_core.plots.labels import figure_text, hover_names, name_ticks
from pmae_core.plots.style import styled
from pmae_core.words import exact_text

SIMILAR, IMPUTATIONS, COLUMN = "similar rows", "imputations", "whole column"
MOST_METHODS = 20
_ROW = 34
_LONGEST = 26


# One cell


def cell_data(details: CellDetails) -> pd.DataFrame:
    """Return the values known about a cell: ``source``, ``kind``, ``value`` and ``share``.

    Methods come first, then imputations, similar rows and the whole column. ``share`` is the share
    of imputations (or of observed cells) below a number, or in a category.
    """
    rows: list[tuple[str, str, Any, float | None]] = [
        (method, "method", value, None)
        for method, value in list(details.values.items())[:MOST_METHODS]
        if value is not None
    ]
    if details.spread is not None:
        known = details.spread.quantiles or details.spread.shares
        pairs = (
            ((value, share) for share, value in known.items())
            if details.spread.quantiles
            else known.items()
        )
        rows += [(IMPUTATIONS, "imputation", value, share) for value, share in pairs]
    rows += [(SIMILAR, "donor", value, None) for value in details.donors["value"]]
    for fact, share in (("lowest", 0.0), ("mean", None), ("highest", 1.0)):
        if fact in details.facts:
            rows.append((COLUMN, fact, details.facts[fact], share))
    if "mode" in details.facts:
        rows.append((COLUMN, "mode", details.facts["mode"], details.facts["mode_share"]))
    return pd.DataFrame(rows, columns=["source", "kind", "value", "share"])


def cell_figure(data: pd.DataFrame, column: str, *, revision: str = "cell") -> go.Figure:
    """Draw the values of one cell by method, imputation, similar row and whole column.

    Parameters
    ----------
    data : DataFrame
        Of :func:`cell_data`.
    column : str
        The cell's column.
    """
    sources = list(dict.fromkeys(data["source"]))
    place = {name: number for number, name in enumerate(sources)}
    is_category = not _is_ordered(data["value"])
    categories = list(dict.fromkeys(map(exact_text, data["value"]))) if is_category else []
    values = (
        [categories.index(exact_text(value)) for value in data["value"]]
        if is_category
        else [_on_axis(value) for value in data["value"]]
    )
    shown = data.assign(x=values, y=[place[name] for name in data["source"]])
    figure = go.Figure()
    for kind, name, color, symbol, size in (
        ("method", "a method", IMPUTED, "circle", 14),
        ("donor", "a similar row", OBSERVED, "diamond", 11),
        ("mean", "mean of the column", NEUTRAL, "line-ns", 16),
        ("mode", "most frequent", NEUTRAL, "square", 12),
    ):
        chosen = shown[shown["kind"] == kind]
        if len(chosen):
            figure.add_trace(_dots(chosen, name, color, symbol, size, faint=kind == "donor"))
    _add_spread(figure, shown, is_category)
    _add_range(figure, shown)
    text = figure_text(column)
    is_span = any(isinstance(value, pd.Timedelta) for value in data["value"])
    figure.update_layout(
        xaxis={
            "title": {"text": f"{text}, in seconds" if is_span else text},
            "zeroline": False,
            **(_category_axis(categories) if is_category else {}),
        },
        yaxis={
            "tickvals": list(range(len(sources))),
            "ticktext": [figure_text(name, _LONGEST) for name in sources],
            "range": [len(sources) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        uirevision=revision,
        showlegend=False,
    )
    return styled(figure, height=90 + _ROW * max(len(sources), 3))


def _category_axis(categories: list[str]) -> dict[str, Any]:
    return name_ticks(categories, most=12) | {"range": [-0.6, len(categories) - 0.4]}


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
        text=hover_names(rows["source"].tolist()),
        customdata=hover_names([exact_text(value) for value in rows["value"]]),
        hovertemplate="%{text}: %{customdata}<extra></extra>",
    )


def _add_spread(figure: go.Figure, shown: pd.DataFrame, is_category: bool) -> None:
    """Draw the imputations: 90% of them as a thin bar, half of them as a thick one; or shares."""
    spread = shown[shown["kind"] == "imputation"]
    if spread.empty:
        return
    if is_category:
        dots = _dots(spread, "share of the imputations", IMPUTED, "circle", 0, faint=True)
        dots.marker.size = (8 + 22 * np.sqrt(spread["share"].astype(float))).tolist()
        dots.customdata = [f"{100 * share:.0f}% of the imputations" for share in spread["share"]]
        figure.add_trace(dots)
        return
    at = dict(zip(spread["share"], spread["x"], strict=True))
    for low, high, width, words in (
        (0.05, 0.95, 5, "90% of the imputations"),
        (0.25, 0.75, 13, "50% of the imputations"),
    ):
        figure.add_trace(
            go.Scatter(
                x=[at[low], at[high]],
                y=[spread["y"].iloc[0]] * 2,
                mode="lines",
                name=words,
                line={"color": tint(IMPUTED, 0.6), "width": width},
                hovertemplate=f"%{{x}}<extra>{words}</extra>",
            )
        )


def _add_range(figure: go.Figure, shown: pd.DataFrame) -> None:
    ends = shown[shown["kind"].isin(["lowest", "highest"])]
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
        Of :func:`pmae_core.inference.tipping_point`.
    delta : float
        The shift to mark, one of the curve's.
    words : str
        What is estimated, such as "mean of age".
    column : str
        Whose imputed cells are shifted.
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
    shift = f"shift of imputed {figure_text(column)}, in standard deviations"
    figure.update_layout(
        xaxis={"title": {"text": shift}, "zeroline": False},
        yaxis={"title": {"text": figure_text(words, 40)}, "zeroline": False},
        uirevision=revision,
        showlegend=True,
    )
    return styled(figure, height=360)


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
