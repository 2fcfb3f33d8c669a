"""Figures for notebooks, drawn by Plotly: the same as on the pages of the dashboard.

Plotly is optional: ``pip install 'pmae[plots]'``. Every function returns a Plotly figure, which a
notebook shows if it is the last line of a cell, and which you can change or save as any other. The
functions are imported when they are first used.

Examples
--------
>>> from pmae_core import load_dataset, plots
>>> figure = plots.share_missing(load_dataset("cirrhosis").frame)
>>> figure.layout.xaxis.title.text
'share of rows'
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pmae_core.errors import MissingPackageError

if find_spec("plotly") is None:
    raise MissingPackageError(
        "Figures need Plotly, which is not installed.",
        advice="Install it with: pip install 'pmae[plots]'",
    )

__all__ = [
    "imputation_spread",
    "masking_curve",
    "method_ranking",
    "missing_matrix",
    "missing_patterns",
    "missing_together",
    "observed_and_imputed",
    "share_missing",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.figures"), name)


def __dir__() -> list[str]:
    return list(__all__)
