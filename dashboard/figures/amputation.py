"""Figures of the amputation lab: the rule, chances, missing cells and the removed values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.shares import bin_edges, shares_figure
from pmae_core.colors import FAINT, MISSING, NEUTRAL, OBSERVED, tint
from pmae_core.plots.labels import WORSE_TO_BETTER, figure_text, hover_names, name_ticks
from pmae_core.plots.style import color_legend, styled
from pmae_core.words import decimals, exact_text

PICTURE_ROWS = 120
MOST_COLUMNS = 40
MOST_CATEGORIES = 12
# Beside the settings, the two figures of the rule fit a laptop's window.
_MAIN_HEIGHT = 295
_COLUMNS_WITH_NUMBERS = 5
_INK = "#1F2430"  # on cells, which are light in both themes
_NO_WEIGHT = [(0, FAINT), (1, FAINT)]
_BY_CATEGORY = [(0, "#DCE0E8"), (1, NEUTRAL)]
_SHADES = {"others low": 0.45, "others middle": 0.7, "others high": 1.0}


@dataclass(frozen=True)
class RowBands:
    """Rows of a table in bands, and the share missing in each band and column.

    Attributes
    ----------
    columns : list of str
        In the order drawn.
    share_missing : float array of shape (bands, columns)
        0 where all cells of a band are observed, 1 where all are missing.
    rows_per_band : float
        1 where every row is a band of its own.
    """

    columns: list[str]
    share_missing: np.ndarray
    rows_per_band: float


def row_bands(missing: pd.DataFrame, *, ordered: bool = True) -> RowBands:
    """Summarize the missing cells of any number of rows in at most 120 bands.

    Parameters
    ----------
    missing : DataFrame of bool
        True where a cell is missing.
    ordered : bool, default True
        Sort columns and rows by their number of missing cells, which shows a monotone pattern as
        a staircase. Otherwise keep the table's order.
    """
    cells = missing.to_numpy(dtype=bool)
    names = [str(name) for name in missing.columns]
    if ordered:
        by_column = np.argsort(cells.sum(axis=0), kind="stable")
        cells = cells[:, by_column]
        names = [names[j] for j in by_column]
        # Rows with equal patterns lie together: first by number missing, then by pattern.
        cells = cells[np.lexsort((*cells.T[::-1], cells.sum(axis=1)))] if cells.size else cells
    n_bands = min(PICTURE_ROWS, len(cells))
    edges = np.linspace(0, len(cells), n_bands + 1).astype(int)
    bands = np.array([cells[a:b].mean(axis=0) for a, b in pairwise(edges)])
    return RowBands(
        columns=names,
        share_missing=bands.reshape(n_bands, len(names)),
        rows_per_band=len(cells) / n_bands if n_bands else 0.0,
    )


def missing_cells_figure(picture: RowBands, *, revision: str = "missing") -> go.Figure:
    """Draw which cells are observed and which are missing."""
    shares = picture.share_missing
    names = hover_names(picture.columns)
    cells = go.Heatmap(
        z=shares,
        zmin=0,
        zmax=1,
        colorscale=[(0, OBSERVED), (1, MISSING)],
        showscale=False,
        xgap=1 if len(names) <= 60 else 0,
        text=np.broadcast_to(names, shares.shape),
        hovertemplate="%{text}: missing in %{z:.0%} of these rows<extra></extra>",
    )
    legend = color_legend({"observed": OBSERVED, "missing": MISSING})
    bare = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {**bare, **name_ticks(picture.columns, most=20), "tickangle": -90},
        "yaxis": {
            **bare,
            "title": {"text": "rows"},
            "showticklabels": False,
            "autorange": "reversed",
        },
        "uirevision": revision,
    }
    return styled(go.Figure([cells, *legend], layout), height=340)


def chances_by_column(
    chance: pd.DataFrame, missing: pd.DataFrame, columns: Sequence[Any]
) -> pd.DataFrame:
    """Return quantiles of the chance of being missing by column, and the share that is missing."""
    quantiles = chance[list(columns)].quantile([0.0, 0.25, 0.75, 1.0])
    return pd.DataFrame(
        {
            "column": [str(name) for name in columns],
            "lowest": quantiles.iloc[0].to_numpy(),
            "lower_quarter": quantiles.iloc[1].to_numpy(),
            "mean": chance[list(columns)].mean().to_numpy(),
            "upper_quarter": quantiles.iloc[2].to_numpy(),
            "highest": quantiles.iloc[3].to_numpy(),
            "missing": missing[list(columns)].mean().to_numpy(),
        }
    )


def chances_by_column_figure(chances: pd.DataFrame, *, revision: str = "columns") -> go.Figure:
    """Draw the chances of being missing in each column, beside the share that is missing."""
    shown = chances.head(MOST_COLUMNS)
    places = np.arange(len(shown))
    strokes = [
        go.Scatter(
            x=_with_gaps(shown[low], shown[high]),
            y=_with_gaps(places, places),
            mode="lines",
            name=name,
            line={"color": MISSING, "width": width},
            hoverinfo="skip",
        )
        for name, low, high, width in (
            ("all rows", "lowest", "highest", 2),
            ("middle half", "lower_quarter", "upper_quarter", 8),
        )
    ]
    names = hover_names(list(shown["column"]))
    mean = go.Scatter(
        x=shown["mean"],
        y=places,
        mode="markers",
        name="mean",
        marker={"color": MISSING, "size": 12, "line": {"color": "white", "width": 2}},
        text=names,
        customdata=shown[["lowest", "highest"]].to_numpy(),
        hovertemplate="%{text}: %{customdata[0]:.0%} to %{customdata[1]:.0%}, mean %{x:.1%}"
        "<extra></extra>",
    )
    share = go.Scatter(
        x=shown["missing"],
        y=places,
        mode="markers",
        name="share missing",
        marker={"symbol": "line-ns", "size": 16, "line": {"width": 2, "color": NEUTRAL}},
        text=names,
        hovertemplate="%{text}: %{x:.1%} missing<extra></extra>",
    )
    layout = {
        "xaxis": {
            "title": {"text": "chance of being missing"},
            "tickformat": ".0%",
            "range": [-0.02, 1.02],
        },
        "yaxis": {"autorange": "reversed", **name_ticks(list(shown["column"]), most=MOST_COLUMNS)},
        "uirevision": revision,
    }
    return styled(go.Figure([*strokes, mean, share], layout), height=110 + 24 * max(len(shown), 3))


def _with_gaps(starts: Any, ends: Any) -> np.ndarray:
    """Return start, end, gap, start, end, gap, ... so that one trace draws many lines."""
    gap = np.full(len(starts), np.nan)
    return np.column_stack([starts, ends, gap]).astype(float).ravel()


def value_shares(values: np.ndarray, missing: np.ndarray, scale: str) -> pd.DataFrame:
    """Return the distributions of the observed and of the removed values.

    Parameters
    ----------
    values : array
        The true values: floats for the scales "number" and "time" (days since 1970), else labels.
    missing : bool array
        Which of them were removed.
    scale : {"number", "time", "category"}
        What the values are.

    Returns
    -------
    DataFrame
        One row per bin (``from``, ``to``) or category, with the shares of both groups. The most
        frequent categories have their own row; the rest share one.
    """
    if scale == "category":
        return _category_shares(values, missing)
    edges = bin_edges(values)
    observed, _ = np.histogram(values[~missing], edges)
    removed, _ = np.histogram(values[missing], edges)
    return pd.DataFrame(
        {
            "from": edges[:-1],
            "to": edges[1:],
            "observed": observed / max(observed.sum(), 1),
            "removed": removed / max(removed.sum(), 1),
        }
    )


def _category_shares(values: np.ndarray, missing: np.ndarray) -> pd.DataFrame:
    counts = (
        pd.DataFrame({"label": values, "missing": missing}).groupby(["label", "missing"]).size()
    )
    counts = counts.unstack(fill_value=0).reindex(columns=[False, True], fill_value=0)
    counts = counts.loc[counts.sum(axis=1).sort_values(ascending=False, kind="stable").index]
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    shown = shares.head(MOST_CATEGORIES)
    rest = shares.iloc[MOST_CATEGORIES:]
    data = pd.DataFrame(
        {
            "category": [exact_text(label) for label in shown.index],
            "observed": shown[False].to_numpy(),
            "removed": shown[True].to_numpy(),
        }
    )
    if len(rest):
        joined = {
            "category": f"{len(rest)} others",
            "observed": rest[False].sum(),
            "removed": rest[True].sum(),
        }
        data = pd.concat([data, pd.DataFrame([joined])], ignore_index=True)
    return data


def values_figure(
    data: pd.DataFrame, name: str, scale: str, *, revision: str = "values"
) -> go.Figure:
    """Draw the distributions of the observed and of the removed values."""
    edges = None
    if scale != "category":
        edges = _as_axis(np.append(data["from"], data["to"].iloc[-1:]), scale)
    return shares_figure(
        data,
        (("observed", "observed", OBSERVED), ("removed", "removed", MISSING)),
        name=name,
        share_of="the group",
        edges=edges,
        revision=revision,
    )


def _as_axis(values: np.ndarray, scale: str) -> Any:
    """Return days since 1970 as dates, and numbers as they are."""
    if scale != "time":
        return values
    return pd.to_datetime(np.round(values * 86_400_000).astype("int64"), unit="ms")


# The rule


def rule_figure(
    weights: pd.DataFrame,
    has_direction: np.ndarray,
    own: np.ndarray,
    highlighted: Any = None,
    *,
    revision: str = "rule",
) -> go.Figure:
    """Draw which columns drive the missing values of which, and with what weight.

    Parameters
    ----------
    weights : DataFrame
        One row per driving column, one column per column with missing values; 0: no driver.
    has_direction : bool array
        Which driving columns have high and low values; the others have categories.
    own : bool array of the weights' shape
        Cells to mark: a column that drives its own missing values.
    highlighted : name, optional
        A column of the weights to put into a frame.
    """
    drivers, columns = list(weights.index), list(weights.columns)
    sizes = weights.to_numpy(dtype=float)
    by_direction = np.broadcast_to(has_direction[:, None], sizes.shape) & (sizes != 0)
    by_category = np.broadcast_to(~has_direction[:, None], sizes.shape) & (sizes != 0)
    most = float(np.abs(sizes).max(initial=0.0)) or 1.0
    cells = [
        go.Heatmap(
            z=np.where(part, sizes, np.nan),
            zmin=low,
            zmax=high,
            colorscale=scale,
            reversescale=scale is WORSE_TO_BETTER,  # the more is missing, the worse
            text=_numbers(np.where(part, sizes, 0.0)),
            textfont={"size": 11, "color": _INK},
            texttemplate="%{text}",
            customdata=_hovers(drivers, columns, sizes),
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            showscale=False,
            xgap=1,
            ygap=1,
        )
        for part, low, high, scale in (
            (sizes == 0, 0.0, 1.0, _NO_WEIGHT),
            (by_direction, -most, most, WORSE_TO_BETTER),
            (by_category, 0.0, most, _BY_CATEGORY),
        )
    ]
    framed = [highlighted] if highlighted in columns else []
    bare = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {
            **bare,
            **name_ticks(columns, most=MOST_COLUMNS),
            "title": {"text": "missing in"},
            "range": [-0.5, len(columns) - 0.5],
            "tickangle": 0 if len(columns) <= _COLUMNS_WITH_NUMBERS else -90,
        },
        "yaxis": {
            **bare,
            **name_ticks(drivers, most=MOST_COLUMNS),
            "title": {"text": "driven by"},
            "range": [len(drivers) - 0.5, -0.5],
        },
        "annotations": [_weight_legend(by_category.any(), own.any())] if sizes.any() else [],
        "shapes": [
            *(
                _frame(place, row, 1, 1.5, _INK)
                for row, place in zip(*np.nonzero(own), strict=True)
            ),
            *(_frame(columns.index(name), 0, len(drivers), 2.5, NEUTRAL) for name in framed),
        ],
        "uirevision": revision,
    }
    figure = styled(go.Figure(cells, layout), height=_MAIN_HEIGHT)
    return figure.update_layout(font={"size": 12}, margin={"t": 30})


def _numbers(sizes: np.ndarray) -> list[list[str]]:
    """Return the weights as words where the cells are wide enough."""
    if sizes.shape[1] > _COLUMNS_WITH_NUMBERS:
        return [[""] * sizes.shape[1] for _ in sizes]
    return [[decimals(size) if size else "" for size in row] for row in sizes]


def _hovers(drivers: list[Any], columns: list[Any], sizes: np.ndarray) -> np.ndarray:
    hovers = [
        [f"{driver} → {column}: weight {size:.2f}" for column, size in zip(names, row, strict=True)]
        for names in [hover_names(columns)]
        for driver, row in zip(hover_names(drivers), sizes, strict=True)
    ]
    return np.array(hovers, dtype=object).reshape(sizes.shape)


def _weight_legend(with_categories: bool, with_own: bool) -> dict[str, Any]:
    """Return the legend in one line: Plotly's own is no wider than the cells, and would be high."""
    colors = {"where high": WORSE_TO_BETTER[0][1], "where low": WORSE_TO_BETTER[-1][1]}
    if with_categories:
        colors["by category"] = NEUTRAL
    words = [f'<span style="color:{color}">■</span> {name}' for name, color in colors.items()]
    return {
        "text": "  ".join([*words, *(["□ own value"] if with_own else [])]),
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 1.0,
        "y": 1.0,
        "xanchor": "right",
        "yanchor": "bottom",
    }


