"""What a method gains over the mean in each held-out cell: what verdicts on a column rest on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.evaluation.metrics import NUMBERS, comparable_numbers, scored_cells
from pmae_core.table.schema import Schema

FloatArray = npt.NDArray[np.float64]

# Enough to tell methods apart, and few enough to be kept with the result: per task and column.
MAX_CELLS = 10_000
MIN_CELLS_PER_COLUMN = 100


def cell_gains(
    truth: pd.DataFrame,
    imputed: pd.DataFrame,
    by_mean: pd.DataFrame,
    missing: pd.DataFrame,
    schema: Schema,
    *,
    seed: int,
) -> dict[str, dict[str, list[Any]]]:
    """Return by how much a method errs less than the mean in each held-out cell.

    Parameters
    ----------
    truth, imputed, by_mean : DataFrame
        The true table, the one that the method imputed, and the one of the mean or mode.
    missing : DataFrame of bool
        True where a cell was held out.
    schema : Schema
        Roles of the columns.
    seed : int
        Of many cells some are drawn: the same for every method with the same seed.

    Returns
    -------
    dict of str to dict
        For each column the ``row`` of each cell (its position) and the ``gain``: the error of the
        mean less that of the method, as a share of the mean's mean error, so that the mean of the
        gains is the skill. Errors are squared for numbers, dates and ranks of
        levels, 0 or 1 for categories.
    """
    cells, _ = scored_cells(truth, missing, schema)
    most = max(MIN_CELLS_PER_COLUMN, MAX_CELLS // max(len(cells), 1))
    rng = np.random.default_rng(seed)
    found: dict[str, dict[str, list[Any]]] = {}
    for name, scored in cells.items():
        rows = np.flatnonzero(scored)
        of_mean, of_method = (
            _errors(truth[name].iloc[rows], table[name].iloc[rows], schema)
            for table in (by_mean, imputed)
        )
        gains = (of_mean - of_method) / (of_mean.mean() or 1.0)
        if len(rows) > most:
            drawn = np.sort(rng.choice(len(rows), size=most, replace=False))
            rows, gains = rows[drawn], gains[drawn]
        found[str(name)] = {"row": rows.tolist(), "gain": [float(f"{g:.6g}") for g in gains]}
    return found


def _errors(truth: pd.Series, imputed: pd.Series, schema: Schema) -> FloatArray:
    """Return the squared error of each cell, or 1 where a category is wrong."""
    if schema.role(truth.name) in NUMBERS:
        true_numbers, imputed_numbers = comparable_numbers(truth, imputed, schema)
        return np.square(imputed_numbers - true_numbers)
    wrong = truth.to_numpy(dtype=object) != imputed.to_numpy(dtype=object)
    return np.asarray(wrong, dtype=np.float64)
