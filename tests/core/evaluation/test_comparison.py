import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, ImputationError, SchemaError, ScoringError
from pmae_core.evaluation import comparing, comparison_run
from pmae_core.evaluation.comparing import compare
from pmae_core.evaluation.comparison import Comparison
from pmae_core.evaluation.comparison_run import NOT_RUN
from pmae_core.evaluation.downstream import Downstream
from pmae_core.evaluation.tasks import TaskFinished, TaskProgress, TaskStarted, run_task

pytestmark = pytest.mark.usefixtures("stubs")

METHODS = ["stub-mean", "stub-noisy", "stub-linear", "stub-broken", "stub-flaky"]


@pytest.fixture(scope="module")
def comparison(incomplete, stubs):
    return compare(incomplete, METHODS)


def test_the_table_has_a_row_for_each_method_and_seed(comparison):
    table = comparison.table
    assert len(table) == 15
    assert list(table.columns) == [
        *("method", "seed", "status", "error", "imputation_accuracy", "r2", "r2_unclipped"),
        *("accuracy", "rmse", "mae", "wasserstein", "energy"),
        *("fit_seconds", "impute_seconds", "peak_memory_mb"),
    ]
    done = table[table["status"] == "done"]
    assert len(done) == 11
    assert done["error"].isna().all()
    assert done[["imputation_accuracy", "rmse", "energy"]].notna().all(axis=None)
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
    assert summary.loc["stub-broken", "remark"].startswith("Seed 0, 1 and 2: The method failed")
    values = comparison.table.query("method == 'stub-linear'")["rmse"]
    assert summary.loc["stub-linear", "rmse"] == pytest.approx(values.mean())
    assert summary.loc["stub-linear", "rmse_se"] == pytest.approx(values.std() / np.sqrt(3))


def test_other_metrics_rank_too(comparison):
    assert comparison.summary("rmse").index[0] == "stub-linear"


def test_columns_have_winners_or_none(comparison):
    winners = comparison.column_winners()
    assert winners.loc["y", "best"] == "stub-linear"
    assert winners.loc["z", "verdict"] == "no method beats the mean here"


def test_json_brings_everything_back(comparison):
    again = Comparison.from_json(comparison.to_json())
    pd.testing.assert_frame_equal(again.table, comparison.table)
    pd.testing.assert_frame_equal(again.per_column, comparison.per_column)
    pd.testing.assert_frame_equal(again.summary(), comparison.summary())
    with pytest.raises(ScoringError):
        Comparison.from_json("{}")


def test_events_tell_results_as_they_come(incomplete):
    events = []
    compare(incomplete, ["stub-mean", "stub-broken"], seeds=[4, 5], callbacks=[events.append])
    of_a_success, of_a_failure = (
        [TaskStarted, TaskProgress, TaskFinished],
        [TaskStarted, TaskFinished],
    )
    assert [type(event) for event in events] == (of_a_success + of_a_failure) * 2
    order = [(e.result.method, e.result.seed) for e in events if isinstance(e, TaskFinished)]
    assert order == [(method, seed) for seed in (4, 5) for method in ("stub-mean", "stub-broken")]
    assert events[-1].n_done == events[-1].n_tasks == 4


# ---------------------------------------------------------------- hold-outs


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


# ---------------------------------------------------------------- time


@pytest.fixture
def clock(monkeypatch):
    """A clock for the comparison that stands still until a task has finished; a second a task."""
    now = [0.0]

    def tick(event):
        now[0] += isinstance(event, TaskFinished)

    for module in (comparing, comparison_run):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return tick


def test_when_time_is_up_a_task_is_stopped_and_the_rest_is_not_run(incomplete, clock):
    comparison = compare(
        incomplete, ["stub-mean", "stub-slow", "stub-linear"], budget_seconds=1.2, callbacks=[clock]
    )
    assert comparison.table["status"].tolist() == ["done", "stopped"] + ["not run"] * 7
    assert "time budget of 0.2 s" in comparison.tasks[1].error
    assert comparison.tasks[2].error == NOT_RUN == "not run: time budget"


def test_a_method_has_a_budget_of_its_own(incomplete):
    comparison = compare(
        incomplete, ["stub-slow", "stub-mean"], method_budget_seconds=0.1, seeds=[0]
    )
    assert comparison.table["status"].tolist() == ["stopped", "done"]
    summary = comparison.summary()
    assert "time budget of 0.1 s" in summary.loc["stub-slow", "remark"]
    assert summary.index[0] == "stub-mean"


def test_the_user_can_stop(incomplete, tmp_path):
    finished = []

    def note(event):
        finished.extend([event] if isinstance(event, TaskFinished) else [])

    with pytest.raises(Cancelled):
        compare(
            incomplete,
            ["stub-mean"],
            callbacks=[note],
            cancel=lambda: len(finished) == 2,
            results_dir=tmp_path,
        )
    assert len(list(tmp_path.glob("stub-mean*.json"))) == 2


