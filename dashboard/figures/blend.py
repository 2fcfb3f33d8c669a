"""Figures of a blend: the share of each member."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.plots.labels import hover_names, name_ticks
from pmae_core.plots.style import styled

# The members as readers know them, in the order of a bar. Not the colors of cells, which have a
# meaning of their own; the palette is that of Okabe and Ito, too.
MEMBERS: Mapping[str, tuple[str, str]] = {
    "trees": ("trees", "#56B4E9"),
    "network": ("network", "#E69F00"),
    "gaussian-ranks": ("Gaussian of ranks", "#6B7280"),
    "gaussian-own-scale": ("Gaussian of values", "#A9AFBB"),
}
MOST_COLUMNS = 30
_ROW, _AROUND = 22, 90


def shares_by_column(shares: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return how much members count: one row per column, one column per member, as drawn."""
    frame = pd.DataFrame.from_dict(dict(shares), orient="index").fillna(0.0)
    known = [member for member in MEMBERS if member in frame]
    return frame[known + [member for member in frame if member not in known]]


def columns_to_draw(shares: pd.DataFrame, n_missing: pd.Series) -> pd.DataFrame:
    """Return the columns to draw: of a wide table those with the most missing cells."""
    missing = n_missing.reindex(shares.index).fillna(0)
    order = np.argsort(-missing.to_numpy(), kind="stable")
    return shares.iloc[np.sort(order[:MOST_COLUMNS])]


def member_shares_figure(shares: pd.DataFrame, *, revision: str = "members") -> go.Figure:
    """Draw how much each member counts in each column, as one stacked bar per column.

    Parameters
    ----------
    shares : DataFrame
        Of :func:`shares_by_column`; each row adds up to 1. The column in which the first member
        counts most is on top.
    """
    ordered = shares.sort_values(list(shares.columns[:1]), ascending=False, kind="stable")
    names = hover_names(list(ordered.index))
    figure = go.Figure()
    for member in ordered:
        title, color = MEMBERS.get(member, (str(member), None))
        figure.add_bar(
            x=ordered[member],
            y=np.arange(len(ordered)),
            orientation="h",
            name=title,
            marker={"color": color},
            customdata=names,
            hovertemplate=f"%{{customdata}}: %{{x:.0%}}<extra>{title}</extra>",
        )
    figure.update_layout(
        barmode="stack",
        bargap=0.2,
        xaxis={
            "title": {"text": "share in the imputed value"},
            "tickformat": ".0%",
            "range": [0, 1],
        },
        yaxis={**name_ticks(list(ordered.index), most=MOST_COLUMNS), "autorange": "reversed"},
        legend={"traceorder": "normal"},
        uirevision=revision,
    )
    return styled(figure, height=_AROUND + _ROW * len(ordered))