def _frame(place: int, row: int, n_rows: int, width: float, color: str) -> dict[str, Any]:
    """Return a frame around cells of a matrix."""
    return {
        "type": "rect",
        "x0": place - 0.5,
        "x1": place + 0.5,
        "y0": row - 0.5,
        "y1": row + n_rows - 0.5,
        "line": {"color": color, "width": width},
    }


def chances_figure(
    curves: Sequence[tuple[str, str, pd.DataFrame]], *, revision: str = "chances"
) -> go.Figure:
    """Draw the chance of being missing along several axes, side by side.

    Parameters
    ----------
    curves : sequence of (title, scale, points)
        What lies along each axis, its scale as in :func:`value_shares`, and points with ``rows``,
        ``value`` and ``chance``. The first of the rows are drawn as dots, the others as lines.
    """
    figure = make_subplots(cols=len(curves), shared_yaxes=True, horizontal_spacing=0.06)
    named: set[str] = set()
    for place, (title, scale, points) in enumerate(curves, start=1):
        labels = list(dict.fromkeys(points["value"])) if scale == "category" else []
        for number, (rows, part) in enumerate(points.groupby("rows", sort=False)):
            figure.add_trace(
                _chance_trace(part, scale, labels, number, showlegend=rows not in named),
                col=place,
                row=1,
            )
            named.add(str(rows))
        axis: dict[str, Any] = {"title": {"text": title}, "zeroline": False}
        if scale == "category":
            axis |= _category_ticks(labels)
        figure.update_xaxes(axis, col=place, row=1)
    figure.update_yaxes(tickformat=".0%", dtick=0.25, range=[-0.03, 1.03], zeroline=False)
    figure.update_yaxes(title={"text": "chance of being missing"}, col=1, row=1)
    figure.update_layout(uirevision=revision)
    figure = styled(figure, height=_MAIN_HEIGHT)
    return figure.update_layout(legend={"itemwidth": 30, "font": {"size": 11}})


