"""How often does a ranking tell equal methods apart, and how often unequal ones?

Simulated scores of methods on a few seeds: equal methods with equal, unequal and heavy-tailed
variation, and one method that is better by some standard deviations. The rule of the comparison
is measured beside rules that were not chosen.

    python -m benchmarks.accuracy.ranking
"""

from __future__ import annotations

import argparse
import functools
import math
import shlex
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import studentized_range

from benchmarks.recording import write_result
from pmae_core.evaluation.ranking import differences_to, mean_interval

Rule = Callable[[str, pd.DataFrame], set[str]]
SIZES = ((8, 3), (12, 3), (8, 5), (3, 3))
GAPS = (4.0, 8.0)


def moderated(leader: str, scores: pd.DataFrame) -> set[str]:
    """Return the methods told apart from the leader by the rule of the comparison."""
    gaps = differences_to(leader, scores)
    return {name for name, gap in gaps.items() if not gap.includes_zero}


def paired(leader: str, scores: pd.DataFrame, confidence: float = 0.95) -> set[str]:
    """Return those told apart by paired t-intervals, each for itself."""
    others = scores.columns.drop(leader)
    gaps = {name: mean_interval(scores[leader] - scores[name], confidence) for name in others}
    return {name for name, gap in gaps.items() if not gap.includes_zero}


def bonferroni(leader: str, scores: pd.DataFrame) -> set[str]:
    """Return those told apart by paired t-intervals at 5% over all comparisons with the leader."""
    return paired(leader, scores, 1 - 0.05 / (scores.shape[1] - 1))


@functools.cache
def _range_quantile(n_methods: int, degrees: int) -> float:
    return float(studentized_range.ppf(0.95, n_methods, degrees))


def tukey(leader: str, scores: pd.DataFrame) -> set[str]:
    """Return those told apart by Tukey's test with seeds as blocks: one variance for all."""
    n_seeds, n_methods = scores.shape
    means = scores.mean()
    residuals = scores.sub(means, axis=1).sub(scores.mean(axis=1) - means.mean(), axis=0)
    degrees = (n_methods - 1) * (n_seeds - 1)
    error = math.sqrt((residuals**2).to_numpy().sum() / degrees / n_seeds)
    reach = error * _range_quantile(n_methods, degrees)
    return set(means.index[means[leader] - means > reach])


RULES: dict[str, Rule] = {
    "moderated": moderated,
    "uncorrected": paired,
    "bonferroni": bonferroni,
    "tukey": tukey,
}


def noise(kind: str, rng: np.random.Generator, n_seeds: int, n_methods: int) -> np.ndarray:
    """Return scores of equal methods: rows are seeds."""
    values = rng.normal(size=(n_seeds, n_methods))
    if kind == "unequal variances":
        return values * np.geomspace(0.3, 3, n_methods)
    if kind == "one method varies six times as much":
        return values * np.where(np.arange(n_methods) == 0, 6.0, 1.0)
    if kind == "heavy tails":
        return rng.standard_t(3, size=(n_seeds, n_methods))
    return values


KINDS = (
    "equal variances",
    "unequal variances",
    "one method varies six times as much",
    "heavy tails",
)


def measure(
    kind: str, n_methods: int, n_seeds: int, gap: float, options: argparse.Namespace
) -> dict[str, Any]:
    """Return for each rule how often methods were told apart from the leader."""
    rng = np.random.default_rng(options.seed)
    names = [f"method {number}" for number in range(n_methods)]
    best, shares = names[-1], dict.fromkeys(RULES, 0.0)
    for _ in range(options.replications):
        scores = pd.DataFrame(noise(kind, rng, n_seeds, n_methods), columns=names)
        scores[best] += gap
        leader = str(scores.mean().idxmax())
        for name, rule in RULES.items():
            apart = rule(leader, scores)
            found = len(apart) / (n_methods - 1) if leader == best else 0.0
            shares[name] += bool(apart) if gap == 0 else found
    return {
        "kind": kind,
        "methods": n_methods,
        "seeds": n_seeds,
        "gap_in_sd": gap,
        **{name: round(total / options.replications, 4) for name, total in shares.items()},
    }


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield equal methods of every kind, then one better method among others."""
    for n_methods, n_seeds in SIZES:
        for kind in KINDS:
            yield measure(kind, n_methods, n_seeds, 0.0, options)
        for gap in GAPS:
            yield measure(KINDS[0], n_methods, n_seeds, gap, options)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replications", type=int, default=2000, help="default 2000")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    options = parser.parse_args(arguments)
    measured = []
    for row in rows(options):
        print(row, flush=True)
        measured.append(row)
    given = ["--replications", str(options.replications), "--seed", str(options.seed)]
    write_result(
        "ranking",
        {
            "what": "gap 0: share of comparisons in which equal methods were told apart; other "
            "gaps: share of the other methods told apart from the better one",
            "command": shlex.join(["python", "-m", "benchmarks.accuracy.ranking", *given]),
            "equal": [row for row in measured if row["gap_in_sd"] == 0],
            "one_better": [row for row in measured if row["gap_in_sd"] > 0],
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
