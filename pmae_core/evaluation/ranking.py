"""Which methods are better, and which are tied: paired differences and ranks."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import digamma
from scipy.stats import studentized_range
from scipy.stats import t as student_t

from pmae_core.errors import ScoringError
from pmae_core.evaluation.metrics import METRICS
from pmae_core.words import listed

FloatArray = npt.NDArray[np.float64]

LOWER_IS_BETTER = frozenset(
    {"rmse", "mae", "wasserstein", "crps", "brier", "log_score", "energy_distance", "i_score"}
)
# Not the coverage: that of a good method is neither high nor low.
RANKED_METRICS = (
    "skill",
    *METRICS,
    "distribution_skill",
    "energy_distance",
    "crps",
    "brier",
    "log_score",
    "i_score",
)
CONFIDENCE = 0.95
# With fewer seeds it is unknown how much results vary from seed to seed.
MIN_SEEDS = 3
# Differences below this are rounding, not merit.
ROUNDING = 1e-9


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


def differences_to(leader: str, blocks: pd.DataFrame) -> dict[str, Interval]:
    """Return by how much one method exceeds each other one, with simultaneous 95% intervals.

    Parameters
    ----------
    leader : str
        The method that the others are compared with, usually the one with the best mean.
    blocks : DataFrame
        One column per method and one row per independent block, such as a seed: scores for which
        higher is better, all on the same held-out cells.

    Returns
    -------
    dict of str to Interval
        By method other than the leader.

    Notes
    -----
    The intervals hold together, also if the leader was chosen because its mean is the best: their
    half-width is the quantile of the studentized range for all methods, as in Tukey's test. With
    three seeds a difference has its variance from two degrees of freedom; to be of use at all,
    each variance is moderated by the typical variance of the differences to the leader (their
    geometric mean, without its bias), as gene expression studies do. A share of (k − 2) / (k − 1)
    of a variance's own degrees of freedom goes to the typical one with k methods, none with two:
    for two methods this is the paired t-interval. ``benchmarks/accuracy/ranking.py`` measures how
    often equal methods are told apart, with equal and unequal variances.

    Examples
    --------
    >>> blocks = pd.DataFrame({"a": [0.8, 0.9, 0.7], "b": [0.5, 0.6, 0.4], "c": [0.9, 0.7, 0.8]})
    >>> {name: gap.includes_zero for name, gap in differences_to("a", blocks).items()}
    {'b': False, 'c': True}
    """
    complete = blocks.dropna()
    differences = complete.drop(columns=leader).rsub(complete[leader], axis=0)
    means, n_blocks = differences.mean(), len(complete)
    if n_blocks < 2:
        return {
            str(name): Interval(float(mean), -math.inf, math.inf) for name, mean in means.items()
        }
    variances, degrees = _moderated(differences.var(ddof=1).to_numpy(), n_blocks - 1)
    halves = _simultaneous_quantile(blocks.shape[1], degrees) * np.sqrt(variances / n_blocks)
    return {
        str(name): Interval(float(mean), float(mean - half), float(mean + half))
        for (name, mean), half in zip(means.items(), halves, strict=True)
    }


def _moderated(variances: FloatArray, degrees: int) -> tuple[FloatArray, float]:
    """Return variances pulled toward their typical value, and their degrees of freedom."""
    # A variance of 0 is that of a copy, or of two methods without randomness: not typical.
    positive = variances[variances > 0]
    if len(positive) < 2:
        return variances, degrees
    bias = digamma(degrees / 2) - math.log(degrees / 2)
    typical = math.exp(float(np.log(positive).mean()) - bias)
    borrowed = degrees * (1 - 1 / len(positive))
    moderated = (degrees * variances + borrowed * typical) / (degrees + borrowed)
    return moderated, degrees + borrowed


@functools.lru_cache(maxsize=256)
def _simultaneous_quantile(n_methods: int, degrees: float) -> float:
    """Return how many standard errors simultaneous intervals of differences reach to each side."""
    return float(studentized_range.ppf(CONFIDENCE, n_methods, degrees)) / math.sqrt(2)


def rank_methods(
    per_column: pd.DataFrame,
    *,
    metric: str = "skill",
    incomplete: Sequence[str] = (),
    masks_vary: bool = True,
) -> pd.DataFrame:
    """Rank methods; tied methods share a rank (1, 1, 3).

    All methods tied with the best one share rank 1, whatever their means: those for which the
    simultaneous 95% interval of the paired difference to the method with the best mean includes 0
    (see :func:`differences_to`). The rest is ranked by the same rule. So a method that is tied with
    the best never comes after one that is not.

    Parameters
    ----------
    per_column : DataFrame
        One row per method, seed and column, with the metric.
    metric : str, default "skill"
        One of ``RANKED_METRICS``. The default is the error relative to imputing the mean or mode,
        not clipped: a method that is far off in one column cannot be first.
    incomplete : sequence of str
        Methods that failed on some seeds. They come after all others, the one with most
        results first, each in a group of its own: their means are over different cells.
    masks_vary : bool, default True
        Whether each seed holds out different cells. If not, seeds say nothing about the variation
        between cells, and differences are compared over columns; so they are with fewer than
        three seeds.

    Returns
    -------
    DataFrame
        By method, best first: ``rank``, ``tie_group`` (1, 2, ...), ``score`` (mean over seeds of
        the mean over columns), and ``behind``, ``behind_low``, ``behind_high``: how far behind
        the best of its group, with the simultaneous interval (positive is worse, whatever the
        metric).

    Notes
    -----
    Where the metric of a method is undefined for a column and seed (the skill of a method that
    errs where the mean is exact), no method is scored on these cells.
    """
    scores, sign = _scores(per_column, metric)
    means = scores.groupby(level=["method", "seed"]).mean().groupby(level="method").mean()
    whole = [
        method
        for method in means.sort_values(ascending=False, kind="stable").index
        if method not in incomplete
    ]
    rows: dict[str, dict[str, float | int]] = {}
    groups = _tie_groups(whole, _blocks(scores, whole, masks_vary)) if whole else []
    groups += [{method: Interval(0.0, 0.0, 0.0)} for method in _most_results_first(scores, whole)]
    for number, group in enumerate(groups, start=1):
        rank = len(rows) + 1
        for method, gap in group.items():
            rows[method] = {
                "rank": rank,
                "tie_group": number,
                "score": sign * means[method],
                "behind": gap.mean,
                "behind_low": gap.low,
                "behind_high": gap.high,
            }
    columns = ["rank", "tie_group", "score", "behind", "behind_low", "behind_high"]
    ranked = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    ranked.index.name = "method"
    return ranked.astype({"rank": int, "tie_group": int})


def _blocks(scores: pd.Series, methods: Sequence[str], masks_vary: bool) -> pd.DataFrame:
    """Return one column per method and one row per block: the seeds, or else the columns.

    Columns of one table are not independent, so each seed is one block if there are enough.
    """
    n_seeds = scores.index.get_level_values("seed").nunique()
    level = "seed" if masks_vary and n_seeds >= MIN_SEEDS else "column"
    return scores.groupby(level=["method", level]).mean().unstack("method")[list(methods)]


def _tie_groups(ordered: Sequence[str], blocks: pd.DataFrame) -> list[dict[str, Interval]]:
    """Return the methods in groups, each with the difference to the best of its group."""
    remaining, groups = list(ordered), []
    while remaining:
        leader = remaining[0]
        gaps = {leader: Interval(0.0, 0.0, 0.0), **differences_to(leader, blocks)}
        groups.append({name: gaps[name] for name in remaining if gaps[name].includes_zero})
        remaining = [name for name in remaining if name not in groups[-1]]
    return groups


def _most_results_first(scores: pd.Series, whole: Sequence[str]) -> list[str]:
    results = scores.groupby(level="method").agg(["size", "mean"]).drop(index=list(whole))
    ordered = results.sort_values(["size", "mean"], ascending=False, kind="stable")
    return [str(method) for method in ordered.index]


def _scores(per_column: pd.DataFrame, metric: str) -> tuple[pd.Series, int]:
    """Return the metric by (method, seed, column), signed so that higher is better."""
    if metric not in RANKED_METRICS:
        raise ScoringError(
            f"Methods cannot be ranked by {metric!r}. Choose "
            f"{listed(RANKED_METRICS, most=len(RANKED_METRICS), last='or')}."
        )
    sign = -1 if metric in LOWER_IS_BETTER else 1
    scores = per_column.set_index(["method", "seed", "column"])[metric].astype(float)
    scores = scores[scores.notna().groupby(level="method").transform("any")]
    defined = scores.notna().groupby(level=["seed", "column"]).transform("all")
    return sign * scores[defined], sign
