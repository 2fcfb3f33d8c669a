import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from pmae_core.evaluation.ranking import Interval
from pmae_core.replication.verdicts import (
    MIN_TABLES,
    Basis,
    Region,
    Replication,
    Verdict,
    complete_tables,
    find,
    overall,
)

TABLES = ("a", "b", "c", "d", "e")
PATTERNS = ("monotone", "general")
BETTER = Region(above=0)
IN_GENERAL = Replication()


def differences(of, *, tables=TABLES, seeds=2, patterns=PATTERNS, n_rows=100):
    """Return differences as the judge makes them: one row per block, one column per pattern."""
    keys = list(product(tables, [n_rows], range(seeds)))
    index = pd.MultiIndex.from_tuples(keys, names=["dataset", "n_rows", "seed"])
    values = [[of(table, pattern, seed) for pattern in patterns] for table, _, seed in keys]
    return pd.DataFrame(values, index=index, columns=list(patterns), dtype=float)


def judged(found, *, region=BETTER, replication=IN_GENERAL, n_comparisons=1):
    return find(
        "x − y",
        found,
        region=region,
        patterns=PATTERNS,
        replication=replication,
        n_comparisons=n_comparisons,
    )


def spread(table, pattern, seed):
    return TABLES.index(table) - 2 + 0.1 * seed


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [
        (10, Verdict.REPRODUCED),
        (-10, Verdict.NOT_REPRODUCED),
        (0.5, Verdict.NOT_DECIDED),
    ],
)
def test_the_side_of_the_interval_decides(shift, verdict):
    finding = judged(differences(lambda *where: shift + spread(*where)))
    assert finding.verdict == verdict
    assert finding.interval.mean == pytest.approx(shift + 0.05)


def test_a_region_of_two_sides_needs_the_interval_between_them():
    flat = Region(above=-1, below=1)
    tight, wide, far = Interval(0, -0.9, 0.9), Interval(0, -1.1, 0.9), Interval(2, 1.1, 3)
    assert [flat.verdict(one) for one in (tight, wide, far)] == [
        Verdict.REPRODUCED,
        Verdict.NOT_DECIDED,
        Verdict.NOT_REPRODUCED,
    ]
    # A copy of a method is neither better nor worse.
    assert BETTER.verdict(Interval(0, 0, 0)) == Verdict.NOT_DECIDED


def test_tables_are_the_unit_whatever_the_number_of_seeds():
    def of(table, pattern, seed):
        return spread(table, pattern, 0)

    few, many = judged(differences(of)), judged(differences(of, seeds=20))
    # Seeds that repeat a table say nothing about other tables.
    assert many.interval.high == pytest.approx(few.interval.high)
    test = ttest_1samp([of(table, "", 0) for table in TABLES], 0).confidence_interval(0.95)
    assert (few.interval.low, few.interval.high) == pytest.approx((test.low, test.high))


def test_intervals_of_many_comparisons_are_wider():
    found = differences(lambda *where: 3 + spread(*where))
    alone, among = judged(found), judged(found, n_comparisons=20)
    assert alone.verdict == Verdict.REPRODUCED
    assert among.verdict == Verdict.NOT_DECIDED
    level = ttest_1samp([3.05 + n for n in range(-2, 3)], 0).confidence_interval(1 - 0.05 / 20)
    assert among.interval.low == pytest.approx(level.low)


def test_a_table_without_all_patterns_or_seeds_does_not_count():
    found = differences(spread)
    found.loc[("a", 100, 1), "general"] = np.nan
    finding = judged(found)
    assert finding.basis.tables == ("b", "c", "d", "e")
    assert len(finding.basis.tables) < MIN_TABLES
    assert finding.verdict == Verdict.NOT_TESTED
    assert math.isinf(finding.slack)


def test_the_most_rows_that_are_complete_count():
    few = differences(lambda *_: 1.0, n_rows=100)
    many = differences(lambda *_: 2.0, n_rows=1000)
    found = complete_tables(pd.concat([many, few]), PATTERNS, IN_GENERAL)
    assert {table.n_rows for table in found.values()} == {1000}
    many.loc[("a", 1000, 0)] = np.nan
    found = complete_tables(pd.concat([many, few]), PATTERNS, IN_GENERAL)
    assert (found["a"].n_rows, found["a"].by_seed.tolist()) == (100, [1.0, 1.0])
    assert found["b"].by_seed.tolist() == [2.0, 2.0]


def test_the_order_of_rows_changes_nothing():
    found = differences(lambda *where: 3 + spread(*where))
    shuffled = found.sample(frac=1, random_state=0)
    assert judged(shuffled) == judged(found)


def test_named_tables_are_all_needed_and_their_seeds_are_the_unit():
    named = Replication(("a", "b"))

    def of(table, pattern, seed):
        return {"a": 10, "b": 2, "c": -50}.get(table, 0) + 0.5 * (seed - 1)

    finding = judged(differences(of, seeds=3), replication=named)
    # The tables differ by 8 points, and only what varies within them counts; c is not asked.
    assert finding.verdict == Verdict.REPRODUCED
    assert finding.interval.mean == pytest.approx(6)
    assert finding.basis == Basis(
        patterns=PATTERNS, seeds={"a": 3, "b": 3}, rows={"a": 100, "b": 100}
    )
    # Two samples of three with a variance of 0.25 each, four degrees of freedom.
    assert finding.interval.high - 6 == pytest.approx(2.7764 * 0.5 / math.sqrt(6), rel=1e-4)
    assert judged(differences(of, seeds=2), replication=named).verdict == Verdict.NOT_TESTED
    one = differences(of, seeds=3, tables=("a",))
    assert judged(one, replication=named).verdict == Verdict.NOT_TESTED


def test_without_results_nothing_is_tested():
    finding = judged(pd.DataFrame())
    assert finding.verdict == Verdict.NOT_TESTED
    assert finding.basis == Basis(patterns=PATTERNS)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("reproduced reproduced", Verdict.REPRODUCED),
        ("reproduced not-decided", Verdict.NOT_DECIDED),
        ("reproduced not-tested", Verdict.NOT_DECIDED),
        ("not-decided not-tested not-reproduced", Verdict.NOT_REPRODUCED),
        ("not-tested not-tested", Verdict.NOT_TESTED),
    ],
)
def test_a_claim_needs_all_its_comparisons(verdicts, expected):
    assert overall(Verdict(one.replace("-", " ")) for one in verdicts.split()) == expected
