"""The four pictures of the library missingno, as files."""

from __future__ import annotations

import io
import threading
import warnings
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.missingness import MissingPatterns

VIEWS = ("matrix", "bar", "heatmap", "dendrogram")
MAX_ROWS = 10_000
MAX_COLUMNS = 100
_LONGEST_NAME = 40

# Matplotlib's state is one for the whole server; two readers must not draw at once.
_drawing = threading.Lock()


def available_views(patterns: MissingPatterns) -> dict[str, str]:
    """Return the views that can be drawn of a table, and which part of it each shows, if not all.

    A heatmap needs two columns with observed and missing cells, a dendrogram two columns.
    """
    n_rows, n_columns = patterns.n_rows, len(patterns.columns)
    rows = f"{MAX_ROWS:,} of {n_rows:,} rows, chosen at random" if n_rows > MAX_ROWS else ""
    columns = (
        f"the {MAX_COLUMNS} of {n_columns:,} columns with most missing values"
        if n_columns > MAX_COLUMNS
        else ""
    )
    part = ", ".join(filter(None, [rows, columns]))
    views = {"matrix": part, "bar": columns}
    if patterns.partly_missing.sum() > 1:
        views["heatmap"] = part
    if n_columns > 1:
        views["dendrogram"] = part
    return views


def missingno_picture(missing: pd.DataFrame, view: str, kind: str) -> bytes:
    """Draw one of missingno's pictures.

    Parameters
    ----------
    missing : bool DataFrame
        True where a cell is missing. Of many rows some are chosen at random (except for the bar
        chart), of many columns those with most missing values.
    view : {"matrix", "bar", "heatmap", "dendrogram"}
        Which picture.
    kind : {"png", "svg"}
        The format.
    """
    if view not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, not {view!r}.")
    table = _drawable(missing, all_rows=view == "bar")
    # Imported late: it brings matplotlib and seaborn, which no page needs to open.
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import missingno

    with _drawing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plt.close("all")
        try:
            getattr(missingno, view)(table)
            file = io.BytesIO()
            plt.gcf().savefig(file, format=kind, dpi=80, bbox_inches="tight")
        finally:
            plt.close("all")
    return file.getvalue()


def _drawable(missing: pd.DataFrame, *, all_rows: bool) -> pd.DataFrame:
    """Return a small enough table with these cells missing, its names not read as formulas."""
    if len(missing) > MAX_ROWS and not all_rows:
        rng = np.random.default_rng(0)
        missing = missing.iloc[np.sort(rng.choice(len(missing), MAX_ROWS, replace=False))]
    if missing.shape[1] > MAX_COLUMNS:
        emptiest = np.argsort(-missing.to_numpy().mean(axis=0), kind="stable")[:MAX_COLUMNS]
        missing = missing.iloc[:, np.sort(emptiest)]
    cells = np.where(missing.to_numpy(), np.nan, 1.0).astype(np.float32)
    return pd.DataFrame(cells, columns=[_label(name) for name in missing.columns])


def _label(name: Any) -> str:
    text = " ".join(str(name).split())
    short = text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
    return short.replace("$", r"\$")
