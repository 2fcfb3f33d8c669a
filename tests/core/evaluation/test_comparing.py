"""Comparisons of methods: hold-outs, settings and refusals."""

import numpy as np
import pytest

from pmae_core.errors import ImputationError, SchemaError, ScoringError
from pmae_core.evaluation.comparing import compare
from pmae_core.evaluation.downstream import BEFORE_THE_SPLIT, INDUCTIVE, Downstream
from pmae_core.evaluation.tasks import TaskFinished

pytestmark = pytest.mark.usefixtures("stubs")


def test_amputation_of_a_complete_table(complete):
    comparison = compare(complete, ["stub-mean"], amputation={"pattern": "monotone"}, seeds=[0])
    assert comparison.settings["holdout"] == "amputation"
    assert comparison.table["status"].tolist() == ["done"]


def test_known_truth_ties_over_columns(complete, incomplete):
    comparison = compare(incomplete, ["stub-mean", "stub-linear"], truth=complete)
    assert not comparison.masks_vary
    one, two, three = (task.points for task in comparison.tasks[::2])
    assert one == two == three
    assert comparison.per_column["n_scored"].iloc[0] == incomplete["y"].isna().sum()
    assert comparison.summary()["rank"].tolist() == [1, 1]


def test_no_method_sees_the_target(incomplete):
    table = incomplete.assign(label=incomplete["y"].fillna(0))
    comparison = compare(table, ["stub-linear"], target="label", seeds=[0])
    without = compare(incomplete, ["stub-linear"], seeds=[0])
    assert comparison.per_column.equals(without.per_column)


@pytest.mark.parametrize(
    ("kwargs", "error", "reason"),
    [
        ({"methods": ["magic"]}, ImputationError, "magic"),
        ({"methods": []}, ScoringError, "at least one"),
        ({"seeds": []}, ScoringError, "at least one"),
        ({"n_jobs": 0}, ScoringError, "n_jobs"),
        ({"n_jobs": 2, "pool": object()}, ScoringError, "either n_jobs or a pool"),
        ({"method_params": {"em": {}}}, ScoringError, "not among the methods"),
        ({"method_params": {"stub-mean": {"magic": 1}}}, ImputationError, "magic"),
        ({"method_params": {"stub-mean": {"random_state": 1}}}, ScoringError, "random_state"),
        ({"target": "magic"}, ScoringError, "magic"),
        ({"schema": {"magic": "ignored"}}, SchemaError, "magic"),
        ({"holdout": "magic"}, ScoringError, "magic"),
        ({"holdout": "known-truth"}, ScoringError, "needs `truth`"),
        ({"holdout": "like-mine", "amputation": {}}, ScoringError, "has no use for"),
        ({"holdout_share": 2.0}, ScoringError, "share"),
    ],
)
def test_what_cannot_work_is_refused_at_once(incomplete, kwargs, error, reason):
    with pytest.raises(error, match=reason):
        compare(incomplete, **{"methods": ["stub-mean"], **kwargs})


def test_one_imputer_is_compared_with_itself_under_other_parameters(incomplete, tmp_path):
    arguments = {
        "methods": ["stub-mean", "shifted"],
        "seeds": [0],
        "imputers": {"shifted": "stub-mean"},
        "method_params": {"shifted": {"shift": 0.3}},
        "results_dir": tmp_path,
    }
    rmse = compare(incomplete, **arguments).table.set_index("method")["rmse"]
    assert rmse["shifted"] > rmse["stub-mean"]
    heard = []
    compare(incomplete, **arguments, callbacks=(heard.append,))
    assert all(event.from_disk for event in heard if isinstance(event, TaskFinished))
    with pytest.raises(ScoringError, match="other parameters"):
        compare(incomplete, **{**arguments, "imputers": {"shifted": "stub-noisy"}})
    with pytest.raises(ScoringError, match="parameters for absent, which is not among the methods"):
        compare(incomplete, ["stub-mean"], imputers={"absent": "stub-mean"})


def test_labels_are_predicted_from_each_imputed_table(complete, tmp_path):
    noise = np.random.default_rng(7).normal(size=len(complete))
    labels = Downstream((complete["x"] + 0.3 * noise).rename("label"), "regression")
    incomplete = {"pattern": "general"}
    results = compare(
        complete,
        ["stub-mean", "stub-linear"],
        seeds=[0],
        amputation=incomplete,
        downstream=labels,
        results_dir=tmp_path,
    )
    scores = {task.method: task.downstream for task in results.tasks}
    assert scores["stub-linear"]["metric"] == "r2"
    assert 1 > scores["stub-linear"]["linear"] > 0.3
    assert scores["stub-linear"]["linear"] != scores["stub-mean"]["linear"]
    assert (
        compare(complete, ["stub-mean"], seeds=[0], amputation=incomplete).tasks[0].downstream == {}
    )
    with pytest.raises(ScoringError, match="different: downstream"):
        compare(complete, ["stub-mean"], seeds=[0], amputation=incomplete, results_dir=tmp_path)


def test_labels_are_predicted_without_a_look_at_the_test_rows(complete):
    noise = np.random.default_rng(7).normal(size=len(complete))
    labels = (complete["x"] + 0.3 * noise).rename("label")

    def scores(fit_rows):
        asked = Downstream(labels, "regression", fit_rows)
        amputation = {"pattern": "general"}
        done = compare(complete, ["em"], seeds=[0], amputation=amputation, downstream=asked)
        return done.tasks[0].downstream

    ours, papers = scores("training"), scores("all")
    assert (ours["how"], papers["how"]) == (INDUCTIVE, BEFORE_THE_SPLIT)
    assert ours["linear"] != papers["linear"]


def test_labels_among_the_features_are_refused(complete):
    labels = Downstream(complete["x"].rename("label"), "regression")
    with pytest.raises(ScoringError, match="'x' is a copy of the target"):
        compare(complete, ["stub-mean"], amputation={"pattern": "general"}, downstream=labels)
    with pytest.raises(ScoringError, match="include a column 'x', the name of the target"):
        named = Downstream(complete["x"], "regression")
        compare(complete, ["stub-mean"], amputation={"pattern": "general"}, downstream=named)
