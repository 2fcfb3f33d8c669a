"""Figures of the page Paper: printed and measured results side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import FAINT, IMPUTED, MASKED, MISSING, NEUTRAL, OBSERVED
from pmae_core.plots.labels import (
    LOW_TO_HIGH,
    WORSE_TO_BETTER,
    figure_text,
    hover_names,
    name_ticks,
)
from pmae_core.plots.style import styled

MEAN = "mean"
# Differences beyond this many points have the full color.
FULL_COLOR = 10.0
_ROW = 30
_BARE = {"showgrid": False, "zeroline": False}

# Mechanism -> color and symbol.
_MECHANISMS = {
    "MCAR": (OBSERVED, "circle"),
    "MAR": (MASKED, "square"),
    "MNAR": (MISSING, "diamond"),
}
# Architecture -> title, color, symbol and line.
_ARCHITECTURES = {
    "transformer": ("attention", MISSING, "square", "dot"),
    "mixer": ("MLP", OBSERVED, "circle", "solid"),
}


# Tables


def table_data(
    both: pd.DataFrame, printed: pd.DataFrame, datasets: Sequence[str], methods: Sequence[str]
) -> pd.DataFrame:
    """Return one row per method and dataset, and the means over the measured datasets.

    Parameters
    ----------
    both : DataFrame
        From :func:`dashboard.paper.measured.beside_paper`, for one pattern.
    printed : DataFrame
        ``method``, ``dataset`` and ``printed`` of that pattern, also where nothing was measured.
    datasets, methods : sequence of str
        In this order.
    """
    known = printed.merge(
        both[["method", "dataset", "mean", "error", "n_done", "n_rows", "difference"]],
        on=["method", "dataset"],
        how="outer",
    )
    known["printed"] = known["printed"].astype(float)
    measured = known.dropna(subset=["mean"])
    means = measured.groupby("method")[["mean", "printed", "difference"]].mean()
    # Without a printed result for every dataset there is no mean to compare with.
    whole = measured.groupby("method")["printed"].apply(lambda figures: figures.notna().all())
    means.loc[~whole, ["printed", "difference"]] = np.nan
    rows = pd.concat([known, means.reset_index().assign(dataset=MEAN)], ignore_index=True)
    order = pd.MultiIndex.from_product([methods, [*datasets, MEAN]], names=["method", "dataset"])
    return rows.set_index(["method", "dataset"]).reindex(order).reset_index()


def table_figure(
    data: pd.DataFrame, titles: Mapping[str, str], *, revision: str = "table"
) -> go.Figure:
    """Draw a table of methods by datasets: measured results, and their distance from printed ones.

    Parameters
    ----------
    data : DataFrame
        From :func:`table_data`.
    titles : mapping
        The methods' titles.
    """
    methods, datasets = (list(dict.fromkeys(data[name])) for name in ("method", "dataset"))
    shape = (len(methods), len(datasets))
    differences = data["difference"].fillna(0.0).where(data["mean"].notna())
    hovers = [_cell_hover(row, titles) for row in data.itertuples()]
    heat = go.Heatmap(
        z=np.clip(differences.to_numpy(dtype=float).reshape(shape), -FULL_COLOR, FULL_COLOR),
        zmin=-FULL_COLOR,
        zmax=FULL_COLOR,
        colorscale=WORSE_TO_BETTER,
        showscale=False,
        xgap=2,
        ygap=2,
        text=np.array([_measured_text(row) for row in data.itertuples()]).reshape(shape),
        texttemplate="%{text}",
        textfont={"size": 12},
        hoverongaps=False,
        customdata=np.array(hovers).reshape(shape),
        hovertemplate="%{customdata}<extra></extra>",
    )
    only_printed = np.flatnonzero(data["mean"].isna() & data["printed"].notna())
    brackets = go.Scatter(
        x=only_printed % shape[1],
        y=only_printed // shape[1],
        mode="text",
        text=[f"({printed:.1f})" for printed in data["printed"].iloc[only_printed]],
        textfont={"size": 10},
        customdata=np.array(hovers)[only_printed],
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
    figure = go.Figure([heat, brackets])
    names = [titles.get(method, method) for method in methods]
    figure.update_layout(
        xaxis={
            **_BARE,
            **name_ticks(datasets, most=20),
            "side": "top",
            "range": [-0.5, shape[1] - 0.5],
        },
        yaxis={**_BARE, **name_ticks(names, most=60), "range": [shape[0] - 0.5, -0.5]},
        uirevision=revision,
    )
    figure.add_vline(x=shape[1] - 1.5, line={"color": NEUTRAL, "width": 2})
    return styled(figure, height=90 + 34 * max(len(methods), 2))


def _measured_text(row: Any) -> str:
    return "" if pd.isna(row.mean) else f"{row.mean:.1f}<br>{signed(row.difference)}"


def signed(difference: float) -> str:
    """Return a difference with a sign that can be read without color; empty if there is none.

    Examples
    --------
    >>> signed(2.13), signed(-19.6), signed(0.02), signed(float("nan"))
    ('▲2.1', '▼20', '=', '')
    """
    if pd.isna(difference):
        return ""
    size = abs(difference)
    if size < 0.05:
        return "="
    digits = 0 if size >= 9.95 else 1
    return f"{'▲' if difference > 0 else '▼'}{size:.{digits}f}"


def _cell_hover(row: Any, titles: Mapping[str, str]) -> str:
    where = f"{figure_text(titles.get(row.method, row.method))}, {figure_text(row.dataset)}"
    printed = "not in the paper" if pd.isna(row.printed) else f"printed {row.printed:.1f}"
    if pd.isna(row.mean):
        return f"{where}: not measured, {printed}"
    error = "" if pd.isna(row.error) else f" ± {row.error:.1f}"
    seeds = "" if pd.isna(row.n_done) else f"<br>{row.n_done:.0f} seeds, {row.n_rows:,.0f} rows"
    return f"{where}: {row.mean:.1f}{error}, {printed}{seeds}"


# Pairs of a printed and a measured result


def pairs_figure(
    pairs: pd.DataFrame,
    axis: str,
    *,
    less_is_better: bool = False,
    revision: str = "pairs",
) -> go.Figure:
    """Draw a printed and a measured result for each name, joined by a line.

    Parameters
    ----------
    pairs : DataFrame
        ``name``, ``measured``, ``printed`` (NaN if there is none), and optionally ``error``.
    axis : str
        The title of the axis.
    less_is_better : bool
        Reverse the axis, so that better is always to the right.
    """
    figure = _joined(
        pairs.reset_index(drop=True),
        {"printed": ("printed", 1), "measured": ("measured", 1)},
    )
    figure.update_layout(
        xaxis={"title": {"text": axis}, **({"autorange": "reversed"} if less_is_better else {})},
        uirevision=revision,
    )
    return styled(figure, height=130 + _ROW * max(len(pairs), 2))


def _joined(rows: pd.DataFrame, ends: Mapping[str, tuple[str, int]]) -> go.Figure:
    """Draw two numbers for each ``name``, a diamond and a dot joined by a line.

    `ends` has the title and the digits of both columns.
    """
    first, second = ends
    figure = go.Figure()
    known = rows.dropna(subset=[first, second])
    for place, values in known.to_dict(orient="index").items():
        figure.add_shape(
            type="line",
            x0=values[first],
            x1=values[second],
            y0=place,
            y1=place,
            line={"color": FAINT, "width": 6},
            layer="below",
        )
    looks = ((NEUTRAL, "diamond-open"), (IMPUTED, "circle"))
    for (column, (name, digits)), (color, symbol) in zip(ends.items(), looks, strict=True):
        figure.add_trace(
            go.Scatter(
                x=rows[column].astype(float),
                y=list(rows.index),
                mode="markers",
                name=name,
                marker={"color": color, "symbol": symbol, "size": 12, "line": {"width": 2}},
                error_x=_errors(rows) if column == second else None,
                customdata=hover_names(rows["name"].tolist()),
                hovertemplate=f"%{{customdata}}: %{{x:.{digits}f}}<extra>{name}</extra>",
            )
        )
    figure.update_layout(yaxis=_names_axis(rows["name"].tolist()), showlegend=True)
    return figure


def _names_axis(names: Sequence[str]) -> dict[str, Any]:
    """Return an axis with names from top to bottom."""
    return {**name_ticks(names, most=60), "range": [len(names) - 0.5, -0.5], "zeroline": False}


def _errors(rows: pd.DataFrame) -> dict[str, Any] | None:
    if "error" not in rows or rows["error"].isna().all():
        return None
    return {"type": "data", "array": rows["error"].fillna(0.0), "color": IMPUTED, "thickness": 1.5}


def boxes_figure(
    both: pd.DataFrame,
    methods: Sequence[str],
    titles: Mapping[str, str],
    axis: str,
    *,
    revision: str = "boxes",
) -> go.Figure:
    """Draw the distribution of each method's results over datasets and patterns.

    Parameters
    ----------
    both : DataFrame
        From :func:`dashboard.paper.measured.beside_paper`; rows with both results are drawn.
    methods : sequence of str
        From top to bottom.
    titles : mapping
        Their titles.
    axis : str
        The title of the axis.
    """
    known = both.dropna(subset=["mean", "printed"])
    known = known[known["method"].isin(methods)]
    place = {method: index for index, method in enumerate(methods)}
    places = known["method"].map(place)
    cells = [
        f"{figure_text(row.dataset)}, {figure_text(row.pattern)}" for row in known.itertuples()
    ]
    traces = [
        go.Box(
            x=known[column].astype(float),
            y=places,
            name=name,
            orientation="h",
            boxpoints="all",
            jitter=0.4,
            pointpos=0,
            boxmean=True,
            marker={"color": color, "symbol": symbol, "size": 5},
            line={"color": color, "width": 1.5},
            fillcolor=FAINT,
            text=cells,
            hovertemplate=f"%{{text}}: %{{x:.1f}}<extra>{name}</extra>",
        )
        for column, name, color, symbol in (
            ("printed", "printed", NEUTRAL, "diamond-open"),
            ("mean", "measured", IMPUTED, "circle"),
        )
    ]
    layout = {
        "boxmode": "group",
        "xaxis": {"title": {"text": axis}, "rangemode": "tozero"},
        "yaxis": _names_axis([titles.get(method, method) for method in methods]),
        "uirevision": revision,
    }
    return styled(go.Figure(traces, layout), height=130 + 44 * max(len(methods), 2))


# The grid


def grid_figure(
    grid: pd.DataFrame, *, chosen: tuple[float, float], revision: str = "grid"
) -> go.Figure:
    """Draw the accuracy by a and b, with a dot at the best and a frame at the paper's choice.

    Parameters
    ----------
    grid : DataFrame
        ``a``, ``b`` and ``mean``.
    chosen : (a, b)
        The paper's choice.
    """
    table = grid.pivot_table(index="b", columns="a", values="mean")
    cells = table.to_numpy(dtype=float)
    best = np.nanmax(cells)
    texts = [
        ["" if np.isnan(cell) else f"{cell:.1f}{' ●' if cell == best else ''}" for cell in row]
        for row in cells
    ]
    heat = go.Heatmap(
        z=cells,
        colorscale=LOW_TO_HIGH,
        showscale=False,
        hoverongaps=False,
        xgap=2,
        ygap=2,
        text=texts,
        texttemplate="%{text}",
        customdata=np.array([[f"a = {a:g}, b = {b:g}" for a in table] for b in table.index]),
        hovertemplate="%{customdata}: %{z:.1f}<extra></extra>",
    )
    figure = go.Figure(heat)
    if chosen[0] in table.columns and chosen[1] in table.index:
        x, y = list(table.columns).index(chosen[0]), list(table.index).index(chosen[1])
        figure.add_shape(
            type="rect",
            x0=x - 0.49,
            x1=x + 0.49,
            y0=y - 0.49,
            y1=y + 0.49,
            line={"color": MASKED, "width": 4},
        )
    figure.update_layout(
        xaxis={**_BARE, "title": {"text": "a: effect of missingness"}}
        | name_ticks([f"{a:g}" for a in table], most=20),
        yaxis={**_BARE, "title": {"text": "b: masking rate at p_obs = 0.5"}}
        | name_ticks([f"{b:g}" for b in table.index], most=20),
        uirevision=revision,
    )
    return styled(figure, height=110 + 46 * max(len(table), 2))


# Mechanisms


def mechanisms_figure(
    means: pd.DataFrame,
    methods: Sequence[str],
    titles: Mapping[str, str],
    *,
    revision: str = "mechanisms",
) -> go.Figure:
    """Draw each method's accuracy under each mechanism.

    Parameters
    ----------
    means : DataFrame
        ``method``, ``mechanism`` and ``mean``.
    methods : sequence of str
        From top to bottom.
    titles : mapping
        Their titles.
    """
    place = {method: index for index, method in enumerate(methods)}
    traces = []
    for mechanism, (color, symbol) in _MECHANISMS.items():
        rows = means[means["mechanism"] == mechanism]
        traces.append(
            go.Scatter(
                x=rows["mean"].astype(float),
                y=[place[method] for method in rows["method"]],
                mode="markers",
                name=mechanism,
                marker={"color": color, "symbol": symbol, "size": 11},
                customdata=hover_names([titles.get(name, name) for name in rows["method"]]),
                hovertemplate=f"%{{customdata}}: %{{x:.1f}}<extra>{mechanism}</extra>",
            )
        )
    layout = {
        "xaxis": {"title": {"text": "imputation accuracy × 100"}},
        "yaxis": _names_axis([titles.get(method, method) for method in methods]),
        "showlegend": True,
        "uirevision": revision,
    }
    return styled(go.Figure(traces, layout), height=130 + _ROW * max(len(methods), 2))


# Token mixing


def mixing_change(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how much each block's mixing changes the columns, by architecture.

    ``change`` is the mean absolute change of a column's relative magnitude, over columns and seeds.
    """
    change = (rows["after"] - rows["before"]).abs()
    return (
        rows.assign(change=change)
        .groupby(["architecture", "block"], as_index=False)["change"]
        .mean()
        .astype({"block": int})
    )