# ---------------------------------------------------------------- resuming


def run_names(incomplete, folder, methods, callbacks=(), **kwargs):
    """Compare, and name the tasks that were run and not read."""
    run = []

    def note(event):
        if isinstance(event, TaskStarted):
            run.append(f"{event.method} {event.seed}")

    comparison = compare(
        incomplete, methods, callbacks=[note, *callbacks], results_dir=folder, **kwargs
    )
    return comparison, run


def test_finished_tasks_are_not_run_again(incomplete, tmp_path):
    first, ran = run_names(incomplete, tmp_path, ["stub-noisy", "stub-broken"], seeds=[0])
    assert len(ran) == 2
    second, ran = run_names(incomplete, tmp_path, ["stub-noisy", "stub-broken"], seeds=[0])
    assert ran == []
    assert second.to_json() == first.to_json()


def test_more_methods_and_seeds_join(incomplete, tmp_path):
    run_names(incomplete, tmp_path, ["stub-mean"], seeds=[0])
    _, ran = run_names(incomplete, tmp_path, ["stub-mean", "stub-linear"], seeds=[0, 1])
    assert ran == ["stub-linear 0", "stub-mean 1", "stub-linear 1"]


def test_failures_are_run_again_on_request(incomplete, tmp_path):
    run_names(incomplete, tmp_path, ["stub-flaky"])
    _, ran = run_names(incomplete, tmp_path, ["stub-flaky"], retry_failed=True)
    assert ran == ["stub-flaky 1"]


def test_more_time_lets_a_stopped_method_try_again(incomplete, tmp_path):
    for budget, expected in ((0.05, ["stub-slow 0"]), (0.05, []), (0.1, ["stub-slow 0"])):
        _, ran = run_names(
            incomplete, tmp_path, ["stub-slow"], seeds=[0], method_budget_seconds=budget
        )
        assert ran == expected


def test_what_only_lacked_time_for_all_is_run_the_next_time(incomplete, tmp_path, clock):
    methods = ["stub-slow", "stub-mean"]
    for _ in range(2):
        _, ran = run_names(
            incomplete, tmp_path, methods, seeds=[0], budget_seconds=0.2, callbacks=[clock]
        )
        assert ran == ["stub-slow 0"]
    _, ran = run_names(incomplete, tmp_path, ["stub-mean"], seeds=[0])
    assert ran == ["stub-mean 0"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"holdout_share": 0.2}, "holdout_share"),
        ({"amputation": {}}, "holdout"),
        ({"schema": {"x": "ignored"}}, "schema"),
        ({"target": "x"}, "target"),
        ({"method_params": {"stub-mean": {"shift": 0.1}}}, "other parameters"),
    ],
)
def test_another_comparison_in_the_same_folder_is_refused(incomplete, tmp_path, change, reason):
    compare(incomplete, ["stub-mean"], seeds=[0], results_dir=tmp_path)
    with pytest.raises(ScoringError, match=reason):
        compare(incomplete, ["stub-mean"], seeds=[0], results_dir=tmp_path, **change)


def test_another_table_in_the_same_folder_is_refused(incomplete, tmp_path):
    compare(incomplete, ["stub-mean"], seeds=[0], results_dir=tmp_path)
    changed = incomplete.assign(x=incomplete["x"] + 1)
    with pytest.raises(ScoringError, match="table"):
        compare(changed, ["stub-mean"], seeds=[0], results_dir=tmp_path)


def test_processes_write_to_the_folder_too(incomplete, tmp_path):
    settings = {"methods": ["naive"], "seeds": [0, 1]}
    together = compare(incomplete, **settings, results_dir=tmp_path, n_jobs=2)
    assert together.table["status"].tolist() == ["done", "done"]
    again, ran = run_names(incomplete, tmp_path, **settings)
    assert ran == []
    assert again.per_column.equals(together.per_column)


class LastFirst:
    """Takes all tasks, and runs them from the last to the first."""

    def run(self, next_task):
        tasks = list(iter(next_task, None))
        yield from map(run_task, reversed(tasks))


def test_a_pool_runs_the_tasks_elsewhere_to_the_same_end(incomplete, tmp_path):
    settings = {"methods": ["stub-noisy", "stub-flaky"], "seeds": [0, 1]}
    order = []

    def note(event):
        if isinstance(event, TaskFinished):
            order.append((event.result.method, event.result.seed))

    elsewhere = compare(
        incomplete, **settings, pool=LastFirst(), callbacks=[note], results_dir=tmp_path
    )
    here = compare(incomplete, **settings)
    assert order == [(task.method, task.seed) for task in reversed(here.tasks)]
    assert elsewhere.per_column.equals(here.per_column)
    assert elsewhere.settings == here.settings
    assert len(list(tmp_path.glob("*-seed*.json"))) == 4


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
    labels = Downstream(complete["x"].rename("label"), "regression")
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
