"""Who is better, and by more than noise: paired differences, tie bands, winners by column."""

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

LOWER_IS_BETTER = frozenset({"rmse", "mae", "wasserstein"})
RANKED_METRICS = (*METRICS, "skill")
CONFIDENCE = 0.95
# With fewer seeds there is no telling how much a result varies from seed to seed.
MIN_SEEDS = 3
# Differences below this are rounding, not merit.
ROUNDING = 1e-9
NO_METHOD_BEATS_THE_MEAN = "no method beats the mean here"


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval; endless where it cannot be known."""

    mean: float
    low: float
    high: float

    @property
    def includes_zero(self) -> bool:
        """Whether the mean may be chance."""
        return self.low <= ROUNDING and self.high >= -ROUNDING


def mean_interval(values: npt.ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of independent values with its t-interval.

    Parameters
    ----------
    values : array-like
        The values; a single one has an endless interval.
    confidence : float, default 0.95
        Of the two-sided interval.

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
    """Return by how much one method's scores exceed another's on the same cells.

    Parameters
    ----------
    better, other : Series with index (seed, column)
        Scores of which more is better. Only what both have is compared.
    cluster_by_seed : bool, optional
        Take the mean over columns of each seed as one value (columns of one table are not
        independent), else the mean over seeds of each column. By default by seed from
        three seeds on.
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
    """Rank methods, those within noise of each other alike (1, 1, 3).

    The best mean leads the first band. Then, in the order of their means, methods join the band
    while the 95 % interval of their paired difference to its leader includes 0; the first that does
    not leads the next band. So a rank never contradicts the means, and a gap in
    ranks is more than noise.

    Parameters
    ----------
    per_column : DataFrame
        A row for each method, seed and column, with the metric.
    metric : str
        One of ``RANKED_METRICS``.
    incomplete : sequence of str
        Methods that failed on some seeds. They come after all others, the one with most
        results first, in bands of their own: their means are over other cells.
    masks_vary : bool, default True
        Whether seeds stand for different hidden cells. If they do not, seeds say nothing about the
        noise of the cells, and differences are compared over columns.

    Returns
    -------
    DataFrame
        By method, best first: ``rank``, ``band`` (1, 2, ...), ``score`` (mean over seeds of the
        mean over columns), and ``behind``, ``behind_low``, ``behind_high``: how far behind the
        leader of its band, with the interval (positive is worse, whatever the metric).
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
        previous = next(reversed(rows.values()), {"rank": 0, "band": 0})
        rows[method] = {
            "rank": previous["rank"] if joins else place,
            "band": previous["band"] if joins else previous["band"] + 1,
            "score": sign * means[method],
            "behind": gap.mean,
            "behind_low": gap.low,
            "behind_high": gap.high,
        }
    ranked = pd.DataFrame.from_dict(
        rows,
        orient="index",
        columns=["rank", "band", "score", "behind", "behind_low", "behind_high"],
    )
    ranked.index.name = "method"
    return ranked.astype({"rank": int, "band": int})


def column_winners(per_column: pd.DataFrame, *, masks_vary: bool = True) -> pd.DataFrame:
    """Say for each column which method is best, which are as good, and whether any is any good.

    Parameters
    ----------
    per_column : DataFrame
        A row for each method, seed and column, with ``skill`` over the mean.
    masks_vary : bool, default True
        Whether seeds stand for different hidden cells.

    Returns
    -------
    DataFrame
        By column: ``best`` method (None where none beats the mean), its mean ``skill``, the
        methods ``tied`` with it (a list), and a ``verdict`` in words.

    Notes
    -----
    With three seeds or more a method beats the mean if its skill is above 0 by a one-sided test at
    5 %; such a method ties with the best if the 95 % interval of the paired difference includes
    0. With fewer, or if all seeds hide the same cells, the noise of a single column is unknown: the
    highest skill wins and the verdict says that this may be chance.
    """
    rows = {}
    for column, cells in per_column.groupby("column", sort=False):
        # An undefined skill is that of a method that errs where the mean does not.
        cells = cells.assign(skill=cells["skill"].astype(float).fillna(-np.inf))
        skill = cells.pivot(index="seed", columns="method", values="skill")
        n_seeds = skill.notna().sum()
        noise_known = masks_vary and n_seeds.max() >= MIN_SEEDS
        rows[column] = _winner(skill.loc[:, n_seeds == n_seeds.max()], noise_known)
    # As objects: a column of text would turn None, which stands for "no method", into nan.
    winners = pd.DataFrame.from_dict(
        rows, orient="index", columns=["best", "skill", "tied", "verdict"], dtype=object
    )
    winners.index.name = "column"
    return winners.astype({"skill": float})


def _scores(per_column: pd.DataFrame, metric: str) -> tuple[pd.Series, int]:
    """Return the metric by (method, seed, column), turned so that more is better."""
    if metric not in RANKED_METRICS:
        raise ScoringError(
            f"Methods cannot be ranked by {metric!r}; choose one of: {', '.join(RANKED_METRICS)}."
        )
    sign = -1 if metric in LOWER_IS_BETTER else 1
    scores = per_column.set_index(["method", "seed", "column"])[metric].astype(float)
    return sign * scores.dropna(), sign


def _winner(skill: pd.DataFrame, noise_known: bool) -> dict[str, object]:
    means = skill.mean()
    candidates = [m for m in skill.columns if _beats_mean(skill[m], noise_known)]
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
        if noise_known
        and method != best
        and mean_interval((skill[best] - skill[method]).dropna()).includes_zero
    ]
    verdict = best if not tied else f"{best}, tied with {', '.join(tied)}"
    if not noise_known:
        verdict = f"{best} (may be chance: fewer than {MIN_SEEDS} different hold-outs)"
    return {"best": best, "skill": float(means[best]), "tied": tied, "verdict": verdict}


def _beats_mean(skill: pd.Series, noise_known: bool) -> bool:
    if skill.mean() <= ROUNDING:
        return False
    # The lower end of a two-sided 90 % interval is a one-sided test at 5 %.
    return not noise_known or mean_interval(skill.dropna(), confidence=0.9).low > 0