def mixing_change_figure(change: pd.DataFrame, *, revision: str = "mixing") -> go.Figure:
    """Draw how much each block's mixing changes the columns, for attention and MLP."""
    traces = []
    for architecture, (name, color, symbol, dash) in _ARCHITECTURES.items():
        rows = change[change["architecture"] == architecture]
        traces.append(
            go.Scatter(
                x=rows["block"],
                y=rows["change"],
                mode="lines+markers",
                name=name,
                line={"color": color, "dash": dash},
                marker={"symbol": symbol, "size": 10},
                hovertemplate=f"block %{{x}}: %{{y:.3f}}<extra>{name}</extra>",
            )
        )
    layout = {
        "xaxis": {"title": {"text": "block of the encoder"}, "dtick": 1},
        "yaxis": {"title": {"text": "mean change of columns"}, "rangemode": "tozero"},
        "showlegend": True,
        "uirevision": revision,
    }
    return styled(go.Figure(traces, layout), height=300)


def mixing_columns_figure(columns: pd.DataFrame, *, revision: str = "columns") -> go.Figure:
    """Draw the relative magnitude of each column before and after one block.

    Parameters
    ----------
    columns : DataFrame
        ``column``, ``before`` and ``after`` of one architecture and block.
    """
    figure = _joined(
        columns.rename(columns={"column": "name"}).reset_index(drop=True),
        {"before": ("before mixing", 2), "after": ("after mixing", 2)},
    )
    figure.add_vline(x=1.0, line={"color": NEUTRAL, "dash": "dot", "width": 1})
    figure.update_layout(
        xaxis={"title": {"text": "magnitude relative to the mean column"}}, uirevision=revision
    )
    return styled(figure, height=130 + 24 * max(len(columns), 2))
