"""The ranking of methods as one table, from results written by hand."""

import numpy as np
import pytest

from tests.support.comparisons import SEEDS, comparison, failed, task


def test_tied_methods_reach_the_leader_and_others_do_not():
    noise = np.array([0.00, 0.03, -0.02])
    tasks = [task("em", s, 0.80) for s in SEEDS]
    tasks += [task("knn", s, 0.79 + noise[s]) for s in SEEDS]
    tasks += [task("naive", s, 0.10 + noise[s] / 10) for s in SEEDS]

    ranking = comparison(tasks).ranking_table().set_index("method")

    assert ranking["rank"].tolist() == [1, 1, 3]
    assert ranking["place"].tolist() == ["tied for first with one other method"] * 2 + ["rank 3"]
    assert ranking.loc["knn", "low"] < 0.80 <= ranking.loc["knn", "high"]
    assert ranking.loc["em", "low"] == ranking.loc["em", "high"] == pytest.approx(0.80)
    assert ranking.loc["em", "seconds"] == pytest.approx(1.5)


def test_where_less_is_better_the_interval_lies_on_the_worse_side():
    noise = np.array([0.00, 0.03, -0.02])
    tasks = [task("em", s, 0.80) for s in SEEDS]
    tasks += [task("knn", s, 0.79 + noise[s]) for s in SEEDS]

    ranking = comparison(tasks).ranking_table("rmse").set_index("method")

    assert ranking.index[0] == "em"
    assert ranking.loc["knn", "low"] <= 0.2 < ranking.loc["knn", "high"]
    middle = (ranking.loc["knn", "low"] + ranking.loc["knn", "high"]) / 2
    assert middle == pytest.approx(ranking.loc["knn", "score"])


def test_methods_that_fail_come_after_all_others():
    tasks = [task("naive", s, 0.1) for s in SEEDS]
    tasks += [task("em", 0, 0.9), task("em", 1, 0.9), failed("em", 2)]
    tasks += [failed("knn", s, "Too many rows.") for s in SEEDS]

    ranking = comparison(tasks).ranking_table()

    assert ranking["method"].tolist() == ["naive", "em", "knn"]
    assert ranking["rank"].isna().tolist() == [False, False, True]


def test_a_score_of_the_whole_table_ranks_by_seeds():
    noise = np.array([0.00, 0.01, -0.01])
    tasks = [
        task(name, s, at + noise[s]) for name, at in (("em", 0.8), ("naive", 0.1)) for s in SEEDS
    ]
    whole = comparison(tasks)

    ranking = whole.ranking_table("energy_distance").set_index("method")

    assert ranking["rank"].to_dict() == {"em": 1, "naive": 2}
    assert ranking.loc["em", ["distribution_skill", "coverage"]].tolist() == pytest.approx(
        [0.7, 0.6]
    )
    assert ranking["n_imputations"].tolist() == [5, 5]
    scores = whole.seed_scores("energy_distance").query("method == 'em'")["score"]
    assert scores.tolist() == pytest.approx(0.2 - noise)


def test_a_score_of_columns_is_their_mean_by_seed():
    whole = comparison([task("naive", s, 0.1 * s) for s in SEEDS])

    assert whole.seed_scores()["score"].tolist() == pytest.approx([0.0, 0.1, 0.2])