def _category_ticks(labels: list[Any]) -> dict[str, Any]:
    """Return an axis for half of a narrow figure: short names, upright if there are many."""
    few = len(labels) <= 3
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": [figure_text(exact_text(label), 10) for label in labels],
        "tickangle": 0 if few else -90,
        "range": [-0.5, len(labels) - 0.5],
    }


def _chance_trace(
    points: pd.DataFrame, scale: str, labels: list[Any], number: int, *, showlegend: bool
) -> go.Scatter:
    """Return dots for the actual rows, and lines for the others, each of its own shade."""
    rows = str(points["rows"].iloc[0])
    look: dict[str, Any] = {"mode": "markers", "marker": {"color": NEUTRAL, "size": 9}}
    if number:
        color = tint(MISSING, _SHADES.get(rows, 1.0))
        look = {
            "mode": "lines+markers",
            "line": {"color": color, "width": 3},
            "marker": {"size": 4},
        }
        if scale == "category":
            look["line"]["dash"] = "dot"
            look["marker"] = {"size": 8}
    at = "%{customdata}" if scale == "category" else "%{x}"
    places = (
        [labels.index(label) for label in points["value"]]
        if scale == "category"
        else _as_axis(points["value"].to_numpy(dtype=float), scale)
    )
    return go.Scatter(
        x=places,
        y=points["chance"],
        name=rows,
        legendgroup=rows,
        showlegend=showlegend,
        customdata=hover_names([exact_text(value) for value in points["value"]])
        if scale == "category"
        else None,
        hovertemplate=f"{at}: %{{y:.1%}}<extra>{rows}</extra>",
        **look,
    )


