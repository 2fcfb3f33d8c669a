"""Figures of the amputation lab: missing cells, their probabilities, and the removed values."""

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


def propensity_data(propensity: pd.DataFrame, columns: Sequence[Any]) -> pd.DataFrame:
    """Return quantiles of the probability of being observed, by column."""
    quantiles = propensity[list(columns)].quantile([0.0, 0.25, 0.5, 0.75, 1.0])
    return pd.DataFrame(
        {
            "column": [str(name) for name in columns],
            "lowest": quantiles.iloc[0].to_numpy(),
            "lower_quarter": quantiles.iloc[1].to_numpy(),
            "median": quantiles.iloc[2].to_numpy(),
            "upper_quarter": quantiles.iloc[3].to_numpy(),
            "highest": quantiles.iloc[4].to_numpy(),
        }
    )


def propensity_figure(chances: pd.DataFrame, *, revision: str = "propensity") -> go.Figure:
    """Draw the probability of being observed in each column: median, middle half and range."""
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
            ("middle half", "lower_quarter", "upper_quarter", 8),
        )
    ]
    middle = go.Scatter(
        x=shown["median"],
        y=places,
        mode="markers",
        name="median",
        marker={"color": OBSERVED, "size": 13, "line": {"color": "white", "width": 2}},
        text=hover_names(list(shown["column"])),
        customdata=shown[["lowest", "highest"]].to_numpy(),
        hovertemplate="%{text}: %{customdata[0]:.0%} to %{customdata[1]:.0%}, median %{x:.0%}"
        "<extra></extra>",
    )
    layout = {
        "xaxis": {
            "title": {"text": "probability of being observed"},
            "tickformat": ".0%",
            "range": [-0.02, 1.02],
        },
        "yaxis": {"autorange": "reversed", **name_ticks(list(shown["column"]), most=MOST_COLUMNS)},
        "uirevision": revision,
    }
    return styled(go.Figure([*strokes, middle], layout), height=110 + 24 * max(len(shown), 3))


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
    edges = _bin_edges(values)
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


def _bin_edges(values: np.ndarray) -> np.ndarray:
    """Return the edges of at most 24 bins: one per value where there are few values."""
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
            "category": [str(label) for label in shown.index],
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


def probability_data(values: np.ndarray, propensity: np.ndarray, scale: str) -> pd.DataFrame:
    """Return the mean probability of being observed, in tenths by value or by category."""
    if scale == "category":
        by_label = pd.Series(propensity).groupby(values)
        means, sizes = by_label.mean(), by_label.size()
        order = sizes.sort_values(ascending=False, kind="stable").index[:MOST_CATEGORIES]
        return pd.DataFrame(
            {"category": [str(x) for x in order], "probability": means[order].to_numpy()}
        )
    order = np.argsort(values, kind="stable")
    groups = [group for group in np.array_split(order, min(_STEPS, len(order) or 1)) if len(group)]
    return pd.DataFrame(
        {
            "value": [float(values[group].mean()) for group in groups],
            "probability": [float(propensity[group].mean()) for group in groups],
        }
    )


def probability_figure(
    data: pd.DataFrame, name: str, scale: str, *, revision: str = "probability"
) -> go.Figure:
    """Draw how the probability of being observed depends on the value itself."""
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": f"true value of {figure_text(name)}"}},
        "yaxis": {
            "title": {"text": "probability of being observed"},
            "tickformat": ".0%",
            "range": [-0.03, 1.03],
        },
        "uirevision": revision,
        "showlegend": False,
    }
    if scale == "category":
        trace = go.Scatter(
            x=np.arange(len(data)),
            y=data["probability"],
            mode="markers",
            marker={"color": OBSERVED, "size": 12},
            customdata=hover_names(list(data["category"])),
            hovertemplate="%{customdata}: %{y:.0%} observed<extra></extra>",
        )
        layout["xaxis"] |= name_ticks(list(data["category"]), most=MOST_CATEGORIES)
    else:
        trace = go.Scatter(
            x=_as_axis(data["value"].to_numpy(), scale),
            y=data["probability"],
            mode="lines+markers",
            line={"color": OBSERVED, "width": 3},
            marker={"size": 8},
            hovertemplate="around %{x}: %{y:.0%} observed<extra></extra>",
        )
    return styled(go.Figure(trace, layout), height=280)


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
