"""What complete cases cost: rows that come back as columns are left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pmae_core.plots.labels import hover_list
from pmae_core.plots.missingness.axes import (
    SHARES,
    group_label,
    height_of,
    labels_downwards,
    share_bar,
    with_room_for_100,
)
from pmae_core.plots.style import styled
from pmae_core.words import count


def dropping_figure(steps: pd.DataFrame, n_rows: int) -> go.Figure:
    """Draw how many rows are complete as columns are left out step by step.

    Parameters
    ----------
    steps : DataFrame
        Some consecutive steps of `dropping_path`.
    n_rows : int
        Rows of the table.
    """
    complete = steps["n_complete_rows"].to_numpy()
    labels = [
        f"{'without' if place == 1 else 'and'} {group_label(left_out)}"
        if left_out
        else "all columns needed"
        for place, left_out in zip(steps.index, steps["left_out"], strict=True)
    ]
    hover = np.column_stack(
        [
            [count(int(n), "complete row") for n in complete],
            [count(int(n), "row") for n in n_rows - complete],
            [hover_list(left_out) for left_out in steps["left_out"]],
        ]
    )
    figure = go.Figure(
        [
            share_bar(
                complete / n_rows,
                "observed",
                hover,
                "%{customdata[0]} (%{x:.1%})<br>%{customdata[2]}",
                name="complete rows",
            ),
            share_bar(
                1 - complete / n_rows,
                "missing",
                hover,
                "%{customdata[1]} dropped (%{x:.1%})<br>%{customdata[2]}",
                name="dropped rows",
            ),
        ]
    )
    figure.update_layout(barmode="stack", bargap=0.3, legend={"traceorder": "normal"})
    figure.update_xaxes(title="share of rows", **SHARES)
    figure.update_yaxes(**labels_downwards(labels))
    return with_room_for_100(styled(figure, height=height_of(len(labels), 22, 100)))
