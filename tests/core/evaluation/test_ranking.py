import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pmae_core.errors import ScoringError
from pmae_core.evaluation.ranking import (
    differences_to,
    mean_interval,
    rank_methods,
)


def results(scores, *, metric="skill"):
    """Turn {method: array (seeds, columns)} into the long table of a comparison."""
    rows = []
    for method, values in scores.items():
        for (seed, column), value in np.ndenumerate(np.asarray(values, dtype=float)):
            row = {"method": method, "seed": seed, "column": f"c{column}", metric: value}
            rows.append(row)
    return pd.DataFrame(rows).dropna()


def noisy(mean, noise=0.01, seeds=5, columns=4, seed=0):
    return mean + noise * np.random.default_rng(seed).normal(size=(seeds, columns))


def test_interval_is_that_of_the_t_test():
    values = np.random.default_rng(0).normal(0.5, 1, size=7)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    interval = mean_interval(values)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_one_value_says_nothing_about_noise():
    assert mean_interval([3.0]).includes_zero


def blocks(scores, over="seed"):
    """Return the mean of each method by seed, or by column, as one table."""
    frame = results(scores)
    return frame.groupby(["method", over])["skill"].mean().unstack("method")


def test_two_methods_are_compared_by_the_paired_t_test():
    found = differences_to("a", blocks({"a": noisy(1.0, seed=1), "b": noisy(0.9, seed=2)}))["b"]
    expected = mean_interval(noisy(1.0, seed=1).mean(axis=1) - noisy(0.9, seed=2).mean(axis=1))
    assert (found.mean, found.low, found.high) == pytest.approx(
        (expected.mean, expected.low, expected.high), abs=1e-6
    )


@pytest.mark.parametrize(("n_seeds", "over"), [(2, "column"), (3, "seed"), (5, "seed")])
def test_seeds_are_the_blocks_from_three_on(n_seeds, over):
    scores = {"a": noisy(1.0, seeds=n_seeds, seed=1), "b": noisy(1.0, seeds=n_seeds, seed=2)}
    leader, other = rank_methods(results(scores)).index
    gap = differences_to(leader, blocks(scores, over))[other]
    assert rank_methods(results(scores)).loc[other, "behind_high"] == pytest.approx(gap.high)


def test_three_seeds_give_intervals_of_similar_width():
    """By their own variances alone, with two degrees of freedom, they differ by far more."""
    many = {f"m{i}": noisy(0.4, seeds=3, seed=10 + i) for i in range(12)}
    gaps = differences_to("m0", blocks(many))
    spreads = [gaps[name].high - gaps[name].low for name in gaps]
    assert max(spreads) < 5 * min(spreads)


@given(
    shift=st.floats(-5, 5),
    scale=st.floats(0.01, 100),
    seed=st.integers(0, 1000),
    n_methods=st.integers(2, 5),
)
@settings(max_examples=25)
def test_ties_do_not_depend_on_the_unit_of_the_score(shift, scale, seed, n_methods):
    scores = {f"m{i}": noisy(0.0, 1.0, 3, 2, seed=seed + i) + 0.8 * i for i in range(n_methods)}
    ranked = rank_methods(results(scores))
    other = rank_methods(results({name: shift + scale * one for name, one in scores.items()}))
    assert ranked["rank"].to_dict() == other["rank"].to_dict()
    np.testing.assert_allclose(other["behind"], scale * ranked["behind"], atol=1e-8 * scale)


def test_methods_within_noise_share_a_rank():
    shared = noisy(0.0, 0.2)  # what is hard is hard for all: pairs take it out
    ranked = rank_methods(
        results(
            {
                "close": 0.499 + shared + noisy(0, 0.01, seed=1),
                "best": 0.5 + shared + noisy(0, 0.01, seed=2),
                "worse": 0.45 + shared + noisy(0, 0.01, seed=3),
                "worst": 0.1 + shared,
            }
        )
    )
    assert set(ranked.index[:2]) == {"best", "close"}
    assert ranked["rank"].tolist() == [1, 1, 3, 4]
    assert ranked["tie_group"].tolist() == [1, 1, 2, 3]
    assert ranked["behind"].iloc[1] > 0
    assert ranked["behind_low"].iloc[1] < 0 < ranked["behind_high"].iloc[1]


def test_equal_methods_share_a_rank_and_a_constant_gap_does_not():
    shared = noisy(0.5, 0.2)
    ranked = rank_methods(results({"a": shared, "b": shared, "c": shared - 0.001}))
    assert ranked["rank"].to_dict() == {"a": 1, "b": 1, "c": 3}


def test_equal_methods_are_told_apart_in_about_one_of_twenty_cases():
    told_apart = [
        rank_methods(
            results({name: noisy(0.5, 0.1, seed=2 * trial + i) for i, name in enumerate("ab")})
        )["rank"].max()
        == 2
        for trial in range(80)
    ]
    assert 0 < np.mean(told_apart) < 0.12


