"""Figures of the amputation lab: the holes, the chances, and the truths that were lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.figures.labels import hover_names, name_ticks
from dashboard.figures.shares import shares_figure
from dashboard.figures.style import color_legend, styled
from dashboard.shell.theme import MISSING, NEUTRAL, OBSERVED, tint
from dashboard.text import figure_text

PICTURE_ROWS = 120
MOST_COLUMNS = 40
MOST_CATEGORIES = 12
_BINS = 24
_STEPS = 10


@dataclass(frozen=True)
class HolePicture:
    """Rows of a table in bands, and how much of each band is missing.

    Attributes
    ----------
    columns : list of str
        In the order drawn.
    share_missing : float array of shape (bands, columns)
        0 where all cells of a band are there, 1 where none is.
    rows_per_band : float
        1 where every row is drawn by itself.
    """

    columns: list[str]
    share_missing: np.ndarray
    rows_per_band: float


def hole_picture(missing: pd.DataFrame, *, ordered: bool = True) -> HolePicture:
    """Bring the missing cells of any number of rows into at most 120 bands.

    Parameters
    ----------
    missing : DataFrame of bool
        True where a cell is missing.
    ordered : bool, default True
        Columns with most holes to the right, rows with most holes to the bottom, so that a
        staircase shows where there is one. Otherwise the table's own order.
    """
    cells = missing.to_numpy(dtype=bool)
    names = [str(name) for name in missing.columns]
    if ordered:
        by_column = np.argsort(cells.sum(axis=0), kind="stable")
        cells = cells[:, by_column]
        names = [names[j] for j in by_column]
        # Rows alike lie together: by their number of holes, then by their pattern.
        cells = cells[np.lexsort((*cells.T[::-1], cells.sum(axis=1)))] if cells.size else cells
    n_bands = min(PICTURE_ROWS, len(cells))
    edges = np.linspace(0, len(cells), n_bands + 1).astype(int)
    bands = np.array([cells[a:b].mean(axis=0) for a, b in pairwise(edges)])
    return HolePicture(
        columns=names,
        share_missing=bands.reshape(n_bands, len(names)),
        rows_per_band=len(cells) / n_bands if n_bands else 0.0,
    )


def holes_figure(picture: HolePicture, *, revision: str = "holes") -> go.Figure:
    """Draw where the holes are: blue cells are left, vermilion ones were removed."""
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
        hovertemplate="%{text}: %{z:.0%} of these rows missing<extra></extra>",
    )
    legend = color_legend({"left": OBSERVED, "removed": MISSING})
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
    return styled(go.Figure([cells, *legend], layout), height=420)


def propensity_data(propensity: pd.DataFrame, columns: Sequence[Any]) -> pd.DataFrame:
    """Return quantiles of the cells' chances to stay, column by column."""
    quantiles = propensity[list(columns)].quantile([0.0, 0.25, 0.5, 0.75, 1.0])
    return pd.DataFrame(
        {
            "column": [str(name) for name in columns],
            "lowest": quantiles.iloc[0].to_numpy(),
            "lower_quarter": quantiles.iloc[1].to_numpy(),
            "middle": quantiles.iloc[2].to_numpy(),
            "upper_quarter": quantiles.iloc[3].to_numpy(),
            "highest": quantiles.iloc[4].to_numpy(),
        }
    )


def propensity_figure(chances: pd.DataFrame, *, revision: str = "propensity") -> go.Figure:
    """Draw how likely the cells of each column were to stay: dot, middle half, whole range."""
    shown = chances.head(MOST_COLUMNS)
    places = np.arange(len(shown))
    strokes = [
        go.Scatter(
            x=_with_gaps(shown[low], shown[high]),
            y=_with_gaps(places, places),
            mode="lines",
            name=name,
            line={"color": OBSERVED, "width": width},
            hoverinfo="skip",
        )
        for name, low, high, width in (
            ("all rows", "lowest", "highest", 2),
            ("middle half of the rows", "lower_quarter", "upper_quarter", 8),
        )
    ]
    middle = go.Scatter(
        x=shown["middle"],
        y=places,
        mode="markers",
        name="middle row",
        marker={"color": OBSERVED, "size": 13, "line": {"color": "white", "width": 2}},
        text=hover_names(list(shown["column"])),
        customdata=shown[["lowest", "highest"]].to_numpy(),
        hovertemplate="%{text}: %{customdata[0]:.0%} to %{customdata[1]:.0%}, middle %{x:.0%}"
        "<extra></extra>",
    )
    layout = {
        "xaxis": {
            "title": {"text": "chance of a cell to stay"},
            "tickformat": ".0%",
            "range": [-0.02, 1.02],
        },
        "yaxis": {"autorange": "reversed", **name_ticks(list(shown["column"]), most=MOST_COLUMNS)},
        "uirevision": revision,
    }
    return styled(go.Figure([*strokes, middle], layout), height=110 + 24 * max(len(shown), 3))


def _with_gaps(starts: Any, ends: Any) -> np.ndarray:
    """Return start, end, gap, start, end, gap, ... so that one line draws many strokes."""
    gap = np.full(len(starts), np.nan)
    return np.column_stack([starts, ends, gap]).astype(float).ravel()


