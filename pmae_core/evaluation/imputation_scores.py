"""Do several random imputations of a cell describe what is unknown about it? Proper scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.metrics import (
    NUMBERS,
    comparable_numbers,
    has_true_value,
    scored_cells,
)
from pmae_core.evaluation.skill import share_avoided
from pmae_core.table.schema import Schema

IMPUTATION_METRICS = (
    "distribution_skill",
    "crps",
    "brier",
    "log_score",
    "coverage",
    "width",
)
"""Names of the scores of random imputations."""
INTERVAL = 0.9
# The distance between the quartiles of a normal distribution, in standard deviations.
_NORMAL_QUARTILES = 1.349

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


def score_imputations(
    truth: pd.DataFrame,
    imputations: Sequence[pd.DataFrame],
    missing: pd.DataFrame,
    schema: Schema | None = None,
) -> pd.DataFrame:
    """Score several random imputations of a table, in the cells that were missing.

    Point accuracy is best for a method that imputes the conditional mean of every cell. The scores
    here are best in expectation for a method whose imputations come from the conditional
    distribution of the cell.

    Parameters
    ----------
    truth : DataFrame
        The complete table.
    imputations : sequence of DataFrame
        Imputed tables with the same rows. A single one is scored as a point mass.
    missing : DataFrame of bool
        True where a cell was missing.
    schema : Schema, optional
        Roles of the columns; inferred from `truth` if not given.

    Returns
    -------
    DataFrame
        One row per scored column, with the columns ``IMPUTATION_METRICS``; nan if one does not
        apply.

    Notes
    -----
    With imputations x₁ … xₘ of a cell and its true value y:

    - ``crps`` (numbers, dates and ranks of levels, lower is better): the continuous ranked
      probability score ``mean |xᵢ − y| − ½ mean |xᵢ − xⱼ|`` over i ≠ j, the "fair" version whose
      expectation does not depend on m, in units of the spread of the observed cells (the distance
      between their quartiles over 1.349, or their standard deviation if that is 0).
    - ``brier`` (categories, lower is better): the same with distance 1 between two categories,
      which is half of Brier's sum of squared errors of the shares: 0 to 1, and for one imputation
      the share of wrong cells.
    - ``log_score`` (categories, lower is better): ``−log`` of the share of imputations with the
      true category, after adding half an imputation of every category, so that it stays finite.
    - ``distribution_skill``: the share of the ``crps`` or ``brier`` of the column's observed
      distribution that a method avoids: 1 is perfect, 0 no better than imputing random observed
      cells, negative worse.
    - ``coverage`` and ``width`` (where there is ``crps``, two or more imputations): how often the
      interval of :func:`interval_ranks` includes the true value, and its mean width in the units of
      ``crps``. Compare the coverage with :func:`expected_coverage`: from 5 imputations, even
      perfect ones cover 67% and not 90%.

    Examples
    --------
    >>> truth = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    >>> missing = pd.DataFrame({"x": [True, False, False, True]})
    >>> imputations = [truth.mask(missing, value) for value in (0.0, 1.0)]
    >>> scores = score_imputations(truth, imputations, missing)
    >>> scores[["coverage", "width"]].round(2).to_dict("list")
    {'coverage': [0.5], 'width': [2.7]}
    """
    if not imputations:
        raise ScoringError("There is nothing to score: name at least one imputation.")
    schema = Schema.infer(truth) if schema is None else schema
    cells, _ = scored_cells(truth, missing, schema)
    rows = {}
    for name, scored in cells.items():
        observed = has_true_value(truth[name]) & ~missing[name].to_numpy(dtype=bool)
        columns = [imputed[name] for imputed in imputations]
        rows[name] = (
            _score_numbers(truth[name], columns, scored, observed, schema)
            if schema.role(name) in NUMBERS
            else _score_categories(truth[name], columns, scored, observed)
        )
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(IMPUTATION_METRICS))


def expected_coverage(n_imputations: int) -> float:
    """Return how often the interval of so many perfect imputations includes the true value.

    Examples
    --------
    >>> [round(expected_coverage(m), 2) for m in (2, 5, 10, 20, 100)]
    [0.33, 0.67, 0.82, 0.9, 0.9]
    """
    low, high = interval_ranks(n_imputations)
    return (high - low) / (n_imputations + 1)


def interval_ranks(n_imputations: int) -> tuple[int, int]:
    """Return between which imputations, in order and counted from 0, the interval of a cell lies.

    It is the shortest symmetric interval between two imputations that includes 90% of perfect
    cells; from fewer than 19 imputations, no interval does, and it lies between the smallest and
    the largest.

    Examples
    --------
    >>> interval_ranks(5), interval_ranks(100)
    ((0, 4), (4, 95))
    """
    left_out = int((n_imputations + 1) * (1 - INTERVAL) / 2 + 1e-9)
    low = max(left_out, 1) - 1
    return low, n_imputations - 1 - low


def ensemble_crps(values: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the fair continuous ranked probability score of each cell.

    Parameters
    ----------
    values : array of shape (imputations, cells)
        A single imputation is scored by its absolute error.
    truth : array of shape (cells,)
        The true values.

    Examples
    --------
    >>> ensemble_crps(np.array([[0.0], [2.0]]), np.array([1.0])).tolist()
    [0.0]
    """
    return np.abs(values - truth).mean(axis=0) - mean_difference(values) / 2


