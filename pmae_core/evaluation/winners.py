"""Which method is best in a column, and whether any can predict it: tests over held-out cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import t as student_t

from pmae_core.evaluation.ranking import CONFIDENCE
from pmae_core.evaluation.verdict import BASELINE
from pmae_core.words import listed

FloatArray = npt.NDArray[np.float64]

# Shares of the mean's error below this are rounding: methods compute in single precision.
ROUNDING = 1e-6
NOT_SHOWN_TO_BEAT_THE_MEAN = "no method is shown to beat the mean"
NOT_TESTED = "not tested: this comparison was saved without its cells"


def column_winners(per_column: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    """Say for each column which method is best and which are tied with it, if any beats the mean.

    Parameters
    ----------
    per_column : DataFrame
        One row per method, seed and column, with ``skill`` over the mean.
    gains : DataFrame
        One row per ``method``, ``seed``, ``column`` and held-out cell, with the ``row`` of the cell
        and the ``gain`` over the mean; see :func:`~pmae_core.evaluation.cell_gains.cell_gains`.
        Empty for results that were saved without.

    Returns
    -------
    DataFrame
        By column: ``best`` method (None if none is shown to beat the mean), its mean ``skill``, the
        methods ``tied`` with it (a list), ``p_value`` (that no method beats the mean, corrected
        for all columns and methods; nan if it was not tested), and a ``verdict`` in words.

    Notes
    -----
    A method is shown to beat the mean in a column if the mean of its gains is above 0 by a
    one-sided t-test, with Holm's correction for all columns and methods: the chance to call any
    column predictable that is not is at most 5%. Otherwise it may still be better, but these cells
    do not show it. The best method is the one with the highest mean skill. Others with a skill
    above 0 are tied with it unless a two-sided test of the paired differences, with the same
    correction, tells them apart.

    The tests take rows of the table as independent, not cells: gains in the same row on several
    seeds are added up first. Only rows with a gain or a loss count as degrees of freedom: they are
    few where a method seldom imputes another category than the most frequent one.
    """
    skills = _mean_skills(per_column)
    wins = _holm({key: _p_above_zero(g) for key, g in _gains_by_row(gains, skills).items()})
    gaps = _holm(_p_of_gaps(gains, skills))
    is_tested = not gains.empty
    rows = {
        column: _winner(str(column), of_column, wins, gaps, is_tested)
        for column, of_column in skills.items()
    }
    # As objects: a column of text would turn None, which stands for "no method", into nan.
    winners = pd.DataFrame.from_dict(
        rows, orient="index", columns=["best", "skill", "tied", "p_value", "verdict"], dtype=object
    )
    winners.index.name = "column"
    return winners.astype({"skill": float, "p_value": float})


def without_baseline(winners: pd.DataFrame) -> pd.DataFrame:
    """Return the best method per column and those tied with it, the baseline never among these.

    Where a method is best it beats the mean or mode, so the baseline that imputes them cannot be
    tied with it, whatever a test of their difference with fewer cells says.

    Parameters
    ----------
    winners : DataFrame
        Of :func:`column_winners`.
    """
    tied = [[name for name in names if name != BASELINE] for names in winners["tied"]]
    return winners.assign(tied=pd.Series(tied, index=winners.index, dtype=object))


def _mean_skills(per_column: pd.DataFrame) -> dict[str, pd.Series]:
    """Return by column the mean skill of each method that has all seeds, the best first."""
    found = {}
    for column, cells in per_column.groupby("column", sort=False):
        # The skill is undefined if a method errs where the mean does not.
        cells = cells.assign(skill=cells["skill"].astype(float).fillna(-np.inf))
        by_method = cells.groupby("method", sort=False)["skill"]
        means, n_seeds = by_method.mean(), by_method.size()
        whole = means[n_seeds == n_seeds.max()]
        found[str(column)] = whole.sort_values(ascending=False, kind="stable")
    return found


def _gains_by_row(
    gains: pd.DataFrame, skills: Mapping[str, pd.Series]
) -> dict[tuple[str, str], FloatArray]:
    """Return for each column and method the sum of its gains in each row of the table."""
    differing = gains[gains["gain"].abs() > ROUNDING]
    sums = gains.groupby(["column", "method", "row"], sort=False)["gain"].sum()
    sums = sums.where(sums.abs() > ROUNDING, 0.0)
    # A method that imputes the mean itself has nothing to test.
    tested = set(zip(differing["column"], differing["method"], strict=True))
    by_method: Any = sums.groupby(level=["column", "method"], sort=False)
    return {
        (column, method): of_rows.to_numpy(dtype=float)
        for (column, method), of_rows in by_method
        if (column, method) in tested and method in skills[column].index
    }


def _p_of_gaps(
    gains: pd.DataFrame, skills: Mapping[str, pd.Series]
) -> dict[tuple[str, str], float]:
    """Return the two-sided p-value of the difference of each method to the best of its column."""
    p_values = {}
    for column, cells in gains.groupby("column", sort=False):
        by_cell = cells.pivot(index=["seed", "row"], columns="method", values="gain")
        leader, *others = _beating(skills[str(column)]) or [None]
        for other in others:
            differences = (by_cell[leader] - by_cell[other]).dropna()
            by_row = differences.groupby(level="row").sum().to_numpy()
            p_values[str(column), other] = min(1.0, 2 * _p_above_zero(by_row))
    return p_values


def _beating(skill: pd.Series) -> list[Any]:
    """Return the methods with a skill above 0, the best first."""
    return list(skill.index[skill > ROUNDING])


def _p_above_zero(values: FloatArray) -> float:
    """Return the p-value of a one-sided test that the mean of independent values is at most 0."""
    n_decided = np.count_nonzero(values)
    if n_decided < 2:
        return 1.0
    # So probable it is that all signs agree by chance: few rows cannot be more certain.
    least = 0.5**n_decided
    spread = float(values.std(ddof=1))
    if spread == 0:
        return least if values[0] > 0 else 1.0
    score = float(values.mean()) / (spread / np.sqrt(len(values)))
    return max(least, float(student_t.sf(score, n_decided - 1)))


def _holm(p_values: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Return the p-values corrected for their number by Holm's method."""
    ordered = sorted(p_values, key=lambda key: p_values[key])
    corrected: dict[tuple[str, str], float] = {}
    largest = 0.0
    for n_before, key in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - n_before) * p_values[key]))
        corrected[key] = largest
    return corrected


def _winner(
    column: str,
    skill: pd.Series,
    wins: Mapping[tuple[str, str], float],
    gaps: Mapping[tuple[str, str], float],
    is_tested: bool,
) -> dict[str, object]:
    level = 1 - CONFIDENCE
    ahead = _beating(skill)
    p_value = min((wins.get((column, method), 1.0) for method in ahead), default=1.0)
    found = {"skill": float(skill.max()), "p_value": p_value if is_tested else np.nan}
    if not ahead or (is_tested and p_value > level):
        return {**found, "best": None, "tied": [], "verdict": NOT_SHOWN_TO_BEAT_THE_MEAN}
    best, *others = ahead
    if not is_tested:
        return {**found, "best": best, "tied": [], "verdict": f"{best} ({NOT_TESTED})"}
    tied = [method for method in others if gaps.get((column, method), 1.0) > level]
    return {**found, "best": best, "tied": tied, "verdict": _verdict(best, tied)}


def _verdict(best: str, tied: Sequence[str]) -> str:
    return f"{best}, tied with {listed(tied)}" if tied else best
