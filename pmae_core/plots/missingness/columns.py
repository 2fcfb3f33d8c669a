"""How much of each column is missing, and where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import MISSING, OBSERVED
from pmae_core.missingness import MissingBlock, NullityMatrix
from pmae_core.plots.labels import hover_list
from pmae_core.plots.missingness.axes import (
    FROM_OBSERVED_TO_MISSING,
    SHARES,
    different,
    group_label,
    height_of,
    labels_downwards,
    share_bar,
    with_room_for_100,
)
from pmae_core.plots.style import color_legend, styled
from pmae_core.words import count


def columns_figure(blocks: Sequence[MissingBlock]) -> go.Figure:
    """Draw the observed and missing share of columns as bars, one per block, in the order given."""
    missing = np.array([block.share_missing for block in blocks])
    hover = np.column_stack(
        [
            [hover_list(block.columns) for block in blocks],
            [count(block.n_missing, "missing cell") for block in blocks],
        ]
    )
    figure = go.Figure(
        [
            share_bar(1 - missing, "observed", hover, "%{x:.1%} observed<br>%{customdata[0]}"),
            share_bar(
                missing,
                "missing",
                hover,
                "%{x:.1%} missing (%{customdata[1]})<br>%{customdata[0]}",
            ),
        ]
    )
    figure.update_layout(barmode="stack", bargap=0.3, legend={"traceorder": "normal"})
    figure.update_xaxes(title="share of rows", **SHARES)
    figure.update_yaxes(**labels_downwards(_labels(blocks)))
    return with_room_for_100(styled(figure, height=height_of(len(blocks), 21, 100)))


def matrix_figure(matrix: NullityMatrix, blocks: Sequence[MissingBlock]) -> go.Figure:
    """Draw the table on its side: a line per block of columns, its rows from left to right.

    Parameters
    ----------
    matrix : NullityMatrix
        Of `bin_nullity`.
    blocks : sequence of MissingBlock
        What to draw, from top to bottom.
    """
    rows = _row_names(matrix)
    figure = go.Figure(color_legend({"observed": OBSERVED, "missing": MISSING}))
    figure.add_trace(
        go.Heatmap(
            z=np.stack([_share_of(matrix, block) for block in blocks]),
            x=rows,
            y=different(hover_list(block.columns) for block in blocks),
            zmin=0,
            zmax=1,
            colorscale=FROM_OBSERVED_TO_MISSING,
            ygap=2,
            showscale=False,
            hovertemplate="%{x}: %{z:.0%} missing<br>%{y}<extra></extra>",
        )
    )
    step = max(1, len(rows) // 5)
    figure.update_xaxes(
        title="rows of the table" if matrix.order == "table" else "rows, sorted by pattern",
        type="category",
        tickmode="array",
        tickvals=list(range(0, len(rows), step)),
        ticktext=[f"{first:,}" for first in matrix.first_row[::step]],
        tickangle=0,
        showgrid=False,
    )
    figure.update_yaxes(**labels_downwards(_labels(blocks)), type="category")
    return styled(figure, height=height_of(len(blocks), 20, 100))


def _labels(blocks: Sequence[MissingBlock]) -> list[str]:
    return [group_label(block.columns, block.share_missing) for block in blocks]


def _share_of(matrix: NullityMatrix, block: MissingBlock) -> np.ndarray:
    places = matrix.columns.get_indexer(pd.Index(list(block.columns), dtype=object))
    return np.asarray(matrix.share_missing[:, places].mean(axis=1))


def _row_names(matrix: NullityMatrix) -> list[str]:
    return [
        f"row {first:,}" if first == last else f"rows {first:,} to {last:,}"
        for first, last in zip(matrix.first_row, matrix.last_row, strict=True)
    ]