def density_data(p_obs: np.ndarray) -> pd.DataFrame:
    """Return a smooth density of the columns' observed proportions on [0, 1].

    A Gaussian kernel with Scott's width, limited to 0.03 to 0.1; mass beyond [0, 1] is reflected,
    so that the area is 1.
    """
    grid = np.linspace(0.0, 1.0, 201)
    p_obs = np.asarray(p_obs, dtype=float)
    if not len(p_obs):
        return pd.DataFrame({"p_obs": grid, "density": np.zeros_like(grid)})
    width = min(max(0.03, float(p_obs.std()) * len(p_obs) ** -0.2), 0.1)
    folded = np.concatenate([p_obs, -p_obs, 2.0 - p_obs])
    heights = np.exp(-0.5 * ((grid[:, None] - folded) / width) ** 2)
    density = heights.sum(axis=1) / (len(p_obs) * width * np.sqrt(2 * np.pi))
    return pd.DataFrame({"p_obs": grid, "density": density})


def density_figure(
    density: pd.DataFrame, p_obs: pd.Series, *, revision: str = "density"
) -> go.Figure:
    """Draw the distribution of the columns' observed proportions, with a mark per column."""
    top = float(density["density"].max()) or 1.0
    traces = [
        go.Scatter(
            x=density["p_obs"],
            y=density["density"],
            mode="lines",
            name="density of columns",
            line={"color": OBSERVED, "width": 3},
            fill="tozeroy",
            fillcolor=tint(OBSERVED, 0.25),
            hoverinfo="skip",
        ),
        go.Scatter(
            x=p_obs.to_numpy(),
            y=np.full(len(p_obs), -0.06 * top),
            mode="markers",
            name="one column",
            marker={"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": NEUTRAL}},
            customdata=hover_names(list(p_obs.index)),
            hovertemplate="%{customdata}: %{x:.1%} observed<extra></extra>",
        ),
    ]
    layout = {
        "xaxis": {
            "title": {"text": "share of rows observed"},
            "tickformat": ".0%",
            "range": [-0.02, 1.02],
        },
        "yaxis": {
            "title": {"text": "density of columns"},
            "showticklabels": False,
            "zeroline": False,
        },
        "uirevision": revision,
    }
    return styled(go.Figure(traces, layout), height=340)