def test_who_is_tied_with_the_best_is_not_put_behind_who_is_not():
    """B is steadily behind A. C varies too much to be told from A, though its mean is lowest."""
    scores = {
        "A": [[0.80], [0.80], [0.80]],
        "B": [[0.78], [0.781], [0.779]],
        "C": [[0.90], [0.70], [0.72]],
    }
    ranked = rank_methods(results(scores))
    assert ranked.index.tolist() == ["A", "C", "B"]
    assert ranked["rank"].tolist() == [1, 1, 3]


@given(seed=st.integers(0, 10_000), n_methods=st.integers(2, 6))
@settings(max_examples=25)
def test_the_first_group_is_all_that_is_tied_with_the_best(seed, n_methods):
    rng = np.random.default_rng(seed)
    spread = rng.exponential(1.0, size=n_methods)
    scores = {f"m{i}": spread[i] * rng.normal(size=(3, 2)) + i for i in range(n_methods)}
    ranked = rank_methods(results(scores))
    gaps = differences_to(ranked.index[0], blocks(scores))
    tied = {ranked.index[0], *(name for name, gap in gaps.items() if gap.includes_zero)}
    assert set(ranked.index[ranked["rank"] == 1]) == tied
    assert ranked["score"].iloc[0] == ranked["score"].max()


def test_a_column_far_off_is_not_forgiven():
    """Clipped accuracy forgives it: both have 0 in the column that one of them spoils."""
    fair, spoiled = [[0.5, 0.0]] * 3, [[0.5, -2500.0]] * 3
    ranked = rank_methods(results({"spoiled": np.array(spoiled), "fair": np.array(fair)}))
    assert ranked["rank"].to_dict() == {"fair": 1, "spoiled": 2}


def test_cells_where_a_skill_is_undefined_count_for_no_method():
    frame = results({"a": [[0.5, 0.1]] * 3, "b": [[0.4, 0.9]] * 3})
    frame.loc[(frame["method"] == "a") & (frame["column"] == "c1"), "skill"] = math.nan
    assert rank_methods(frame)["score"].to_dict() == pytest.approx({"a": 0.5, "b": 0.4})


def test_a_method_without_the_metric_has_no_rank():
    frame = pd.concat(
        [results({"a": noisy(0.5)}), results({"old": noisy(0.5)}).assign(skill=math.nan)]
    )
    assert rank_methods(frame).index.tolist() == ["a"]


@pytest.mark.parametrize("n_methods", [8, 12])
def test_many_equal_methods_are_seldom_told_apart(n_methods):
    rng = np.random.default_rng(n_methods)
    names = [f"m{i}" for i in range(n_methods)]
    split = 0
    for _ in range(300):
        frame = pd.DataFrame(rng.normal(size=(3, n_methods)), columns=names)
        gaps = differences_to(frame.mean().idxmax(), frame)
        split += not all(gap.includes_zero for gap in gaps.values())
    assert split / 300 < 0.07


def test_low_is_good_for_errors():
    frame = results({"a": noisy(0.1, seed=1), "b": noisy(0.3, seed=2)}, metric="rmse")
    ranked = rank_methods(frame, metric="rmse")
    assert ranked.index.tolist() == ["a", "b"]
    assert ranked.loc["a", "score"] == pytest.approx(0.1, abs=0.02)


def test_incomplete_methods_come_last_and_the_most_complete_first():
    lucky = np.full((5, 4), np.nan)
    lucky[0] = 0.99
    partly = np.full((5, 4), np.nan)
    partly[:3] = 0.2
    frame = results({"lucky": lucky, "partly": partly, "whole": noisy(0.4), "poor": noisy(0.1)})
    ranked = rank_methods(frame, incomplete=["lucky", "partly"])
    assert ranked.index.tolist() == ["whole", "poor", "partly", "lucky"]
    assert ranked["rank"].tolist() == [1, 2, 3, 4]


def test_seeds_on_the_same_cells_are_no_replicates():
    """A fixed gap on every seed is one observation a column, not certainty."""
    gap = np.tile([0.3, -0.2, 0.1, -0.1], (5, 1))
    frame = results({"a": 0.5 + gap, "b": np.full((5, 4), 0.5)})
    assert rank_methods(frame)["rank"].tolist() == [1, 2]
    assert rank_methods(frame, masks_vary=False)["rank"].tolist() == [1, 1]


def test_no_results_no_ranks():
    columns = ["method", "seed", "column", "skill"]
    assert rank_methods(pd.DataFrame(columns=columns)).empty


def test_unknown_metric_is_refused():
    with pytest.raises(ScoringError, match="magic"):
        rank_methods(results({"a": noisy(0.5)}), metric="magic")
