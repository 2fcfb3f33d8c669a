"""Which columns are missing together in a row, and which columns can help to impute others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pmae_core.colors import FAINT, MISSING, OBSERVED
from pmae_core.missingness import MissingPatterns
from pmae_core.plots.labels import hover_list
from pmae_core.plots.missingness.axes import (
    FROM_OBSERVED_TO_MISSING,
    group_label,
    height_of,
    labels_downwards,
)
from pmae_core.plots.style import styled
from pmae_core.words import percent

# Lines of columns below the bars; the columns of further lines share the last one.
MOST_LINES = 20
_BARS_HEIGHT = 170
_LABELED_POINTS = 12
_CLOSE_HEIGHT = 0.06  # of points whose labels would touch


def patterns_figure(
    patterns: MissingPatterns, shown: slice, columns: Sequence[Any] | None = None
) -> go.Figure:
    """Draw missing patterns: how many rows have each, and which columns it misses.

    Columns that the drawn patterns miss alike share a line.

    Parameters
    ----------
    patterns : MissingPatterns
        Of `find_patterns`, the most frequent first.
    shown : slice
        Which patterns to draw.
    columns : sequence, optional
        The columns to draw; all if not given.
    """
    missing, counts = patterns.missing[shown], patterns.counts[shown]
    groups, cells = pattern_lines(patterns, shown, columns)
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.03, row_heights=_heights(len(groups))
    )
    figure.add_trace(_pattern_bars(patterns, missing, counts), row=1, col=1)
    figure.add_trace(_pattern_stems(cells), row=2, col=1)
    for trace in _pattern_dots(cells, groups):
        figure.add_trace(trace, row=2, col=1)
    steps = {"dtick": 1} if counts.max() < 5 else {"nticks": 5}
    figure.update_yaxes(title="rows", row=1, col=1, rangemode="tozero", tickformat=",d", **steps)
    labels = [group_label(group) for group in groups]
    figure.update_yaxes(**labels_downwards(labels), row=2, col=1)
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    figure.update_layout(showlegend=False, uniformtext={"mode": "hide", "minsize": 9})
    return styled(figure, height=height_of(len(labels), 20, _BARS_HEIGHT + 30))


def pattern_lines(
    patterns: MissingPatterns, shown: slice, columns: Sequence[Any] | None = None
) -> tuple[list[tuple[Any, ...]], np.ndarray]:
    """Return the columns of each line below the bars, and which patterns miss one of them.

    Those with most missing cells come first; columns that no drawn pattern misses are left out.
    """
    places = (
        np.arange(len(patterns.columns))
        if columns is None
        else patterns.columns.get_indexer(pd.Index(list(columns), dtype=object))
    )
    places = places[np.argsort(-patterns.n_missing[places], kind="stable")]
    lines: dict[bytes, list[int]] = {}
    for place in places:
        is_missing = patterns.missing[shown, place]
        if is_missing.any():
            lines.setdefault(is_missing.tobytes(), []).append(int(place))
    members = list(lines.values())
    if len(members) > MOST_LINES:
        rest = list(itertools.chain.from_iterable(members[MOST_LINES - 1 :]))
        members = [*members[: MOST_LINES - 1], rest]
    groups = [tuple(patterns.columns[group]) for group in members]
    cells = [patterns.missing[shown][:, group].any(axis=1) for group in members]
    n_patterns = len(patterns.counts[shown])
    return groups, np.array(cells, dtype=bool).reshape(len(groups), n_patterns).T


def _heights(n_columns: int) -> list[float]:
    dots = 20 * max(n_columns, 1)
    return [_BARS_HEIGHT / (_BARS_HEIGHT + dots), dots / (_BARS_HEIGHT + dots)]


def _pattern_bars(patterns: MissingPatterns, missing: np.ndarray, counts: np.ndarray) -> go.Bar:
    words = [
        f"missing: {hover_list(list(patterns.columns[row]))}" if row.any() else "nothing is missing"
        for row in missing
    ]
    return go.Bar(
        x=list(range(len(counts))),
        y=counts,
        marker={
            "color": [MISSING if row.any() else OBSERVED for row in missing],
            "line": {"width": 0},
        },
        customdata=np.column_stack([words, [percent(n / patterns.n_rows) for n in counts]]),
        hovertemplate="%{y:,} rows (%{customdata[1]})<br>%{customdata[0]}<extra></extra>",
        text=[_narrow_percent(n / patterns.n_rows) for n in counts],
        textposition="outside",
        cliponaxis=False,
    )


def _narrow_percent(share: float) -> str:
    """Return a share in whole percent, which fits above the bars of a telephone."""
    if 0 < share < 0.01:
        return "&lt;1%"
    return "&gt;99%" if 0.99 < share < 1 else f"{share:.0%}"


def _pattern_stems(missing: np.ndarray) -> go.Scatter:
    x: list[int | None] = []
    y: list[int | None] = []
    for place, row in enumerate(missing):
        if row.sum() > 1:
            rows = np.flatnonzero(row)
            x += [place, place, None]
            y += [int(rows[0]), int(rows[-1]), None]
    line = {"color": MISSING, "width": 2}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")


def _pattern_dots(missing: np.ndarray, groups: Sequence[tuple[Any, ...]]) -> Iterable[go.Scatter]:
    hover = np.array([hover_list(group) for group in groups], dtype=object)
    for kind, color, cells in (("observed", FAINT, ~missing), ("missing", MISSING, missing)):
        patterns, columns = np.nonzero(cells)
        yield go.Scatter(
            x=patterns,
            y=columns,
            mode="markers",
            marker={"size": 11, "color": color, "line": {"width": 0}},
            customdata=hover[columns] if len(groups) else [],
            hovertemplate=f"{kind}:<br>%{{customdata}}<extra></extra>",
        )


def flux_figure(flux: pd.DataFrame) -> go.Figure:
    """Draw outflux against influx: which columns can help, which can be helped."""
    points = (
        flux.round({"influx": 4, "outflux": 4})
        .rename_axis("column")
        .reset_index()
        .groupby(["influx", "outflux"], as_index=False)
        .agg(columns=("column", list), p_obs=("p_obs", "mean"))
    )
    labels, sides = _point_labels(points), _beside(points)
    figure = go.Figure(
        [
            go.Scatter(
                x=points["influx"],
                y=points["outflux"],
                mode="markers+text",
                text=[label if side else "" for label, side in zip(labels, sides, strict=True)],
                textposition=[side or "middle right" for side in sides],
                marker={
                    "size": 12,
                    "color": 1 - points["p_obs"],
                    "cmin": 0,
                    "cmax": 1,
                    "colorscale": FROM_OBSERVED_TO_MISSING,
                },
                customdata=np.column_stack(
                    [[hover_list(columns) for columns in points["columns"]], points["p_obs"]]
                ),
                hovertemplate="%{customdata[0]}<br>observed in %{customdata[1]:.1%} of rows"
                "<br>influx %{x:.2f}, outflux %{y:.2f}<extra></extra>",
                cliponaxis=False,
                showlegend=False,
            ),
        ]
    )
    furthest = max(0.2, 1.35 * points["influx"].max())
    figure.update_xaxes(
        title="influx: share of observed cells beside its missing ones",
        range=[-0.03 * furthest, furthest],
    )
    figure.update_yaxes(
        title="outflux: share of missing cells<br>beside its observed ones", range=[-0.05, 1.08]
    )
    return styled(figure, height=400)


def _point_labels(points: pd.DataFrame) -> list[str]:
    """Return labels; of many points only those with the lowest outflux, and the complete ones."""
    ranks = points["outflux"].rank(method="first")
    is_labeled = (ranks <= _LABELED_POINTS) | (points["p_obs"] == 1)
    return [
        f" {group_label(columns, 1 - p_obs)} " if labeled else ""
        for columns, p_obs, labeled in zip(
            points["columns"], points["p_obs"], is_labeled, strict=True
        )
    ]


def _beside(points: pd.DataFrame) -> list[str]:
    """Return the sides for labels: right of a point; of two at one height, on their outer sides.

    Of more points at one height the inner ones have none: their labels would lie on each other.
    """
    sides = np.full(len(points), "middle right", dtype=object)
    heights, reaches = points["outflux"].to_numpy(), points["influx"].to_numpy()
    from_top = np.argsort(-heights, kind="stable")
    is_lower = -np.diff(heights[from_top]) >= _CLOSE_HEIGHT
    for close in np.split(from_top, np.flatnonzero(is_lower) + 1):
        from_left = close[np.argsort(reaches[close], kind="stable")]
        sides[from_left[1:-1]] = ""
        if len(from_left) > 1:
            has_room = reaches[from_left[0]] > 0.3 * max(0.2, reaches.max())
            sides[from_left[0]] = "middle left" if has_room else "top right"
    return list(sides)
