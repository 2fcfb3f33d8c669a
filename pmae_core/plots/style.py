"""How all figures look.

A figure carries the template ``pmae-light`` for exports and reports. On a page, Streamlit lays
the colors of the browser's theme over it, so that a switch between light and dark needs no new
figure: builders set the colors of data, never those of text, axes and background.
"""

from collections.abc import Mapping

import plotly.graph_objects as go
import plotly.io as pio

from pmae_core.colors import (
    DARK_BACKGROUND,
    DARK_TEXT,
    FAINT,
    IMPUTED,
    LIGHT_BACKGROUND,
    LIGHT_TEXT,
    MASKED,
    MISSING,
    NEUTRAL,
    OBSERVED,
)

LIGHT, DARK = "pmae-light", "pmae-dark"
DEFAULT_HEIGHT = 360
_FONT = '"Source Sans", "Source Sans Pro", "Segoe UI", Helvetica, Arial, sans-serif'


def _template(background: str, text: str) -> go.layout.Template:
    axis = {
        "gridcolor": FAINT,
        "linecolor": NEUTRAL,
        "zerolinecolor": FAINT,
        "ticks": "",
        "title": {"font": {"size": 14}},
    }
    return go.layout.Template(
        layout={
            "paper_bgcolor": "rgba(0, 0, 0, 0)",
            "plot_bgcolor": "rgba(0, 0, 0, 0)",
            "font": {"family": _FONT, "size": 13, "color": text},
            "colorway": [OBSERVED, MISSING, IMPUTED, MASKED, NEUTRAL],
            "hoverlabel": {"bgcolor": background, "font": {"color": text, "size": 13}},
            "xaxis": axis,
            "yaxis": axis,
        }
    )


pio.templates[LIGHT] = _template(LIGHT_BACKGROUND, LIGHT_TEXT)
pio.templates[DARK] = _template(DARK_BACKGROUND, DARK_TEXT)


def styled(figure: go.Figure, *, height: int | None = None, dark: bool = False) -> go.Figure:
    """Give a figure the look of the house, and return it.

    Margins grow with the labels, the legend lies above the plot where a narrow screen has room,
    and dragging selects nothing by accident.
    """
    figure.update_layout(
        template=DARK if dark else LIGHT,
        height=height or figure.layout.height or DEFAULT_HEIGHT,
        margin={"l": 8, "r": 12, "t": 36 if _has_legend(figure) else 12, "b": 8},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"},
        dragmode=False,
        bargap=figure.layout.bargap if figure.layout.bargap is not None else 0.25,
    )
    figure.update_xaxes(automargin=True, fixedrange=True)
    figure.update_yaxes(automargin=True, fixedrange=True)
    return figure


def on_own_ground(figure: go.Figure, *, dark: bool = False) -> go.Figure:
    """Give a styled figure a ground of its own, since a notebook may be light or dark; return it.

    On a page the ground is that of the page, see above.
    """
    ground = DARK_BACKGROUND if dark else LIGHT_BACKGROUND
    return figure.update_layout(
        template=DARK if dark else LIGHT, paper_bgcolor=ground, plot_bgcolor=ground
    )


def color_legend(colors: Mapping[str, str]) -> list[go.Scatter]:
    """Return traces that name colors, for heatmaps: they have no legend of their own."""
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=name,
            marker={"symbol": "square", "size": 12, "color": color},
            showlegend=True,
        )
        for name, color in colors.items()
    ]


def _has_legend(figure: go.Figure) -> bool:
    if figure.layout.showlegend is not None:
        return bool(figure.layout.showlegend)
    return len([trace for trace in figure.data if trace.showlegend is not False]) > 1
