"""Figures of what is missing in a table. All take what ``pmae_core.missingness`` returns."""

from pmae_core.plots.missingness.axes import group_label
from pmae_core.plots.missingness.columns import columns_figure, matrix_figure
from pmae_core.plots.missingness.complete_cases import dropping_figure
from pmae_core.plots.missingness.effects import (
    differences_figure,
    distribution_figure,
    shifts_figure,
)
from pmae_core.plots.missingness.patterns import flux_figure, pattern_lines, patterns_figure
from pmae_core.plots.missingness.together import correlation_figure, dendrogram_figure

__all__ = [
    "columns_figure",
    "correlation_figure",
    "dendrogram_figure",
    "differences_figure",
    "distribution_figure",
    "dropping_figure",
    "flux_figure",
    "group_label",
    "matrix_figure",
    "pattern_lines",
    "patterns_figure",
    "shifts_figure",
]
