"""Names of columns and categories on the axes and in the hovers of figures."""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from pmae_core.words import shorten

# Cells of a heatmap with words in them: the colors of observed and missing, half mixed with white.
# Plotly sets black or white words by the color of a cell, but takes what is transparent for
# white, and writes black on black in the dark.
_HIGH, _LOW, _BETWEEN = "#8CC0DC", "#ECB78C", "#DCE0E8"
LOW_TO_HIGH = [(0, _BETWEEN), (1, _HIGH)]
WORSE_TO_BETTER = [(0, _LOW), (0.5, _BETWEEN), (1, _HIGH)]

_LONGEST_TICK = 18
_LONGEST_HOVER = 60


def figure_text(text: object, longest: int = 28) -> str:
    """Return a name for labels and hovers of a figure: Plotly would read a little HTML in it.

    Examples
    --------
    >>> figure_text("<b>age</b>")
    '&lt;b&gt;age&lt;/b&gt;'
    """
    return html.escape(shorten(text, longest), quote=False)


def name_ticks(names: Sequence[object], *, most: int) -> dict[str, Any]:
    """Return axis settings that write names at 0, 1, 2, ...: at most `most`, evenly thinned.

    Places are numbers, so that names that look alike when shortened stay apart.
    """
    step = max(1, -(-len(names) // most))
    places = list(range(0, len(names), step))
    return {
        "tickmode": "array",
        "tickvals": places,
        "ticktext": [figure_text(names[place], _LONGEST_TICK) for place in places],
    }


def hover_names(names: Sequence[object]) -> np.ndarray:
    """Return names for hovers."""
    return np.array([figure_text(name, _LONGEST_HOVER) for name in names], dtype=object)


def hover_list(names: Sequence[object], most: int = 8) -> str:
    """Return several names for one hover, one below the other."""
    shown = [*hover_names(names[:most])]
    if len(names) > most:
        shown.append(f"and {len(names) - most:,} more")
    return "<br>".join(shown)
