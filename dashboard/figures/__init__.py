"""Figure builders: data in, figure out."""

from dashboard.figures.missingness import share_missing_figure

__all__ = ["share_missing_figure"]
