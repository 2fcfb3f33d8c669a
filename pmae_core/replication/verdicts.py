"""The rule by which a claim of the paper is reproduced or not: paired differences, intervals.

A claim says that one or more differences in accuracy lie in a region: above 0 ("better"), above
−1 point ("at least as good") or within 1 point ("no difference"). The rule, fixed before any result
was looked at:

1. **Pairs.** Two methods are compared on the same table with the same rows, pattern, mechanism and
   seed only, hence on the same missing cells. Where one of them has no result, there is no pair.
2. **Complete tables.** A table counts if enough seeds have a pair in every pattern of the
   comparison, so that all tables are averaged over the same patterns. If it does so at several
   numbers of rows, the most rows count.
3. **Unit of replication.** Where the claim is about tables in general, each table is one value (its
   mean over patterns and seeds), and the interval is the t-interval over tables: at least
   :data:`MIN_TABLES` tables, most of the paper's nine, with at least 2 seeds each, since one seed
   gives every table the same shares of missing values. Where the paper names the tables, the claim
   is about these: all of them have to be there with at least 3 seeds, and the interval stands on
   the variation between the seeds within tables.
4. **Many comparisons.** The intervals of one claim hold together at 95% (Bonferroni's correction
   for all its comparisons, run or not).
5. **Verdict.** A comparison is *reproduced* if its interval lies wholly in the region, *not
   reproduced* if wholly outside, *not decided* if it reaches both, *not tested* if there are too
   few results. A claim is reproduced if all its comparisons are, not reproduced if any is not, not
   tested if none was, and otherwise not decided.

Differences are in points: accuracy × 100.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import t as student_t

from pmae_core.evaluation.ranking import CONFIDENCE, MIN_SEEDS, ROUNDING, Interval, mean_interval

FloatArray = npt.NDArray[np.float64]

MIN_TABLES = 5
MIN_SEEDS_PER_TABLE = 2


class Verdict(StrEnum):
    """What the results say about a claim or one of its comparisons."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NOT_DECIDED = "not decided"
    NOT_TESTED = "not tested"


@dataclass(frozen=True)
class Region:
    """Where a claim says that a difference lies, in points; its limits do not belong to it.

    Examples
    --------
    >>> str(Region(above=0).verdict(Interval(2.0, 0.5, 3.5)))
    'reproduced'
    >>> str(Region(above=0).verdict(Interval(2.0, -0.5, 4.5)))
    'not decided'
    """

    above: float = -math.inf
    below: float = math.inf

    def slack(self, interval: Interval) -> float:
        """Return how far an interval is inside, in points; negative if it reaches outside."""
        return min(interval.low - self.above, self.below - interval.high)

    def verdict(self, interval: Interval) -> Verdict:
        """Return whether an interval is inside, outside, or both."""
        if self.slack(interval) > ROUNDING:
            return Verdict.REPRODUCED
        is_outside = interval.high < self.above - ROUNDING or interval.low > self.below + ROUNDING
        return Verdict.NOT_REPRODUCED if is_outside else Verdict.NOT_DECIDED


@dataclass(frozen=True)
class TableDifferences:
    """The differences on a table of so many rows, one per seed: means over patterns, in points."""

    n_rows: int
    by_seed: FloatArray


@dataclass(frozen=True)
class Replication:
    """What a claim is about, and hence which results it needs.

    Attributes
    ----------
    tables : tuple of str
        The tables that the paper names; none for a claim about tables in general.
    """

    tables: tuple[str, ...] = ()

    @property
    def min_seeds(self) -> int:
        """The seeds that a table needs."""
        return MIN_SEEDS if self.tables else MIN_SEEDS_PER_TABLE

    @property
    def min_tables(self) -> int:
        """The number of tables needed."""
        return len(self.tables) or MIN_TABLES

    def includes(self, table: str) -> bool:
        """Return whether a table is one that the claim is about."""
        return not self.tables or table in self.tables

    def interval(
        self, tables: Mapping[str, TableDifferences], confidence: float
    ) -> Interval | None:
        """Return the mean of the tables and its interval; None if there are too few results.

        Parameters
        ----------
        tables : mapping of str to TableDifferences
            As :func:`complete_tables` returns them.
        confidence : float
            Nominal coverage of the two-sided interval.
        """
        if len(tables) < self.min_tables:
            return None
        of_tables = [table.by_seed for table in tables.values()]
        if self.tables:
            return _interval_over_seeds(of_tables, confidence)
        return mean_interval([by_seed.mean() for by_seed in of_tables], confidence)


