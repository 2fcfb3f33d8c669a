"""Do imputed rows resemble true rows? The energy distance between the two."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial.distance import cdist

from pmae_core.errors import ScoringError
from pmae_core.evaluation.metrics import NUMBERS, comparable_numbers
from pmae_core.table.schema import Schema

FloatArray = npt.NDArray[np.float64]
MAX_ROWS = 1000


def energy_score(
    truth: pd.DataFrame,
    imputed: pd.DataFrame,
    missing: pd.DataFrame,
    schema: Schema | None = None,
    *,
    max_rows: int = MAX_ROWS,
    seed: int = 0,
) -> float:
    """Return the energy distance between imputed rows and true rows; 0 is best.

    Imputing the mean scores badly here even if its errors are small: the imputed rows vary less
    than true rows, and their columns are related differently.

    Parameters
    ----------
    truth, imputed : DataFrame
        The complete and the imputed table.
    missing : DataFrame of bool
        True where a cell was imputed; only rows with such a cell count.
    schema : Schema, optional
        Roles of the columns; inferred from `truth` if not given.
    max_rows : int, default 1000
        If there are more such rows, a random sample of this size is used. Time and memory grow
        with its square.
    seed : int, default 0
        Seed of that sample.

    Returns
    -------
    float
        ``sqrt(2 E|X − Y| − E|X − X'| − E|Y − Y'|)`` over all pairs of true rows X and
        imputed rows Y.

    Notes
    -----
    Rows are whole rows, cells that were observed included. Numbers, dates and levels count as their
    rank among the true values of the column, scaled to 0 and 1, so that neither units nor outliers
    matter; categories are one-hot and scaled so that two different ones are at distance 1. A cell
    whose true value is unknown counts as the middle rank (no category for a categorical one) on
    both sides. Identifiers, ignored and empty columns do not count.
    """
    schema = Schema.infer(truth) if schema is None else schema
    rows = np.flatnonzero(missing.to_numpy(dtype=bool).any(axis=1))
    if not len(rows):
        raise ScoringError("There is nothing to score: no cell was missing.")
    if len(rows) > max_rows:
        rows = np.random.default_rng(seed).choice(rows, size=max_rows, replace=False)
    imputable = set(schema.imputable(truth))
    blocks = [
        _numbers(truth[name], imputed[name], rows, schema)
        if schema.role(name) in NUMBERS
        else _one_hot(truth[name], imputed[name], rows)
        for name in truth.columns
        if name in imputable
    ]
    true_rows, imputed_rows = (np.hstack(side) for side in zip(*blocks, strict=True))
    return energy_distance(true_rows, imputed_rows)


def energy_distance(x: FloatArray, y: FloatArray) -> float:
    """Return the energy distance between two samples of points.

    Parameters
    ----------
    x, y : arrays of shape (points, dimensions)
        The samples; they may differ in size.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0]])
    >>> energy_distance(points, points), energy_distance(points, points + 1.0)
    (0.0, 1.0)
    """
    squared = 2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
    return float(np.sqrt(max(squared, 0.0)))


def _numbers(
    truth: pd.Series, imputed: pd.Series, rows: npt.NDArray[np.intp], schema: Schema
) -> tuple[FloatArray, FloatArray]:
    true_numbers, imputed_numbers = comparable_numbers(truth, imputed, schema)
    known = np.isfinite(true_numbers)
    in_order = np.sort(true_numbers[known])

    def ranks(numbers: FloatArray) -> FloatArray:
        # Equal values share the middle of their ranks, as does a value between two others.
        below = np.searchsorted(in_order, numbers[rows], side="left")
        up_to = np.searchsorted(in_order, numbers[rows], side="right")
        return np.where(known[rows], (below + up_to) / (2 * len(in_order)), 0.5)[:, None]

    return ranks(true_numbers), ranks(imputed_numbers)


def _one_hot(
    truth: pd.Series, imputed: pd.Series, rows: npt.NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    known = truth.notna().to_numpy()[rows]
    true_labels, imputed_labels = (
        column.iloc[rows].astype(object).where(known, None) for column in (truth, imputed)
    )
    labels = pd.unique(pd.concat([true_labels, imputed_labels]).dropna())

    def indicators(cells: pd.Series) -> FloatArray:
        return (cells.to_numpy()[:, None] == labels[None, :]).astype(float) / np.sqrt(2)

    return indicators(true_labels), indicators(imputed_labels)
