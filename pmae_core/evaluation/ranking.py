"""Which methods are better, and which are tied: paired differences, ranks, winners by column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import t as student_t

from pmae_core.errors import ScoringError
from pmae_core.evaluation.metrics import METRICS
from pmae_core.words import listed

LOWER_IS_BETTER = frozenset({"rmse", "mae", "wasserstein"})
RANKED_METRICS = (*METRICS, "skill")
CONFIDENCE = 0.95
# With fewer seeds it is unknown how much results vary from seed to seed.
MIN_SEEDS = 3
# Differences below this are rounding, not merit.
ROUNDING = 1e-9
NO_METHOD_BEATS_THE_MEAN = "no method beats the mean here"


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval, infinite if it cannot be estimated."""

    mean: float
    low: float
    high: float

    @property
    def includes_zero(self) -> bool:
        """Whether 0 is consistent with the data."""
        return self.low <= ROUNDING and self.high >= -ROUNDING


def mean_interval(values: npt.ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of independent values with its t-interval.

    Parameters
    ----------
    values : array-like
        The values; a single one has an infinite interval.
    confidence : float, default 0.95
        Nominal coverage of the two-sided interval.

    Examples
    --------
    >>> interval = mean_interval([1.0, 2.0, 3.0])
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.484, 4.484)
    """
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if len(sample) < 2:
        return Interval(mean, -math.inf, math.inf)
    error = float(sample.std(ddof=1)) / math.sqrt(len(sample))
    half = error * float(student_t.ppf((1 + confidence) / 2, len(sample) - 1))
    return Interval(mean, mean - half, mean + half)


def paired_difference(
    better: pd.Series, other: pd.Series, *, cluster_by_seed: bool | None = None
) -> Interval:
    """Return by how much one method's scores exceed another's on the same held-out cells.

    Parameters
    ----------
    better, other : Series with index (seed, column)
        Scores for which higher is better. Only pairs that both have are compared.
    cluster_by_seed : bool, optional
        Whether the mean over columns of each seed is one value (columns of one table are not
        independent), or the mean over seeds of each column. By default by seed if there are
        three seeds or more.
    """
    differences = (better - other).dropna()
    if differences.empty:
        return Interval(math.nan, -math.inf, math.inf)
    if cluster_by_seed is None:
        cluster_by_seed = differences.index.get_level_values("seed").nunique() >= MIN_SEEDS
    level = "seed" if cluster_by_seed else "column"
    return mean_interval(differences.groupby(level=level).mean())


def rank_methods(
    per_column: pd.DataFrame,
    *,
    metric: str = "imputation_accuracy",
    incomplete: Sequence[str] = (),
    masks_vary: bool = True,
) -> pd.DataFrame:
    """Rank methods; tied methods share a rank (1, 1, 3).

    The method with the best mean starts the first group. In the order of their means, methods
    join it while the 95% confidence interval of their paired difference to its best method
    includes 0; the first for which it does not starts the next group. So ranks never contradict
    the means. The intervals are not adjusted for the number of methods.

    Parameters
    ----------
    per_column : DataFrame
        One row per method, seed and column, with the metric.
    metric : str
        One of ``RANKED_METRICS``.
    incomplete : sequence of str
        Methods that failed on some seeds. They come after all others, the one with most
        results first, each in a group of its own: their means are over different cells.
    masks_vary : bool, default True
        Whether each seed holds out different cells. If not, seeds say nothing about the variation
        between cells, and differences are compared over columns.

    Returns
    -------
    DataFrame
        By method, best first: ``rank``, ``tie_group`` (1, 2, ...), ``score`` (mean over seeds of
        the mean over columns), and ``behind``, ``behind_low``, ``behind_high``: how far behind
        the best of its group, with the confidence interval (positive is worse, whatever the
        metric).
    """
    scores, sign = _scores(per_column, metric)
    means = scores.groupby(level=["method", "seed"]).mean().groupby(level="method").mean()
    n_results = scores.groupby(level="method").size()
    order = sorted(
        means.index,
        key=lambda m: (m in incomplete, -n_results[m] if m in incomplete else 0, -means[m], m),
    )
    rows: dict[str, dict[str, float | int]] = {}
    leader = ""
    for place, method in enumerate(order, start=1):
        gap = Interval(0.0, 0.0, 0.0)
        joins = False
        if leader:
            gap = paired_difference(
                scores[leader], scores[method], cluster_by_seed=None if masks_vary else False
            )
            joins = gap.includes_zero and method not in incomplete
        if not joins:
            leader, gap = method, Interval(0.0, 0.0, 0.0)
        previous = next(reversed(rows.values()), {"rank": 0, "tie_group": 0})
        rows[method] = {
            "rank": previous["rank"] if joins else place,
            "tie_group": previous["tie_group"] + (not joins),
            "score": sign * means[method],
            "behind": gap.mean,
            "behind_low": gap.low,
            "behind_high": gap.high,
        }
    ranked = pd.DataFrame.from_dict(
        rows,
        orient="index",
        columns=["rank", "tie_group", "score", "behind", "behind_low", "behind_high"],
    )
    ranked.index.name = "method"
    return ranked.astype({"rank": int, "tie_group": int})


def column_winners(per_column: pd.DataFrame, *, masks_vary: bool = True) -> pd.DataFrame:
    """Say for each column which method is best, which are tied with it, and if any beats the mean.

    Parameters
    ----------
    per_column : DataFrame
        One row per method, seed and column, with ``skill`` over the mean.
    masks_vary : bool, default True
        Whether each seed holds out different cells.

    Returns
    -------
    DataFrame
        By column: ``best`` method (None if none beats the mean), its mean ``skill``, the
        methods ``tied`` with it (a list), and a ``verdict`` in words.

    Notes
    -----
    With three seeds or more, a method beats the mean if its skill is above 0 by a one-sided test at
    5%; such a method is tied with the best if the 95% confidence interval of the paired difference
    includes 0. With fewer seeds, or if all seeds hold out the same cells, the variation within a
    column is unknown: the highest skill wins, and the verdict says that it was not tested.
    """
    rows = {}
    for column, cells in per_column.groupby("column", sort=False):
        # The skill is undefined if a method errs where the mean does not.
        cells = cells.assign(skill=cells["skill"].astype(float).fillna(-np.inf))
        skill = cells.pivot(index="seed", columns="method", values="skill")
        n_seeds = skill.notna().sum()
        variation_known = masks_vary and n_seeds.max() >= MIN_SEEDS
        rows[column] = _winner(skill.loc[:, n_seeds == n_seeds.max()], variation_known)
    # As objects: a column of text would turn None, which stands for "no method", into nan.
    winners = pd.DataFrame.from_dict(
        rows, orient="index", columns=["best", "skill", "tied", "verdict"], dtype=object
    )
    winners.index.name = "column"
    return winners.astype({"skill": float})


def _scores(per_column: pd.DataFrame, metric: str) -> tuple[pd.Series, int]:
    """Return the metric by (method, seed, column), signed so that higher is better."""
    if metric not in RANKED_METRICS:
        raise ScoringError(
            f"Methods cannot be ranked by {metric!r}. Choose "
            f"{listed(RANKED_METRICS, most=len(RANKED_METRICS), last='or')}."
        )
    sign = -1 if metric in LOWER_IS_BETTER else 1
    scores = per_column.set_index(["method", "seed", "column"])[metric].astype(float)
    return sign * scores.dropna(), sign


def _winner(skill: pd.DataFrame, variation_known: bool) -> dict[str, object]:
    means = skill.mean()
    candidates = [m for m in skill.columns if _beats_mean(skill[m], variation_known)]
    if not candidates:
        return {
            "best": None,
            "skill": float(means.max()),
            "tied": [],
            "verdict": NO_METHOD_BEATS_THE_MEAN,
        }
    best = max(candidates, key=lambda method: means[method])
    tied = [
        method
        for method in means[candidates].sort_values(ascending=False).index
        if variation_known
        and method != best
        and mean_interval((skill[best] - skill[method]).dropna()).includes_zero
    ]
    verdict = best if not tied else f"{best}, tied with {listed(tied)}"
    if not variation_known:
        verdict = f"{best} (not tested: fewer than {MIN_SEEDS} different hold-outs)"
    return {"best": best, "skill": float(means[best]), "tied": tied, "verdict": verdict}


def _beats_mean(skill: pd.Series, variation_known: bool) -> bool:
    if skill.mean() <= ROUNDING:
        return False
    # The lower end of a two-sided 90% interval is a one-sided test at 5%.
    return not variation_known or mean_interval(skill.dropna(), confidence=0.9).low > 0
