"""The ranking of methods with its ties."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import FAINT, IMPUTED, NEUTRAL
from pmae_core.plots.labels import figure_text, hover_names
from pmae_core.plots.style import styled

_ROW = 24

# Name -> (words for the axis, whether less is better).
METRIC_WORDS: Mapping[str, tuple[str, bool]] = {
    "skill": ("skill (1 is perfect, 0 is the mean or mode)", False),
    "distribution_skill": ("distribution skill (1 is perfect, 0 is random values)", False),
    "energy_distance": ("energy distance between imputed and true rows (0 is perfect)", True),
    "imputation_accuracy": ("imputation accuracy (1 is perfect)", False),
    "r2_unclipped": ("R² of numbers (1 is perfect, 0 is the mean)", False),
    "accuracy": ("share of correct categories", False),
    "balanced_accuracy": ("balanced accuracy of categories (1 is perfect)", False),
    "rmse": ("root mean squared error of numbers (0 is perfect)", True),
    "mae": ("mean absolute error of numbers (0 is perfect)", True),
    "crps": ("CRPS of numbers, random imputations (0 is perfect)", True),
    "brier": ("Brier score of categories, random imputations (0 is perfect)", True),
    "log_score": ("log score of categories, random imputations (lower is better)", True),
    "wasserstein": ("Wasserstein distance of distributions (0 is perfect)", True),
    "i_score": ("energy-I-Score, without held-out cells (lower is better)", True),
}


def ranking_figure(
    ranking: pd.DataFrame,
    seeds: pd.DataFrame,
    metric: str,
    titles: Mapping[str, str] | None = None,
    *,
    revision: str = "ranking",
) -> go.Figure:
    """Draw methods best first: mean, single seeds, and the interval of the distance to the leader.

    Parameters
    ----------
    ranking : DataFrame
        Of :meth:`pmae_core.evaluation.Comparison.ranking_table`.
    seeds : DataFrame
        ``method``, ``seed`` and ``score``: what the means are made of.
    metric : str
        By which methods are ranked.
    titles : mapping, optional
        What to call the methods.
    """
    shown = ranking[ranking["rank"].notna()].reset_index(drop=True)
    places = {method: place for place, method in enumerate(shown["method"])}
    words, _ = METRIC_WORDS[metric]
    colors = [IMPUTED if band == 1 else NEUTRAL for band in shown["tie_group"]]
    low, high = _visible(shown, seeds)
    figure = go.Figure()
    for band, scores in shown.groupby("tie_group")["score"]:
        first, last = int(scores.index[0]), int(scores.index[-1])
        if int(str(band)) % 2:
            figure.add_hrect(
                y0=first - 0.5, y1=last + 0.5, fillcolor=FAINT, line_width=0, layer="below"
            )
        if last > first:
            leader = float(scores.iloc[0])
            figure.add_shape(
                type="line",
                x0=leader,
                x1=leader,
                y0=first - 0.4,
                y1=last + 0.4,
                line={"color": NEUTRAL, "width": 1.5, "dash": "dot"},
            )
    ends = shown[["low", "high"]].to_numpy(dtype=float)
    for place, (start, end) in enumerate(ends):
        if start < end:
            figure.add_trace(
                go.Scatter(
                    x=[max(start, low), min(end, high)],
                    y=[place] * 2,
                    mode="lines",
                    line={"color": colors[place], "width": 4},
                    opacity=0.6,
                    showlegend=False,
                    hoverinfo="skip",
                )
            )
    known = seeds[seeds["method"].isin(places)]
    figure.add_trace(
        go.Scatter(
            x=known["score"],
            y=[places[method] for method in known["method"]],
            mode="markers",
            name="one seed",
            marker={"symbol": "line-ns", "size": 11, "line": {"width": 1.5, "color": NEUTRAL}},
            customdata=known["seed"],
            hovertemplate="seed %{customdata}: %{x:.3f}<extra></extra>",
        )
    )
    names = [(titles or {}).get(method, method) for method in shown["method"]]
    figure.add_trace(
        go.Scatter(
            x=shown["score"],
            y=list(range(len(shown))),
            mode="markers",
            name="mean over seeds",
            marker={"size": 13, "color": colors, "line": {"color": "white", "width": 1.5}},
            text=hover_names(names),
            customdata=np.column_stack([shown["place"], shown["n_done"]]),
            hovertemplate="%{text}: %{x:.3f}, %{customdata[0]}, %{customdata[1]} seeds"
            "<extra></extra>",
        )
    )
    ranked = [f"{rank}. {name}" for rank, name in zip(shown["rank"], names, strict=True)]
    figure.update_layout(
        xaxis={"title": {"text": words}, "range": [low, high], "zeroline": False},
        yaxis={
            "tickvals": list(range(len(ranked))),
            "ticktext": [figure_text(name) for name in ranked],
            "range": [len(shown) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        uirevision=revision,
    )
    return styled(figure, height=110 + _ROW * max(len(shown), 4))


def _visible(ranking: pd.DataFrame, seeds: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the axis: all dots, and of intervals what lies not too far out."""
    dots = np.concatenate([ranking["score"], seeds["score"]]).astype(float)
    dots = dots[np.isfinite(dots)]
    if not len(dots):
        return 0.0, 1.0
    spread = max(float(np.ptp(dots)), 0.02)
    ends = ranking[["low", "high"]].to_numpy(dtype=float).ravel()
    near = ends[np.isfinite(ends) & (np.abs(ends - dots.mean()) < 3 * spread)]
    every = np.concatenate([dots, near])
    return float(every.min() - 0.06 * spread), float(every.max() + 0.06 * spread)