def truth_data(values: np.ndarray, missing: np.ndarray, scale: str) -> pd.DataFrame:
    """Return the distributions of the truths that are left and of those that are lost.

    Parameters
    ----------
    values : array
        Known truths: floats for the scales "number" and "time" (days since 1970), else labels.
    missing : bool array
        Which of them were removed.
    scale : {"number", "time", "category"}
        What the values are.

    Returns
    -------
    DataFrame
        One row a bin (left edge, right edge) or a category, with the shares of both groups. Of
        many categories the most frequent are kept and the rest joined.
    """
    if scale == "category":
        return _category_shares(values, missing)
    edges = _bin_edges(values)
    left, _ = np.histogram(values[~missing], edges)
    lost, _ = np.histogram(values[missing], edges)
    return pd.DataFrame(
        {
            "from": edges[:-1],
            "to": edges[1:],
            "left": left / max(left.sum(), 1),
            "lost": lost / max(lost.sum(), 1),
        }
    )


def _bin_edges(values: np.ndarray) -> np.ndarray:
    """Return edges of at most 24 bins: one for each value where values are few."""
    distinct = np.unique(values)
    if len(distinct) == 0:
        return np.array([0.0, 1.0])
    if len(distinct) == 1:
        reach = max(abs(distinct[0]) * 0.01, 0.5)
        return np.array([distinct[0] - reach, distinct[0] + reach])
    if len(distinct) > _BINS:
        return np.linspace(distinct[0], distinct[-1], _BINS + 1)
    middles = (distinct[1:] + distinct[:-1]) / 2
    first, last = 2 * distinct[0] - middles[0], 2 * distinct[-1] - middles[-1]
    return np.concatenate([[first], middles, [last]])


def _category_shares(values: np.ndarray, missing: np.ndarray) -> pd.DataFrame:
    counts = pd.DataFrame({"label": values, "lost": missing}).groupby(["label", "lost"]).size()
    counts = counts.unstack(fill_value=0).reindex(columns=[False, True], fill_value=0)
    counts = counts.loc[counts.sum(axis=1).sort_values(ascending=False, kind="stable").index]
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    shown = shares.head(MOST_CATEGORIES)
    rest = shares.iloc[MOST_CATEGORIES:]
    data = pd.DataFrame(
        {
            "category": [str(label) for label in shown.index],
            "left": shown[False].to_numpy(),
            "lost": shown[True].to_numpy(),
        }
    )
    if len(rest):
        joined = {
            "category": f"{len(rest)} others",
            "left": rest[False].sum(),
            "lost": rest[True].sum(),
        }
        data = pd.concat([data, pd.DataFrame([joined])], ignore_index=True)
    return data


def truths_figure(
    data: pd.DataFrame, name: str, scale: str, *, revision: str = "truths"
) -> go.Figure:
    """Draw the truths that are left beside the truths that are lost, each group as shares."""
    edges = None
    if scale != "category":
        edges = _as_axis(np.append(data["from"], data["to"].iloc[-1:]), scale)
    return shares_figure(
        data,
        (("left", "left", OBSERVED), ("lost", "lost (true values)", MISSING)),
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


def chance_data(values: np.ndarray, propensity: np.ndarray, scale: str) -> pd.DataFrame:
    """Return the mean chance to stay in ten groups of equal size by value, or by category."""
    if scale == "category":
        by_label = pd.Series(propensity).groupby(values)
        means, sizes = by_label.mean(), by_label.size()
        order = sizes.sort_values(ascending=False, kind="stable").index[:MOST_CATEGORIES]
        return pd.DataFrame(
            {"category": [str(x) for x in order], "chance": means[order].to_numpy()}
        )
    order = np.argsort(values, kind="stable")
    groups = [group for group in np.array_split(order, min(_STEPS, len(order) or 1)) if len(group)]
    return pd.DataFrame(
        {
            "value": [float(values[group].mean()) for group in groups],
            "chance": [float(propensity[group].mean()) for group in groups],
        }
    )


def chance_figure(
    data: pd.DataFrame, name: str, scale: str, *, revision: str = "chance"
) -> go.Figure:
    """Draw how the chance of a cell to stay depends on its own value."""
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": f"true value of {figure_text(name)}"}},
        "yaxis": {
            "title": {"text": "chance to stay"},
            "tickformat": ".0%",
            "range": [-0.03, 1.03],
        },
        "uirevision": revision,
        "showlegend": False,
    }
    if scale == "category":
        trace = go.Scatter(
            x=np.arange(len(data)),
            y=data["chance"],
            mode="markers",
            marker={"color": OBSERVED, "size": 12},
            customdata=hover_names(list(data["category"])),
            hovertemplate="%{customdata}: %{y:.0%} stay<extra></extra>",
        )
        layout["xaxis"] |= name_ticks(list(data["category"]), most=MOST_CATEGORIES)
    else:
        trace = go.Scatter(
            x=_as_axis(data["value"].to_numpy(), scale),
            y=data["chance"],
            mode="lines+markers",
            line={"color": OBSERVED, "width": 3},
            marker={"size": 8},
            hovertemplate="around %{x}: %{y:.0%} stay<extra></extra>",
        )
    return styled(go.Figure(trace, layout), height=340)


def density_data(p_obs: np.ndarray) -> pd.DataFrame:
    """Return a smooth density of the columns' observed proportions on [0, 1].

    A Gaussian kernel with Scott's width, between 0.03 and 0.1; what it would put outside of
    [0, 1] is folded back, so that the area is 1.
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
    """Draw how the observed proportions of the columns are spread, with a stroke a column."""
    top = float(density["density"].max()) or 1.0
    traces = [
        go.Scatter(
            x=density["p_obs"],
            y=density["density"],
            mode="lines",
            name="density of the columns",
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
