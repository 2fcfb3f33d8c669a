"""Figures of what is missing in a table."""

import pandas as pd
import plotly.graph_objects as go

MISSING_COLOUR = "#d55e00"  # of the Okabe-Ito palette, which colour-blind readers can tell apart


def share_missing_figure(frame: pd.DataFrame) -> go.Figure:
    """Draw the share of missing cells of each column as horizontal bars, first column on top."""
    share = frame.isna().mean()
    bars = go.Bar(
        x=share.to_numpy(),
        y=[str(name) for name in share.index],
        orientation="h",
        marker_color=MISSING_COLOUR,
        hovertemplate="%{y}: %{x:.1%} missing<extra></extra>",
    )
    figure = go.Figure(bars)
    figure.update_xaxes(title="share of rows missing", tickformat=".2~%", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(margin={"l": 0, "r": 0, "t": 10, "b": 0}, height=60 + 32 * len(share))
    return figure
