"""Which columns are missing together: correlations, and a tree of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import FAINT, MISSING, NEUTRAL, OBSERVED
from pmae_core.missingness import MissingBlock, NullityTree
from pmae_core.plots.labels import hover_list
from pmae_core.plots.missingness.axes import (
    FROM_OBSERVED_TO_MISSING,
    different,
    flat_scale,
    group_label,
    height_of,
    labels_downwards,
)
from pmae_core.plots.style import styled
from pmae_core.words import decimals

_APART_OR_TOGETHER = [[0, OBSERVED], [0.5, FAINT], [1, MISSING]]
_WRITTEN_UP_TO = 10  # blocks whose correlations are written as numbers


def correlation_figure(correlation: np.ndarray, blocks: Sequence[MissingBlock]) -> go.Figure:
    """Draw which columns are missing together.

    Parameters
    ----------
    correlation : ndarray of shape (n_blocks, n_blocks)
        Of `correlate_blocks`.
    blocks : sequence of MissingBlock
        What the rows and columns of the correlations are.
    """
    values = np.array(correlation, dtype=float)
    values[np.triu_indices(len(values))] = np.nan
    ticks = [group_label(block.columns) for block in blocks]
    labels = different(ticks)
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
            colorbar=flat_scale(
                "−1: never, 1: always together", y=1.02, yanchor="bottom", tickvals=[-1, 0, 1]
            ),
            hovertemplate="%{x} and<br>%{y}: %{z:.2f}<extra></extra>",
            hoverongaps=False,
        )
    )
    if len(blocks) <= _WRITTEN_UP_TO:
        figure.add_traces(_written(values[1:, :-1], labels))
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(blocks) - 1)),
        ticktext=ticks[:-1],
        tickangle=-90,
        type="category",
        showgrid=False,
    )
    figure.update_yaxes(**labels_downwards(ticks[1:]), type="category")
    return styled(figure, height=height_of(len(blocks), 22, 240))


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
                text=[decimals(value) for value in values[rows, columns]],
                mode="text",
                textfont={"color": "white"} if strong else None,
                hoverinfo="skip",
                showlegend=False,
            )
        )
    return traces


def dendrogram_figure(tree: NullityTree, leaves: range | None = None) -> go.Figure:
    """Draw the tree of columns, leaves from top to bottom, joins to the right.

    Parameters
    ----------
    tree : NullityTree
        Of `cluster_columns`.
    leaves : range, optional
        The leaves to show, where there is no room for all: a window onto the whole tree.
    """
    leaves = range(len(tree.groups)) if leaves is None else leaves
    labels = [group_label(group, share) for group, share in _leaves(tree)]
    highest = tree.joins["height"].max()
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
                    "colorscale": FROM_OBSERVED_TO_MISSING,
                },
                customdata=np.column_stack(
                    [[hover_list(group) for group in tree.groups], tree.share_missing]
                ),
                hovertemplate="%{customdata[0]}<br>%{customdata[1]:.1%} missing<extra></extra>",
                showlegend=False,
            ),
        ]
    )
    figure.update_xaxes(
        title="share of rows that differ",
        tickformat=".1~%",
        range=[-0.02 * highest, 1.04 * highest],
    )
    window = [leaves.stop - 0.4, leaves.start - 0.6]
    figure.update_yaxes(**{**labels_downwards(labels), "range": window})
    return styled(figure, height=height_of(len(leaves), 22, 100))


def _leaves(tree: NullityTree) -> Iterable[tuple[tuple[Any, ...], float]]:
    return zip(tree.groups, tree.share_missing, strict=True)


def _branches(joins: pd.DataFrame, corners: list[str]) -> list[float | None]:
    """Return the corners of all brackets in one line with gaps, which draws fast."""
    return [
        value
        for bracket in joins[corners].itertuples(index=False)
        for value in (*map(float, bracket), None)
    ]
