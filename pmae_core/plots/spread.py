"""How much imputed cells vary between imputations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import FAINT, IMPUTED, MASKED, MISSING, NEUTRAL, OBSERVED, tint
from pmae_core.errors import TableError
from pmae_core.explain.cell_details import QUANTILES, spread_of_cell
from pmae_core.plots.labels import figure_text, hover_names
from pmae_core.plots.style import styled
from pmae_core.table.cells import cell_kind
from pmae_core.words import cell_text

_LOWEST, _LOW, _MEDIAN, _HIGH, _HIGHEST = QUANTILES
# Categories with a color of their own; all others share a gray part.
_CATEGORY_COLORS = (IMPUTED, OBSERVED, MASKED, MISSING)
_OTHERS = "all others"


def spread_data(observed: pd.Series, imputations: Sequence[pd.Series]) -> pd.DataFrame:
    """Return how each missing cell of a column is distributed over imputations.

    Parameters
    ----------
    observed : Series
        The column with its missing values.
    imputations : sequence of Series
        The same column, imputed several times.

    Returns
    -------
    DataFrame
        One row per missing cell, by the label of its row, the lowest first. For numbers and dates
        a column per quantile (0.05 to 0.95); for categories the share of imputations per category,
        the most frequent category first.

    Examples
    --------
    >>> drawn = [pd.Series([1.0, 2.0]), pd.Series([1.0, 4.0])]
    >>> spread_data(pd.Series([1.0, None]), drawn)[[0.05, 0.95]].to_numpy().tolist()
    [[2.0, 4.0]]
    """
    missing = observed.isna().to_numpy()
    if not missing.any():
        raise TableError(f"Column {observed.name!r} has no missing values that could vary.")
    if not imputations or any(not one.index.equals(observed.index) for one in imputations):
        raise TableError(
            "The spread needs one or more imputations with the same rows as the table.",
            advice="Pass what sample(table, n=20) returns.",
        )
    kind = cell_kind(observed)
    drawn = zip(*(one.loc[missing] for one in imputations), strict=True)
    spreads = [spread_of_cell([v for v in cell if not pd.isna(v)], kind) for cell in drawn]
    rows: list[dict[Any, Any]] = [one.quantiles or one.shares for one in spreads if one]
    if not rows:
        raise TableError(f"The imputations have no values for column {observed.name!r}.")
    data = pd.DataFrame(rows, index=observed.index[missing][[one is not None for one in spreads]])
    if _is_ordered(data):
        return data.iloc[np.argsort(data[_MEDIAN].to_numpy(), kind="stable")]
    data = data.fillna(0.0)
    order = data.sum().sort_values(ascending=False, kind="stable").index
    return data[order].sort_values(order[0], ascending=False, kind="stable")


def _is_ordered(data: pd.DataFrame) -> bool:
    return data.columns.equals(pd.Index(QUANTILES))


def spread_figure(data: pd.DataFrame, observed: pd.Series, *, most: int) -> go.Figure:
    """Draw imputed cells side by side, each with its spread between imputations.

    Parameters
    ----------
    data : DataFrame
        Of :func:`spread_data`.
    observed : Series
        The column with its missing values, whose middle 90% is drawn behind numbers and dates.
    most : int
        Cells at most, chosen evenly.
    """
    places = np.unique(np.linspace(0, len(data) - 1, min(most, len(data))).round().astype(int))
    shown = data.iloc[places]
    traces = _intervals(shown, observed) if _is_ordered(data) else _shares(shown)
    figure = go.Figure(traces)
    of = "" if len(shown) == len(data) else f" ({len(shown):,} of {len(data):,})"
    figure.update_xaxes(
        title=f"imputed cells{of}", showticklabels=False, showgrid=False, zeroline=False
    )
    if _is_ordered(data):
        figure.update_yaxes(title=figure_text(_axis_title(observed)), zeroline=False)
    else:
        figure.update_yaxes(title="share of imputations", tickformat=".0%", range=[0, 1])
        figure.update_layout(barmode="stack", bargap=0, legend={"traceorder": "normal"})
    figure.update_layout(showlegend=True)
    return styled(figure)


def _axis_title(observed: pd.Series) -> str:
    is_span = pd.api.types.is_timedelta64_dtype(observed)
    return f"{observed.name}, in seconds" if is_span else str(observed.name)


def _intervals(shown: pd.DataFrame, observed: pd.Series) -> list[go.Scatter]:
    """Return lines for 90% and half of the imputations, the medians, and the observed values."""
    names = hover_names([f"row {label}" for label in shown.index])
    words = np.column_stack(
        [names, *(shown[q].map(cell_text) for q in (_MEDIAN, _LOWEST, _HIGHEST))]
    )
    medians = go.Scatter(
        x=np.arange(len(shown)),
        y=[_on_axis(value) for value in shown[_MEDIAN]],
        mode="markers",
        name="median",
        marker={"size": 6, "color": IMPUTED, "line": {"width": 1, "color": "white"}},
        customdata=words,
        hovertemplate="%{customdata[0]}: %{customdata[1]} (%{customdata[2]} to %{customdata[3]})"
        "<extra></extra>",
    )
    return [
        _observed_band(observed, len(shown)),
        _lines(shown, _LOWEST, _HIGHEST, width=2, name="90% of the imputations"),
        _lines(shown, _LOW, _HIGH, width=6, name="50% of the imputations"),
        medians,
    ]


def _lines(shown: pd.DataFrame, low: float, high: float, *, width: int, name: str) -> go.Scatter:
    """Return an upright line per cell, all as one trace: it breaks at each None."""
    x: list[Any] = []
    y: list[Any] = []
    for place, (start, end) in enumerate(zip(shown[low], shown[high], strict=True)):
        x += [place, place, None]
        y += [_on_axis(start), _on_axis(end), None]
    line = {"color": tint(IMPUTED, 0.6), "width": width}
    return go.Scatter(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip")


def _observed_band(observed: pd.Series, n_cells: int) -> go.Scatter:
    low, high = (
        _on_axis(value) for value in observed.dropna().quantile([_LOWEST, _HIGHEST]).tolist()
    )
    return go.Scatter(
        x=[-0.5, n_cells - 0.5, n_cells - 0.5, -0.5],
        y=[low, low, high, high],
        mode="lines",
        name="90% of the observed values",
        line={"width": 0},
        fill="toself",
        fillcolor=FAINT,
        hoverinfo="skip",
    )


def _on_axis(value: Any) -> Any:
    return value.total_seconds() if isinstance(value, pd.Timedelta) else value


def _shares(shown: pd.DataFrame) -> list[go.Bar]:
    """Return a stack per cell: the share of the imputations that have each category."""
    has_color = shown.iloc[:, : len(_CATEGORY_COLORS)]
    parts = [
        (figure_text(cell_text(name)), shares, color)
        for (name, shares), color in zip(has_color.items(), _CATEGORY_COLORS, strict=False)
    ]
    if shown.shape[1] > has_color.shape[1]:
        rest = shown.iloc[:, len(_CATEGORY_COLORS) :].sum(axis=1)
        parts.append((_OTHERS, rest, NEUTRAL))
    names = hover_names([f"row {label}" for label in shown.index])
    return [
        go.Bar(
            x=np.arange(len(shown)),
            y=shares,
            name=name,
            marker={"color": color, "line": {"width": 0}},
            customdata=names,
            hovertemplate=f"%{{customdata}}: {name} in %{{y:.0%}} of the imputations"
            "<extra></extra>",
        )
        for name, shares, color in parts
    ]
