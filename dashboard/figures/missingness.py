"""Figures of what is missing in a table. All take what ``pmae_core.missingness`` returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.labels import hover_list, hover_names, name_ticks
from dashboard.figures.style import styled
from dashboard.shell.theme import FAINT, MISSING, NEUTRAL, OBSERVED
from dashboard.text import figure_text
from pmae_core.missingness import (
    MissingPatterns,
    NullityMatrix,
    NullityTree,
    ValueDistribution,
)
from pmae_core.words import count, percent

MOST_BARS = 40
MOST_CORRELATED = 40
MOST_LEAVES = 40
MOST_PATTERNS = 15
MOST_PATTERN_COLUMNS = 20
MOST_EFFECTS = 20
MOST_STEPS = 15

_FROM_OBSERVED_TO_MISSING = [[0, OBSERVED], [1, MISSING]]
_APART_OR_TOGETHER = [[0, OBSERVED], [0.5, FAINT], [1, MISSING]]
_SHARES = {"tickformat": ".0%", "range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1]}
_WRITTEN_UP_TO = 10  # columns whose correlations are written as numbers
_CLOSE_HEIGHT = 0.06  # of points whose labels would touch
_TICKS = 25  # names that have room side by side


# How much


def columns_figure(per_column: pd.DataFrame) -> go.Figure:
    """Draw the observed and missing share of each column as bars, in the order given.

    Parameters
    ----------
    per_column : DataFrame
        ``p_obs`` and ``n_missing`` by column name; at most the first 40 are drawn.
    """
    shown = per_column.iloc[:MOST_BARS]
    names = list(shown.index)
    hover = np.column_stack([hover_names(names), [count(int(n)) for n in shown["n_missing"]]])
    bars = [
        _bar(shown["p_obs"], "observed", OBSERVED, hover, "%{customdata[0]}: %{x:.1%} observed"),
        _bar(
            1 - shown["p_obs"],
            "missing",
            MISSING,
            hover,
            "%{customdata[0]}: %{x:.1%} missing (%{customdata[1]} cells)",
        ),
    ]
    figure = go.Figure(bars)
    figure.update_layout(barmode="stack", bargap=0.3, legend={"traceorder": "normal"})
    figure.update_xaxes(title="share of rows", **_SHARES)
    figure.update_yaxes(**_names_downwards(names))
    return _with_room_for_100(styled(figure, height=_height(len(names), 24, 110)))


def _bar(
    shares: Iterable[float], name: str, color: str, hover: np.ndarray, template: str
) -> go.Bar:
    return go.Bar(
        x=list(shares),
        y=list(range(len(hover))),
        orientation="h",
        name=name,
        marker={"color": color, "line": {"width": 0}},
        customdata=hover,
        hovertemplate=f"{template}<extra></extra>",
    )


# Where


def matrix_figure(matrix: NullityMatrix, columns: Sequence[Any] | None = None) -> go.Figure:
    """Draw the table as a picture: observed and missing cells, rows in bins.

    Parameters
    ----------
    matrix : NullityMatrix
        Of `bin_nullity`.
    columns : sequence, optional
        The columns in the order in which to draw them; as in the table if not given.
    """
    places = (
        np.arange(len(matrix.columns)) if columns is None else matrix.columns.get_indexer(columns)
    )
    names = list(matrix.columns[places])
    rows = _row_names(matrix)
    figure = go.Figure(
        go.Heatmap(
            z=matrix.share_missing[:, places],
            x=_different(hover_names(names)),
            y=rows,
            zmin=0,
            zmax=1,
            colorscale=_FROM_OBSERVED_TO_MISSING,
            xgap=1 if len(names) <= 60 else 0,
            colorbar=_scale("share of these rows missing", tickformat=".0%"),
            hovertemplate="%{x}<br>%{y}: %{z:.0%} missing<extra></extra>",
        )
    )
    ticks = name_ticks(names, most=_TICKS)
    figure.update_xaxes(
        **{**ticks, "tickangle": -60 if len(names) > 6 else 0}, side="top", type="category"
    )
    step = max(1, len(rows) // 5)
    order = "row" if matrix.order == "table" else "rows, by pattern"
    figure.update_yaxes(
        title=order,
        autorange="reversed",
        type="category",
        tickmode="array",
        tickvals=list(range(0, len(rows), step)),
        ticktext=[f"{first:,}" for first in matrix.first_row[::step]],
        showgrid=False,
    )
    return styled(figure, height=560)


def _row_names(matrix: NullityMatrix) -> list[str]:
    return [
        f"row {first:,}" if first == last else f"rows {first:,} to {last:,}"
        for first, last in zip(matrix.first_row, matrix.last_row, strict=True)
    ]


# Together


def correlation_figure(correlation: pd.DataFrame) -> go.Figure:
    """Draw which columns are missing together; at most the first 40 of `correlate_nullity`."""
    shown = correlation.iloc[:MOST_CORRELATED, :MOST_CORRELATED]
    names = list(shown.index)
    values = shown.to_numpy(dtype=float).copy()
    values[np.triu_indices(len(names))] = np.nan
    labels = _different(hover_names(names))
    figure = go.Figure(
        go.Heatmap(
            z=values[1:, :-1],
            x=labels[:-1],
            y=labels[1:],
            zmin=-1,
            zmax=1,
            colorscale=_APART_OR_TOGETHER,
            xgap=1,
            ygap=1,
            colorbar=_scale(
                "−1: never, 1: always together", y=1.02, yanchor="bottom", tickvals=[-1, 0, 1]
            ),
            hovertemplate="%{x} and<br>%{y}: %{z:.2f}<extra></extra>",
            hoverongaps=False,
        )
    )
    if len(names) <= _WRITTEN_UP_TO:
        figure.add_traces(_written(values[1:, :-1], labels))
    figure.update_xaxes(
        **name_ticks(names[:-1], most=MOST_CORRELATED),
        tickangle=-60,
        type="category",
        showgrid=False,
    )
    figure.update_yaxes(**_names_downwards(names[1:]), type="category")
    return styled(figure, height=_height(len(names), 26, 240))


def _written(values: np.ndarray, labels: list[str]) -> list[go.Scatter]:
    """Return the numbers of a heatmap as text: white on strong colors, else the page's color.

    Plotly's own numbers take the colors for opaque ones and are unreadable on a dark page.
    """
    traces = []
    for strong in (False, True):
        rows, columns = np.nonzero(((np.abs(values) > 0.5) == strong) & ~np.isnan(values))
        traces.append(
            go.Scatter(
                x=[labels[column] for column in columns],
                y=[labels[row + 1] for row in rows],
                text=[f"{value:z.2f}" for value in values[rows, columns]],
                mode="text",
                textfont={"color": "white"} if strong else None,
                hoverinfo="skip",
                showlegend=False,
            )
        )
    return traces


def dendrogram_figure(tree: NullityTree) -> go.Figure:
    """Draw the tree of columns, leaves from top to bottom, joins to the right."""
    labels = [group_label(group, share) for group, share in _leaves(tree)]
    figure = go.Figure(
        [
            go.Scatter(
                x=_branches(tree.joins, ["left_height", "height", "height", "right_height"]),
                y=_branches(tree.joins, ["left", "left", "right", "right"]),
                mode="lines",
                line={"color": NEUTRAL, "width": 1.5},
                hoverinfo="skip",
                showlegend=False,
            ),
            go.Scatter(
                x=[0] * len(labels),
                y=list(range(len(labels))),
                mode="markers",
                marker={
                    "size": 11,
                    "color": tree.share_missing,
                    "cmin": 0,
                    "cmax": 1,
                    "colorscale": _FROM_OBSERVED_TO_MISSING,
                },
                customdata=np.column_stack(
                    [[hover_list(group) for group in tree.groups], tree.share_missing]
                ),
                hovertemplate="%{customdata[0]}<br>%{customdata[1]:.1%} missing<extra></extra>",
                cliponaxis=False,
                showlegend=False,
            ),
        ]
    )
    figure.update_xaxes(
        title="share of rows that differ",
        tickformat=".1~%",
        range=[0, 1.04 * tree.joins["height"].max()],
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
    return styled(figure, height=_height(len(labels), 24, 100))


def group_label(group: Sequence[Any], share_missing: float) -> str:
    """Return what a leaf stands for: a name, or how many columns with the same holes."""
    if len(group) == 1:
        return figure_text(group[0], 22)
    kind = {0.0: "complete columns", 1.0: "empty columns"}.get(float(share_missing))
    if kind:
        return f"{len(group):,} {kind}"
    return f"{figure_text(group[0], 16)} + {len(group) - 1:,}"


def _leaves(tree: NullityTree) -> Iterable[tuple[tuple[Any, ...], float]]:
    return zip(tree.groups, tree.share_missing, strict=True)


def _branches(joins: pd.DataFrame, corners: list[str]) -> list[float | None]:
    """Return the corners of all brackets in one line with gaps, which draws fast."""
    return [
        value
        for bracket in joins[corners].itertuples(index=False)
        for value in (*map(float, bracket), None)
    ]


# Patterns


def patterns_figure(patterns: MissingPatterns, max_patterns: int = MOST_PATTERNS) -> go.Figure:
    """Draw the most frequent missing patterns: how many rows, and which columns they miss.

    Columns are those that the drawn patterns miss, at most 20, the emptiest on top.
    """
    missing = patterns.missing[:max_patterns]
    counts = patterns.counts[:max_patterns]
    places = _columns_of_patterns(patterns, missing)
    names = list(patterns.columns[places])
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.03, row_heights=_heights(len(names))
    )
    figure.add_trace(_pattern_bars(patterns, missing, counts), row=1, col=1)
    figure.add_trace(_pattern_stems(missing[:, places]), row=2, col=1)
    for trace in _pattern_dots(missing[:, places], names):
        figure.add_trace(trace, row=2, col=1)
    share = patterns.n_missing[places] / patterns.n_rows
    labels = [
        f"{figure_text(name, 18)} ({percent(part)})"
        for name, part in zip(names, share, strict=True)
    ]
    steps = {"dtick": 1} if counts.max() < 5 else {"nticks": 5}
    figure.update_yaxes(title="rows", row=1, col=1, rangemode="tozero", tickformat=",d", **steps)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=labels,
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        row=2,
        col=1,
    )
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    figure.update_layout(showlegend=False, uniformtext={"mode": "hide", "minsize": 9})
    return styled(figure, height=_height(len(names), 24, 240))


def _columns_of_patterns(patterns: MissingPatterns, missing: np.ndarray) -> np.ndarray:
    used = np.flatnonzero(missing.any(axis=0))
    by_holes = used[np.argsort(-patterns.n_missing[used], kind="stable")]
    return by_holes[:MOST_PATTERN_COLUMNS]


def _heights(n_columns: int) -> list[float]:
    bars, dots = 200, 24 * max(n_columns, 1)
    return [bars / (bars + dots), dots / (bars + dots)]


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
        text=[percent(n / patterns.n_rows) for n in counts],
        textposition="outside",
        cliponaxis=False,
    )


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


def _pattern_dots(missing: np.ndarray, names: Sequence[Any]) -> Iterable[go.Scatter]:
    hover = hover_names(names)
    for kind, color, cells in (("observed", FAINT, ~missing), ("missing", MISSING, missing)):
        patterns, columns = np.nonzero(cells)
        yield go.Scatter(
            x=patterns,
            y=columns,
            mode="markers",
            marker={"size": 11, "color": color, "line": {"width": 0}},
            customdata=hover[columns] if len(names) else [],
            hovertemplate=f"%{{customdata}}: {kind}<extra></extra>",
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
    labels = [_point_label(columns, p_obs) for columns, p_obs in _columns_and_p_obs(points)]
    figure = go.Figure(
        [
            go.Scatter(
                x=points["influx"],
                y=points["outflux"],
                mode="markers+text" if len(points) <= 15 else "markers",
                text=labels,
                textposition=_beside(points),
                marker={
                    "size": 12,
                    "color": 1 - points["p_obs"],
                    "cmin": 0,
                    "cmax": 1,
                    "colorscale": _FROM_OBSERVED_TO_MISSING,
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
        title="influx: how much is known where it is missing", range=[-0.03 * furthest, furthest]
    )
    figure.update_yaxes(title="outflux: how much it can help", range=[-0.05, 1.08])
    return styled(figure, height=420)


def _columns_and_p_obs(points: pd.DataFrame) -> Iterable[tuple[list[Any], float]]:
    return zip(points["columns"], points["p_obs"], strict=True)


def _point_label(columns: list[Any], p_obs: float) -> str:
    return f" {group_label(columns, 1 - p_obs)} "


def _beside(points: pd.DataFrame) -> list[str]:
    """Return sides for labels: right of a point; of points at one height, on their outer sides."""
    sides = np.full(len(points), "middle right", dtype=object)
    heights, reaches = points["outflux"].to_numpy(), points["influx"].to_numpy()
    from_top = np.argsort(-heights, kind="stable")
    is_lower = -np.diff(heights[from_top]) >= _CLOSE_HEIGHT
    for close in np.split(from_top, np.flatnonzero(is_lower) + 1):
        from_left = close[np.argsort(reaches[close], kind="stable")]
        for place, point in enumerate(from_left[:-1]):
            has_room = reaches[point] > 0.3 * max(0.2, reaches.max())
            outside = "middle left" if has_room else "top right"
            sides[point] = ("bottom center", "top center")[place % 2] if place else outside
    return list(sides)


# What goes with it


def differences_figure(compared: pd.DataFrame) -> go.Figure:
    """Draw how rows with and without a hole differ, of :func:`compare_rows`."""
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
        By column name: ``kind``, the effect, and its size ``by_chance`` (a grey area reaches to
        it); at most 20 of each kind are drawn, those that come first. Rows without an effect are
        left out.
    value : str
        Name of the effect.
    titles : dict
        What the axes of the two kinds show, the numerical one first.
    least : float
        The axes reach at least so far, so that small effects look small.
    """
    measured = effects[effects[value].notna()]
    panels = [
        (title, measured[measured["kind"] == kind].iloc[:MOST_EFFECTS])
        for kind, title in titles.items()
    ]
    panels = [(title, panel) for title, panel in panels if len(panel)]
    sizes = [len(panel) for _, panel in panels]
    height = _height(sum(sizes), 26, 80 * max(1, len(panels)))
    figure = make_subplots(
        rows=max(1, len(panels)),
        cols=1,
        row_heights=[size + 0.5 for size in sizes] or None,
        vertical_spacing=min(0.4, 75 / height),
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
        figure.update_yaxes(**_names_downwards(list(panel.index)), row=row, col=1)
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
    return styled(figure, height=380)


def _value_ticks(compared: ValueDistribution) -> dict[str, Any]:
    if compared.edge_labels is None:
        return {**name_ticks(compared.labels, most=_TICKS), "automargin": True}
    edges = compared.edge_labels
    step = max(1, (len(edges) - 1) // 4)
    return {
        "tickmode": "array",
        "tickvals": [place - 0.5 for place in range(0, len(edges), step)],
        "ticktext": [figure_text(edge, 20) for edge in edges[::step]],
    }


# If rows are dropped


def dropping_figure(path: pd.DataFrame, n_rows: int) -> go.Figure:
    """Draw how many rows are complete as columns are left out one by one.

    Parameters
    ----------
    path : DataFrame
        Of `dropping_path`; the first 15 steps are drawn.
    n_rows : int
        Rows of the table.
    """
    shown = path.iloc[:MOST_STEPS]
    complete = shown["n_complete_rows"].to_numpy()
    steps = ["all chosen columns"] + [
        f"without {figure_text(name, 18)}" if place == 1 else f"and {figure_text(name, 18)}"
        for place, name in enumerate(shown["left_out"].iloc[1:], start=1)
    ]
    hover = np.column_stack([[f"{n:,}" for n in complete], [f"{n:,}" for n in n_rows - complete]])
    figure = go.Figure(
        [
            _bar(
                complete / n_rows, "kept", OBSERVED, hover, "%{customdata[0]} rows stay (%{x:.1%})"
            ),
            _bar(
                1 - complete / n_rows,
                "dropped",
                MISSING,
                hover,
                "%{customdata[1]} rows are dropped (%{x:.1%})",
            ),
        ]
    )
    figure.update_layout(barmode="stack", bargap=0.3, legend={"traceorder": "normal"})
    figure.update_xaxes(title="share of rows", **_SHARES)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(steps))),
        ticktext=steps,
        range=[len(steps) - 0.4, -0.6],
        showgrid=False,
    )
    return _with_room_for_100(styled(figure, height=_height(len(steps), 26, 110)))