@dataclass(frozen=True, kw_only=True)
class Basis:
    """How much a figure stands on.

    Attributes
    ----------
    patterns : tuple of str
        The patterns that each table was averaged over.
    seeds, rows : mapping of table to int
        The tables that count, with the number of their seeds and rows.
    """

    patterns: tuple[str, ...] = ()
    seeds: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that count."""
        return tuple(self.rows)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of one comparison.

    Attributes
    ----------
    label : str
        What is compared.
    region : Region
        Where the claim says that the difference lies.
    interval : Interval, optional
        The mean difference in points with its interval; None if there are too few results.
    basis : Basis
        What it stands on; the tables counted so far if there are too few.
    """

    label: str
    region: Region
    interval: Interval | None
    basis: Basis

    @property
    def verdict(self) -> Verdict:
        """The verdict on this comparison."""
        return Verdict.NOT_TESTED if self.interval is None else self.region.verdict(self.interval)

    @property
    def slack(self) -> float:
        """How far the interval is inside the region; infinite if there is none."""
        return math.inf if self.interval is None else self.region.slack(self.interval)


def complete_tables(
    differences: pd.DataFrame, patterns: Sequence[str], replication: Replication
) -> dict[str, TableDifferences]:
    """Average differences over patterns, for the tables and seeds that have all of them.

    Parameters
    ----------
    differences : DataFrame
        One column per pattern, indexed by ``dataset``, ``n_rows`` and ``seed``; nan where one of
        the two sides has no result.
    patterns : sequence of str
        The patterns to average over.
    replication : Replication
        How many seeds a table needs, and which tables count.

    Returns
    -------
    dict of str to TableDifferences
        The tables that count, by name.
    """
    in_all = differences.reindex(columns=list(patterns)).mean(axis="columns", skipna=False)
    found: dict[tuple[str, int], list[float]] = {}
    known: Any = in_all.dropna().sort_index()
    for (dataset, n_rows, _), difference in known.items():
        found.setdefault((str(dataset), int(n_rows)), []).append(float(difference))
    tables: dict[str, TableDifferences] = {}
    # The most rows of a table come last, and stay.
    for (name, rows), values in sorted(found.items()):
        if len(values) >= replication.min_seeds and replication.includes(name):
            tables[name] = TableDifferences(rows, np.array(values))
    return tables


def find(
    label: str,
    differences: pd.DataFrame,
    *,
    region: Region,
    patterns: tuple[str, ...],
    replication: Replication,
    n_comparisons: int,
) -> Finding:
    """Judge one comparison of a claim.

    Parameters
    ----------
    label : str
        What is compared.
    differences : DataFrame
        As in :func:`complete_tables`, in points.
    region : Region
        Where the claim says that the difference lies.
    patterns : tuple of str
        The patterns to average over.
    replication : Replication
        What the claim is about.
    n_comparisons : int
        The number of comparisons of the claim, whose intervals hold together.
    """
    if differences.empty:
        return Finding(label=label, region=region, interval=None, basis=Basis(patterns=patterns))
    tables = complete_tables(differences, patterns, replication)
    confidence = 1 - (1 - CONFIDENCE) / n_comparisons
    return Finding(
        label=label,
        region=region,
        interval=replication.interval(tables, confidence),
        basis=Basis(
            patterns=patterns,
            seeds={name: len(table.by_seed) for name, table in tables.items()},
            rows={name: table.n_rows for name, table in tables.items()},
        ),
    )


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a claim from those on its comparisons.

    Examples
    --------
    >>> str(overall([Verdict.REPRODUCED, Verdict.NOT_TESTED]))
    'not decided'
    """
    found = set(verdicts)
    if Verdict.NOT_REPRODUCED in found:
        return Verdict.NOT_REPRODUCED
    return found.pop() if len(found) == 1 else Verdict.NOT_DECIDED


def _interval_over_seeds(of_tables: Sequence[FloatArray], confidence: float) -> Interval:
    """Return the mean of the tables; its error is from the seeds within them, pooled."""
    counts = np.array([len(by_seed) for by_seed in of_tables])
    mean = float(np.mean([by_seed.mean() for by_seed in of_tables]))
    degrees = int((counts - 1).sum())
    squares = sum(float(((by_seed - by_seed.mean()) ** 2).sum()) for by_seed in of_tables)
    error = math.sqrt(squares / degrees * float(np.sum(1 / counts))) / len(counts)
    half = error * float(student_t.ppf((1 + confidence) / 2, degrees))
    return Interval(mean, mean - half, mean + half)
