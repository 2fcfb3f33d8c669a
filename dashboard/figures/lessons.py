"""The figure of a lesson that the documentation shows; on the page, lessons are scenes."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from pmae_core.colors import MASKED, MISSING, NEUTRAL
from pmae_core.plots.style import styled

_KINDS = {
    "missing": ("gain missing", MISSING),
    "uniform": ("uniform masking", NEUTRAL),
    "proportional": ("proportional masking", MASKED),
}


def training_cases_figure(visible: pd.DataFrame) -> go.Figure:
    """Draw how many predictors are visible, in missing cells and in training cases."""
    figure = go.Figure()
    for kind, (name, color) in _KINDS.items():
        figure.add_bar(
            x=visible["predictors"],
            y=visible[kind],
            name=name,
            marker={"color": color},
            hovertemplate=f"{name}: %{{x}} predictors visible in %{{y:.1%}}<extra></extra>",
        )
    figure.update_layout(barmode="group", showlegend=True)
    figure.update_xaxes(title={"text": "visible predictors"}, dtick=1)
    figure.update_yaxes(title={"text": "share of cases"}, tickformat=".0%", range=[0, 1.02])
    return styled(figure)