# Parts


def _names_downwards(names: Sequence[Any]) -> dict[str, Any]:
    """Return settings of an axis with names from top to bottom at 0, 1, 2, ..."""
    return {
        **name_ticks(names, most=len(names) or 1),
        "range": [len(names) - 0.4, -0.6],
        "showgrid": False,
        "zeroline": False,
    }


def _different(labels: Iterable[str]) -> list[str]:
    """Return labels that differ, so that an axis of names keeps equal ones apart."""
    seen: dict[str, int] = {}
    result = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        result.append(label + "\u200b" * (seen[label] - 1))
    return result


def _scale(title: str, **settings: Any) -> dict[str, Any]:
    """Return a color scale that lies flat below the figure, where a narrow screen has room."""
    return {
        "title": {"text": title, "side": "bottom"},
        "orientation": "h",
        "thickness": 10,
        "len": 0.8,
        "x": 0,
        "xanchor": "left",
        "y": -0.02,
        "yanchor": "top",
        **settings,
    }


def _with_room_for_100(figure: go.Figure) -> go.Figure:
    """Return the figure with a margin for half of the label "100%", which is left out without."""
    return figure.update_layout(margin={"r": 28})


def _height(n_items: int, each: int, around: int) -> int:
    return around + each * max(n_items, 1)