def mean_difference(values: FloatArray) -> FloatArray:
    """Return the mean absolute difference between two different imputations of each cell."""
    n = len(values)
    if n < 2:
        return np.zeros(values.shape[1:])
    # In order, the i-th of n values is the larger of i pairs and the smaller of n − 1 − i.
    weights = 2.0 * np.arange(n) - (n - 1)
    return np.tensordot(weights, np.sort(values, axis=0), axes=1) * 2 / (n * (n - 1))


def category_score(shares: FloatArray, truth: IntArray, n_imputations: int) -> FloatArray:
    """Return the fair Brier score of each cell, from 0 to 1.

    Parameters
    ----------
    shares : array of shape (cells, categories)
        The share of imputations with each category.
    truth : array of shape (cells,)
        The number of the true category.
    n_imputations : int
        The number of imputations.
    """
    hit = np.take_along_axis(shares, truth[:, None], axis=1)[:, 0]
    differ = 1 - (shares**2).sum(axis=1)
    if n_imputations > 1:
        differ *= n_imputations / (n_imputations - 1)
    return 1 - hit - differ / 2


def spread_of(numbers: FloatArray) -> float:
    """Return the spread of observed numbers, which outliers do not change; 1 if they are equal."""
    if not len(numbers):
        return 1.0
    low, high = np.quantile(numbers, [0.25, 0.75])
    spread = float(high - low) / _NORMAL_QUARTILES or float(numbers.std())
    return spread if spread > 0 else 1.0


def cell_scores(truth: pd.Series, imputations: Sequence[pd.Series], schema: Schema) -> FloatArray:
    """Return the score of each cell: CRPS in the column's own unit, or the Brier score.

    Parameters
    ----------
    truth : Series
        The true values.
    imputations : sequence of Series
        Several imputed values of the same cells.
    schema : Schema
        Roles of the columns.
    """
    if schema.role(truth.name) in NUMBERS:
        numbers = comparable_numbers(truth, truth, schema)[0]
        return ensemble_crps(_values(truth, imputations, schema), numbers)
    codes, n_categories = _codes(truth, *imputations)
    return category_score(
        _counts(codes[1:], n_categories) / len(imputations), codes[0], len(codes) - 1
    )


def _values(truth: pd.Series, imputations: Sequence[pd.Series], schema: Schema) -> FloatArray:
    """Return the imputations as numbers on the scale of the truth: one row per imputation."""
    return np.stack([comparable_numbers(truth, imputed, schema)[1] for imputed in imputations])


def _codes(*columns: pd.Series) -> tuple[list[IntArray], int]:
    """Return columns of categories as numbers that they share, and how many there are."""
    # As objects, so that categories, strings and nullable dtypes compare by value.
    labels = [column.to_numpy(dtype=object) for column in columns]
    codes, categories = pd.factorize(np.concatenate(labels))
    ends = np.cumsum([len(one) for one in labels])[:-1]
    return np.split(codes.astype(np.intp), ends), len(categories)


def _counts(imputations: Sequence[IntArray], n_categories: int) -> FloatArray:
    """Return how often each cell has each category."""
    n_cells = len(imputations[0])
    counts = np.zeros((n_cells, n_categories))
    for imputed in imputations:
        counts[np.arange(n_cells), imputed] += 1
    return counts


def _score_numbers(
    truth: pd.Series,
    imputations: Sequence[pd.Series],
    scored: BoolArray,
    observed: BoolArray,
    schema: Schema,
) -> dict[str, float]:
    numbers = comparable_numbers(truth, truth, schema)[0]
    true, known = numbers[scored], numbers[observed]
    values = _values(truth, imputations, schema)[:, scored]
    spread = spread_of(known)
    crps = float(ensemble_crps(values, true).mean())
    scores = {
        "crps": crps / spread,
        "distribution_skill": share_avoided(crps, _crps_of_sample(known, true)),
    }
    if len(values) > 1:
        low, high = (np.sort(values, axis=0)[rank] for rank in interval_ranks(len(values)))
        scores["coverage"] = float(np.mean((low <= true) & (true <= high)))
        scores["width"] = float(np.mean(high - low)) / spread
    return scores


def _score_categories(
    truth: pd.Series, imputations: Sequence[pd.Series], scored: BoolArray, observed: BoolArray
) -> dict[str, float]:
    columns = (truth[scored], truth[observed], *(imputed[scored] for imputed in imputations))
    (true, known, *values), n_categories = _codes(*columns)
    counts, m = _counts(values, n_categories), len(values)
    brier = float(category_score(counts / m, true, m).mean())
    smoothed = (counts[np.arange(len(true)), true] + 0.5) / (m + 0.5 * n_categories)
    return {
        "brier": brier,
        "log_score": float(-np.log(smoothed).mean()),
        "distribution_skill": share_avoided(brier, _brier_of_sample(known, true, n_categories)),
    }


def _crps_of_sample(sample: FloatArray, truth: FloatArray) -> float:
    """Return the mean fair score if one sample is the imputation of every cell."""
    if not len(sample):
        return 0.0
    in_order = np.sort(sample)
    sums = np.concatenate([[0.0], np.cumsum(in_order)])
    below = np.searchsorted(in_order, truth)
    n = len(in_order)
    distances = truth * (2 * below - n) + sums[n] - 2 * sums[below]
    return float(distances.mean() / n - mean_difference(in_order[:, None])[0] / 2)


def _brier_of_sample(sample: IntArray, truth: IntArray, n_categories: int) -> float:
    if not len(sample):
        return 0.0
    shares = np.bincount(sample, minlength=n_categories) / len(sample)
    every = np.broadcast_to(shares, (len(truth), n_categories))
    return float(category_score(every, truth, len(sample)).mean())
