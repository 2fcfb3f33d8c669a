"""Results of a comparison: scores, ranks and winners."""

import json

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import ScoringError
from pmae_core.evaluation.comparing import compare
from pmae_core.evaluation.comparison import Comparison

pytestmark = pytest.mark.usefixtures("stubs")

METHODS = ["stub-mean", "stub-noisy", "stub-linear", "stub-broken", "stub-flaky"]


@pytest.fixture(scope="module")
def comparison(incomplete, stubs):
    return compare(incomplete, METHODS)


def test_the_table_has_a_row_for_each_method_and_seed(comparison):
    table = comparison.table
    assert len(table) == 15
    assert list(table.columns) == [
        *("method", "seed", "status", "error", "n_imputations", "skill", "imputation_accuracy"),
        *("r2", "r2_unclipped", "accuracy", "balanced_accuracy", "rmse", "mae", "wasserstein"),
        *("distribution_skill", "crps", "brier", "log_score", "coverage", "width"),
        *("energy_distance", "i_score"),
        *("fit_seconds", "impute_seconds", "peak_memory_mb"),
    ]
    done = table[table["status"] == "done"]
    assert len(done) == 11
    assert done["error"].isna().all()
    assert (
        done[["skill", "imputation_accuracy", "rmse", "crps", "energy_distance"]]
        .notna()
        .all(axis=None)
    )
    assert table.loc[table["method"] == "stub-broken", "error"].str.contains("divided").all()


def test_columns_are_scored_with_skill(comparison):
    per_column = comparison.per_column
    assert len(per_column) == 11 * 3
    skill = per_column.groupby(["method", "column"])["skill"].mean()
    assert skill["stub-linear", "y"] > 0.9
    assert skill["stub-mean", "y"] == pytest.approx(0, abs=1e-6)


def test_all_methods_are_scored_on_the_same_cells(comparison):
    for seed in (0, 1, 2):
        truths = [
            json.dumps({name: cells["truth"] for name, cells in task.points.items()})
            for task in comparison.tasks
            if task.seed == seed and task.points
        ]
        assert len(truths) >= 3
        assert len(set(truths)) == 1


def test_the_summary_ranks_with_ties_and_reasons(comparison):
    summary = comparison.summary()
    assert summary.index.tolist()[0] == "stub-linear"
    assert summary.loc["stub-linear", "rank"] == 1
    assert summary.loc["stub-mean", "rank"] == summary.loc["stub-noisy", "rank"] == 2
    assert summary.index.tolist()[3:] == ["stub-flaky", "stub-broken"]
    assert summary.loc["stub-flaky", "rank"] == 4
    assert summary["rank"].isna().tolist() == [False] * 4 + [True]
    assert summary["n_done"].tolist() == [3, 3, 3, 2, 0]
    assert summary.loc["stub-flaky", "remark"] == "Seed 1: Seed 1 brings bad luck."
    assert summary.loc["stub-broken", "remark"].startswith("Seeds 0, 1 and 2: The method failed")
    values = comparison.table.query("method == 'stub-linear'")["rmse"]
    assert summary.loc["stub-linear", "rmse"] == pytest.approx(values.mean())
    assert summary.loc["stub-linear", "rmse_se"] == pytest.approx(values.std() / np.sqrt(3))


def test_other_metrics_rank_too(comparison):
    assert comparison.summary("rmse").index[0] == "stub-linear"


def test_columns_have_winners_or_none(comparison):
    winners = comparison.column_winners()
    assert winners.loc["y", "best"] == "stub-linear"
    assert winners.loc["z", "verdict"] == "no method is shown to beat the mean"


def test_json_brings_everything_back(comparison):
    again = Comparison.from_json(comparison.to_json())
    pd.testing.assert_frame_equal(again.table, comparison.table)
    pd.testing.assert_frame_equal(again.per_column, comparison.per_column)
    pd.testing.assert_frame_equal(again.summary(), comparison.summary())
    with pytest.raises(ScoringError):
        Comparison.from_json("{}")


def test_every_score_can_rank_and_no_other(comparison):
    names = comparison.rankable()
    assert names[0] == "skill"
    assert {"distribution_skill", "crps", "brier", "energy_distance"} <= set(names)
    assert "i_score" not in names
    for name in names:
        ranks = comparison.ranks(name)
        assert ranks["rank"].min() == 1
        assert set(ranks.index) == {"stub-linear", "stub-mean", "stub-noisy", "stub-flaky"}
    with pytest.raises(ScoringError, match="coverage"):
        comparison.ranks("coverage")


def test_results_of_earlier_versions_load_and_rank(comparison):
    """They have neither the skill of a task nor scores of random imputations."""
    content = json.loads(comparison.to_json())
    kept = ("imputation_accuracy", "r2", "r2_unclipped", "accuracy", "rmse", "mae", "wasserstein")
    for task in content["tasks"]:
        for name in ("imputations", "n_imputations", "sample_seconds"):
            del task[name]
        task["scores"] = {name: task["scores"][name] for name in kept if task["scores"]}
        task["scores"] |= {"energy": 0.1} if task["scores"] else {}
        task["per_column"] = [
            {
                name: row[name]
                for name in ("column", "role", "n_missing", "n_scored", *kept, "skill")
            }
            for row in task["per_column"]
        ]
    del content["settings"]["imputations"]
    old = Comparison.from_json(json.dumps(content))
    assert old.rankable() == ["skill", *kept]
    new = comparison.summary()
    columns = ["rank", "tie_group", "skill", "rmse", "remark"]
    pd.testing.assert_frame_equal(old.summary()[columns], new[columns])
    assert old.summary()["n_imputations"].tolist() == [0] * 5
