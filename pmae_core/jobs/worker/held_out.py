"""Some held-out cells of a training, with what the model predicts for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pmae_core.storage.checksums import read_document

if TYPE_CHECKING:
    import pandas as pd

HELD_OUT_FILE = "held_out.json"
# Enough for a picture of a few columns, and some kilobytes on disk.
MOST_CELLS = 500

_WRITTEN_AS: Mapping[str, Callable[[Any], Any]] = {
    "number": lambda cell: float(f"{cell:.6g}"),
    "time": lambda cell: cell.isoformat(),
    "label": str,
}


def write_held_out(imputer: Any, frame: pd.DataFrame, seed: int, out: Path) -> None:
    """Write a sample of held-out cells: their truth and what the fitted model predicts.

    Nothing is written for a method that held no cells out.

    Parameters
    ----------
    imputer : BaseImputer
        The fitted imputer.
    frame : DataFrame
        Its table.
    seed : int
        Seed of the sample.
    out : Path
        The folder.
    """
    held_out = getattr(imputer, "held_out_", None)
    if held_out is None:
        return
    cells = held_out.cells(frame, imputer.encoder_)
    chosen = _even_sample({name: len(one) for name, one in cells.items()}, seed)
    content = {
        name: _describe(cells[name].iloc[places], len(cells[name]))
        for name, places in chosen.items()
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    (out / HELD_OUT_FILE).write_text(text + "\n", encoding="utf-8")


def read_held_out(folder: Path) -> dict[str, dict[str, Any]] | None:
    """Return the sample in the folder of a result; None if there is none, as in older results.

    Returns
    -------
    dict or None
        By column: ``kind`` ("number", "time" or "label"), ``n_cells`` held out in all, and the
        lists ``truth`` and ``predicted`` of those in the sample. Times are ISO texts.

    Raises
    ------
    DamagedFileError
        If the file is not as it was written.
    """
    try:
        return read_document(folder / HELD_OUT_FILE)
    except FileNotFoundError:
        return None


def _even_sample(counts: Mapping[str, int], seed: int) -> dict[str, np.ndarray]:
    """Return which cells of each column to take, so that rare columns are not left out."""
    rng = np.random.default_rng(seed)
    orders = {name: rng.permutation(count) for name, count in counts.items()}
    ranks = np.sort(np.concatenate([np.arange(count) for count in counts.values()]))
    most = len(ranks) if len(ranks) <= MOST_CELLS else max(1, int(ranks[MOST_CELLS]))
    return {name: order[:most] for name, order in list(orders.items())[:MOST_CELLS]}


def _describe(cells: pd.DataFrame, n_cells: int) -> dict[str, Any]:
    """Return cells as JSON-able data."""
    from pandas.api import types

    dtype = cells["predicted"].dtype
    if types.is_datetime64_any_dtype(dtype):
        kind = "time"
    elif types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        kind = "number"
    else:
        kind = "label"
    write = _WRITTEN_AS[kind]
    lists = {name: [write(cell) for cell in cells[name]] for name in ("truth", "predicted")}
    return {"kind": kind, "n_cells": n_cells, **lists}
