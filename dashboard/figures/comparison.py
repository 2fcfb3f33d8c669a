"""Figures of a comparison: columns, cells, predictions, conclusions.

The ranking is in :mod:`pmae_core.plots.ranking`, which notebooks use as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.figures.shares import bin_edges, shares_figure
from pmae_core.colors import IMPUTED, MISSING, NEUTRAL, OBSERVED, tint
from pmae_core.plots.labels import WORSE_TO_BETTER, figure_text, hover_names, name_ticks
from pmae_core.plots.style import styled
from pmae_core.words import decimals

MOST_COLUMNS = 20
MOST_POINTS = 1000
MOST_CATEGORIES = 10
_ROW = 30
# Two figures side by side, of ten rows each, fit a laptop's window.
_DENSE_ROW = 24


# Column by column


def skill_figure(
    skill: pd.DataFrame,
    winners: pd.DataFrame,
    titles: Mapping[str, str] | None = None,
    *,
    revision: str = "skill",
) -> go.Figure:
    """Draw how much better than the mean each method is in each column.

    Parameters
    ----------
    skill : DataFrame
        By column and method; 1 is perfect, 0 the mean, nan where there is no result.
    winners : DataFrame
        Of ``Comparison.column_winners``: best methods get a full dot, tied ones a circle.
    titles : mapping, optional
        What to call the methods.
    """
    shown = skill.head(MOST_COLUMNS)
    names = [(titles or {}).get(method, method) for method in shown]
    cells = shown.to_numpy(dtype=float)
    texts = [
        [_skill_text(cells[i, j], column, method, winners) for j, method in enumerate(shown)]
        for i, column in enumerate(shown.index)
    ]
    heat = go.Heatmap(
        z=np.clip(cells, -1, 1),
        zmin=-1,
        zmax=1,
        colorscale=WORSE_TO_BETTER,
        showscale=False,
        xgap=2,
        ygap=2,
        text=texts,
        texttemplate="%{text}",
        customdata=np.array(
            [[f"{figure_text(c, 60)}, {name}" for name in names] for c in shown.index],
            dtype=object,
        ).reshape(cells.shape),
        hovertemplate="%{customdata}: %{z:.2f} of the mean's error avoided<extra></extra>",
    )
    bare = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {**bare, **name_ticks(names, most=40), "side": "top"},
        "yaxis": {**bare, **name_ticks(list(shown.index), most=40), "autorange": "reversed"},
        "uirevision": revision,
    }
    return styled(go.Figure(heat, layout), height=110 + _ROW * max(len(shown), 2))


def _skill_text(skill: float, column: Any, method: str, winners: pd.DataFrame) -> str:
    if math.isnan(skill):
        return ""
    winner = winners.loc[column] if column in winners.index else None
    mark = ""
    if winner is not None:
        mark = " ●" if winner["best"] == method else " ○" if method in winner["tied"] else ""
    return f"{decimals(skill)}{mark}"


# Cell by cell


def is_category(points: Mapping[str, Sequence[Any]]) -> bool:
    """Say whether the cells of a column are labels."""
    return any(isinstance(cell, str) for cell in points["truth"])


def truth_points(points: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return true and imputed cells side by side, at most 1,000 of them, evenly thinned."""
    cells = pd.DataFrame({"truth": list(points["truth"]), "imputed": list(points["imputed"])})
    cells = cells.dropna().reset_index(drop=True)
    step = max(1, -(-len(cells) // MOST_POINTS))
    return cells.iloc[::step].reset_index(drop=True)


def truth_figure(cells: pd.DataFrame, column: str, *, revision: str = "truth") -> go.Figure:
    """Draw imputed against true numbers; on the line they are equal."""
    both = cells[["truth", "imputed"]].to_numpy(dtype=float)
    low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 1.0)
    margin = 0.03 * ((high - low) or 1.0)
    ends = [low - margin, high + margin]
    figure = go.Figure(
        [
            go.Scatter(
                x=ends,
                y=ends,
                mode="lines",
                name="imputed = true",
                line={"color": NEUTRAL, "dash": "dash", "width": 1.5},
                hoverinfo="skip",
            ),
            go.Scatter(
                x=cells["truth"],
                y=cells["imputed"],
                mode="markers",
                name="held-out cell",
                marker={"color": tint(IMPUTED, 0.55), "size": 7},
                hovertemplate="true %{x:.4g}, imputed %{y:.4g}<extra></extra>",
            ),
        ],
        {
            "xaxis": {"title": {"text": f"true {figure_text(column)}"}, "range": ends},
            "yaxis": {"title": {"text": "imputed"}, "range": ends},
            "uirevision": revision,
        },
    )
    return styled(figure, height=380)


def confusion_data(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how often each true category was imputed as which, for the most frequent ones."""
    labels = list(pd.concat([cells["truth"], cells["imputed"]]).value_counts().index)
    labels = labels[:MOST_CATEGORIES]
    counts = pd.crosstab(cells["truth"], cells["imputed"])
    counts = counts.reindex(index=labels, columns=labels, fill_value=0)
    totals = cells["truth"].value_counts().reindex(labels, fill_value=0).clip(lower=1)
    rows = counts.stack()
    return pd.DataFrame(
        {
            "truth": [pair[0] for pair in rows.index],
            "imputed": [pair[1] for pair in rows.index],
            "cells": rows.to_numpy(),
            "share": [n / totals[pair[0]] for pair, n in rows.items()],
        }
    )


def confusion_figure(data: pd.DataFrame, column: str, *, revision: str = "truth") -> go.Figure:
    """Draw which category was imputed as which; the diagonal is correct."""
    labels = list(dict.fromkeys(data["truth"]))
    at = {label: place for place, label in enumerate(labels)}
    right = data["truth"] == data["imputed"]
    traces = []
    for name, rows, color in (
        ("correct", data[right], IMPUTED),
        ("wrong", data[~right], MISSING),
    ):
        seen = rows[rows["cells"] > 0]
        traces.append(
            go.Scatter(
                x=[at[label] for label in seen["truth"]],
                y=[at[label] for label in seen["imputed"]],
                mode="markers",
                name=name,
                marker={"color": color, "size": 6 + 30 * np.sqrt(seen["share"]), "opacity": 0.8},
                customdata=np.column_stack(
                    [hover_names(list(seen["truth"])), hover_names(list(seen["imputed"]))]
                ),
                text=[f"{share:.0%}" for share in seen["share"]],
                hovertemplate="%{text} of %{customdata[0]} imputed as %{customdata[1]}"
                "<extra></extra>",
            )
        )
    ends = [-0.6, len(labels) - 0.4]
    ticks = name_ticks(labels, most=MOST_CATEGORIES)
    layout = {
        "xaxis": {"title": {"text": f"true {figure_text(column)}"}, **ticks, "range": ends},
        "yaxis": {"title": {"text": "imputed"}, **ticks, "range": ends},
        "uirevision": revision,
    }
    return styled(go.Figure(traces, layout), height=380)


def density_data(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of true and of imputed cells by category or in bins."""
    if any(isinstance(cell, str) for cell in cells["truth"]):
        shares = pd.DataFrame(
            {kind: cells[kind].value_counts(normalize=True) for kind in ("truth", "imputed")}
        ).fillna(0.0)
        shares = shares.sort_values("truth", ascending=False, kind="stable")
        return shares.head(MOST_CATEGORIES).rename_axis("category").reset_index()
    edges = bin_edges(cells[["truth", "imputed"]].to_numpy(dtype=float))
    shares = {
        kind: np.histogram(cells[kind].astype(float), edges)[0] / max(len(cells), 1)
        for kind in ("truth", "imputed")
    }
    return pd.DataFrame({"from": edges[:-1], "to": edges[1:], **shares})


def densities_figure(data: pd.DataFrame, column: str, *, revision: str = "density") -> go.Figure:
    """Draw how true and imputed cells are spread, one over the other."""
    return shares_figure(
        data,
        (("truth", "true values", OBSERVED), ("imputed", "imputed values", IMPUTED)),
        name=column,
        share_of="the held-out cells",
        revision=revision,
    )


# What follows


def forest_figure(
    conclusion: pd.DataFrame, estimand: str, *, revision: str = "forest"
) -> go.Figure:
    """Draw one conclusion by every method: estimates with their intervals.

    Parameters
    ----------
    conclusion : DataFrame
        The rows of one estimand that are done, as ``conclusion_stability`` gives them.
    estimand : str
        What is estimated: "mean of age".
    """
    rows = conclusion.reset_index(drop=True)
    words = list(rows["method"])
    color_of = {"reference": OBSERVED, "complete cases": OBSERVED}
    traces = []
    for kind, name, symbol in (
        ("reference", "true data", "diamond"),
        ("complete cases", "complete cases", "diamond-open"),
        ("pooled", "pooled imputations", "circle"),
        ("single", "one imputation", "circle-open"),
    ):
        chosen = rows[rows["kind"] == kind]
        if chosen.empty:
            continue
        color = color_of.get(kind, IMPUTED)
        estimate = chosen["estimate"].astype(float)
        traces.append(
            go.Scatter(
                x=estimate,
                y=list(chosen.index),
                mode="markers",
                name=name,
                showlegend=kind in ("pooled", "single"),  # the others are named by their row
                marker={"symbol": symbol, "size": 12, "color": color, "line": {"width": 2}},
                error_x={
                    "type": "data",
                    "array": chosen["high"].astype(float) - estimate,
                    "arrayminus": estimate - chosen["low"].astype(float),
                    "color": color,
                    "thickness": 2,
                },
                customdata=np.column_stack(
                    [
                        hover_names([words[i] for i in chosen.index]),
                        chosen["low"].astype(float),
                        chosen["high"].astype(float),
                    ]
                ),
                hovertemplate="%{customdata[0]}: %{x:.4g} (%{customdata[1]:.4g} to "
                "%{customdata[2]:.4g})<extra></extra>",
            )
        )
    figure = go.Figure(traces)
    # Only the truth is a yardstick: complete cases can be biased where methods are not.
    truth = rows.loc[rows["method"] == "true data", "estimate"]
    if len(truth):
        figure.add_vline(x=float(truth.iloc[0]), line={"color": OBSERVED, "width": 1})
    figure.update_layout(
        xaxis={"title": {"text": figure_text(estimand, 60)}},
        yaxis={
            "tickvals": list(rows.index),
            "ticktext": [figure_text(method) for method in words],
            "range": [len(rows) - 0.5, -0.5],
            "zeroline": False,
        },
        uirevision=revision,
        showlegend=True,
    )
    return styled(figure, height=110 + _DENSE_ROW * max(len(rows), 4))


def downstream_figure(scores: pd.DataFrame, *, revision: str = "downstream") -> go.Figure:
    """Draw how well a target is predicted from each imputed table, of one model.

    Parameters
    ----------
    scores : DataFrame
        The rows of one model that are done, as ``downstream_scores`` gives them.
    """
    means = scores.groupby("method")["score"].mean().sort_values(ascending=False, kind="stable")
    places = {method: place for place, method in enumerate(means.index)}
    references = set(scores.loc[scores["kind"] == "reference", "method"])
    colors = [OBSERVED if method in references else IMPUTED for method in means.index]
    words = list(means.index)
    metric = scores["metric"].iloc[0] if len(scores) else "r2"
    figure = go.Figure(
        [
            go.Scatter(
                x=scores["score"],
                y=[places[method] for method in scores["method"]],
                mode="markers",
                name="one split",
                marker={"symbol": "line-ns", "size": 11, "line": {"width": 1.5, "color": NEUTRAL}},
                customdata=scores["seed"],
                hovertemplate="seed %{customdata}: %{x:.3f}<extra></extra>",
            ),
            go.Scatter(
                x=means,
                y=list(range(len(means))),
                mode="markers",
                name="mean over splits",
                marker={"size": 13, "color": colors, "line": {"color": "white", "width": 1.5}},
                customdata=hover_names(words),
                hovertemplate="%{customdata}: %{x:.3f}<extra></extra>",
            ),
        ]
    )
    title = {
        "r2": "R² of the prediction (1 is perfect, 0 is the mean)",
        "auroc": "area under the ROC curve (1 is perfect, 0.5 is guessing)",
    }[metric]
    figure.update_layout(
        xaxis={"title": {"text": title}},
        yaxis={**name_ticks(words, most=60), "range": [len(means) - 0.5, -0.5], "zeroline": False},
        uirevision=revision,
    )
    return styled(figure, height=130 + _ROW * max(len(means), 2))
