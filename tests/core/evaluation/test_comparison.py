import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import pmae_core.evaluation.comparison as comparison_module
from pmae_core.errors import Cancelled, ImputationError, SchemaError, ScoringError
from pmae_core.evaluation.comparison import NOT_RUN, Comparison, compare
from pmae_core.evaluation.downstream import Downstream
from pmae_core.evaluation.tasks import TaskFinished, TaskProgress, TaskStarted, run_task

pytestmark = pytest.mark.usefixtures("stubs")

METHODS = ["stub-mean", "stub-noisy", "stub-linear", "stub-broken", "stub-flaky"]


@pytest.fixture(scope="module")
def comparison(holes, stubs):
    return compare(holes, METHODS)


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


def test_all_methods_are_judged_by_the_same_cells(comparison):
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
    assert summary.loc["stub-broken", "remark"].startswith("Seed 0, 1, 2: The method broke")
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


def test_files_are_written(comparison, tmp_path):
    paths = comparison.write(tmp_path / "out")
    assert [path.name for path in paths] == [
        *("results.csv", "per_column.csv", "comparison.json", "report.html")
    ]
    assert len(pd.read_csv(paths[0])) == 15
    assert pd.read_csv(paths[1])["column"].tolist() == comparison.per_column["column"].tolist()
    assert Comparison.from_json(paths[2].read_text()).methods == METHODS


def test_events_tell_results_as_they_come(holes):
    events = []
    compare(holes, ["stub-mean", "stub-broken"], seeds=[4, 5], callbacks=[events.append])
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


def test_known_truth_ties_over_columns(complete, holes):
    comparison = compare(holes, ["stub-mean", "stub-linear"], truth=complete)
    assert not comparison.masks_vary
    one, two, three = (task.points for task in comparison.tasks[::2])
    assert one == two == three
    assert comparison.per_column["n_scored"].iloc[0] == holes["y"].isna().sum()
    assert comparison.summary()["rank"].tolist() == [1, 1]


def test_no_method_sees_the_target(holes):
    table = holes.assign(label=holes["y"].fillna(0))
    comparison = compare(table, ["stub-linear"], target="label", seeds=[0])
    without = compare(holes, ["stub-linear"], seeds=[0])
    assert comparison.per_column.equals(without.per_column)


@pytest.mark.parametrize(
    ("kwargs", "error", "reason"),
    [
        ({"methods": ["magic"]}, ImputationError, "magic"),
        ({"methods": []}, ScoringError, "at least one"),
        ({"seeds": []}, ScoringError, "at least one"),
        ({"n_jobs": 0}, ScoringError, "n_jobs"),
        ({"n_jobs": 2, "pool": object()}, ScoringError, "either n_jobs or a pool"),
        ({"method_params": {"em": {}}}, ScoringError, "not compared"),
        ({"method_params": {"stub-mean": {"magic": 1}}}, ImputationError, "magic"),
        ({"method_params": {"stub-mean": {"random_state": 1}}}, ScoringError, "random_state"),
        ({"target": "magic"}, ScoringError, "magic"),
        ({"schema": {"magic": "ignored"}}, SchemaError, "magic"),
        ({"holdout": "magic"}, ScoringError, "magic"),
        ({"holdout": "known-truth"}, ScoringError, "needs `truth`"),
        ({"holdout": "like-mine", "amputation": {}}, ScoringError, "mean nothing"),
        ({"holdout_share": 2.0}, ScoringError, "share"),
    ],
)
def test_what_cannot_work_is_refused_at_once(holes, kwargs, error, reason):
    with pytest.raises(error, match=reason):
        compare(holes, **{"methods": ["stub-mean"], **kwargs})


# ---------------------------------------------------------------- time


@pytest.fixture
def clock(monkeypatch):
    """A clock for the comparison that stands still until a task has finished; a second a task."""
    now = [0.0]

    def tick(event):
        now[0] += isinstance(event, TaskFinished)

    monkeypatch.setattr(comparison_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return tick


def test_when_time_is_up_a_task_is_stopped_and_the_rest_is_not_run(holes, clock):
    comparison = compare(
        holes, ["stub-mean", "stub-slow", "stub-linear"], budget_seconds=1.2, callbacks=[clock]
    )
    assert comparison.table["status"].tolist() == ["done", "stopped"] + ["not run"] * 7
    assert "time budget of 0.2 s" in comparison.tasks[1].error
    assert comparison.tasks[2].error == NOT_RUN == "not run: time budget"


def test_a_method_has_a_budget_of_its_own(holes):
    comparison = compare(holes, ["stub-slow", "stub-mean"], method_budget_seconds=0.1, seeds=[0])
    assert comparison.table["status"].tolist() == ["stopped", "done"]
    summary = comparison.summary()
    assert "time budget of 0.1 s" in summary.loc["stub-slow", "remark"]
    assert summary.index[0] == "stub-mean"


def test_the_user_can_stop(holes, tmp_path):
    finished = []

    def note(event):
        finished.extend([event] if isinstance(event, TaskFinished) else [])

    with pytest.raises(Cancelled):
        compare(
            holes,
            ["stub-mean"],
            callbacks=[note],
            cancel=lambda: len(finished) == 2,
            results_dir=tmp_path,
        )
    assert len(list(tmp_path.glob("stub-mean*.json"))) == 2


# ---------------------------------------------------------------- resuming


def run_names(holes, folder, methods, callbacks=(), **kwargs):
    """Compare, and name the tasks that were run and not read."""
    run = []

    def note(event):
        if isinstance(event, TaskStarted):
            run.append(f"{event.method} {event.seed}")

    comparison = compare(holes, methods, callbacks=[note, *callbacks], results_dir=folder, **kwargs)
    return comparison, run


def test_finished_tasks_are_not_run_again(holes, tmp_path):
    first, ran = run_names(holes, tmp_path, ["stub-noisy", "stub-broken"], seeds=[0])
    assert len(ran) == 2
    second, ran = run_names(holes, tmp_path, ["stub-noisy", "stub-broken"], seeds=[0])
    assert ran == []
    assert second.to_json() == first.to_json()


def test_more_methods_and_seeds_join(holes, tmp_path):
    run_names(holes, tmp_path, ["stub-mean"], seeds=[0])
    _, ran = run_names(holes, tmp_path, ["stub-mean", "stub-linear"], seeds=[0, 1])
    assert ran == ["stub-linear 0", "stub-mean 1", "stub-linear 1"]


def test_failures_are_run_again_on_request(holes, tmp_path):
    run_names(holes, tmp_path, ["stub-flaky"])
    _, ran = run_names(holes, tmp_path, ["stub-flaky"], retry_failed=True)
    assert ran == ["stub-flaky 1"]


def test_more_time_lets_a_stopped_method_try_again(holes, tmp_path):
    for budget, expected in ((0.05, ["stub-slow 0"]), (0.05, []), (0.1, ["stub-slow 0"])):
        _, ran = run_names(holes, tmp_path, ["stub-slow"], seeds=[0], method_budget_seconds=budget)
        assert ran == expected


def test_what_only_lacked_time_for_all_is_run_the_next_time(holes, tmp_path, clock):
    methods = ["stub-slow", "stub-mean"]
    for _ in range(2):
        _, ran = run_names(
            holes, tmp_path, methods, seeds=[0], budget_seconds=0.2, callbacks=[clock]
        )
        assert ran == ["stub-slow 0"]
    _, ran = run_names(holes, tmp_path, ["stub-mean"], seeds=[0])
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
def test_another_comparison_in_the_same_folder_is_refused(holes, tmp_path, change, reason):
    compare(holes, ["stub-mean"], seeds=[0], results_dir=tmp_path)
    with pytest.raises(ScoringError, match=reason):
        compare(holes, ["stub-mean"], seeds=[0], results_dir=tmp_path, **change)


def test_another_table_in_the_same_folder_is_refused(holes, tmp_path):
    compare(holes, ["stub-mean"], seeds=[0], results_dir=tmp_path)
    changed = holes.assign(x=holes["x"] + 1)
    with pytest.raises(ScoringError, match="table"):
        compare(changed, ["stub-mean"], seeds=[0], results_dir=tmp_path)


def test_processes_fill_the_folder_too(holes, tmp_path):
    settings = {"methods": ["naive"], "seeds": [0, 1]}
    together = compare(holes, **settings, results_dir=tmp_path, n_jobs=2)
    assert together.table["status"].tolist() == ["done", "done"]
    again, ran = run_names(holes, tmp_path, **settings)
    assert ran == []
    assert again.per_column.equals(together.per_column)


class LastFirst:
    """Takes all tasks, and runs them from the last to the first."""

    def run(self, next_task):
        tasks = list(iter(next_task, None))
        yield from map(run_task, reversed(tasks))


def test_a_pool_runs_the_tasks_elsewhere_to_the_same_end(holes, tmp_path):
    settings = {"methods": ["stub-noisy", "stub-flaky"], "seeds": [0, 1]}
    order = []

    def note(event):
        if isinstance(event, TaskFinished):
            order.append((event.result.method, event.result.seed))

    elsewhere = compare(holes, **settings, pool=LastFirst(), callbacks=[note], results_dir=tmp_path)
    here = compare(holes, **settings)
    assert order == [(task.method, task.seed) for task in reversed(here.tasks)]
    assert elsewhere.per_column.equals(here.per_column)
    assert elsewhere.settings == here.settings
    assert len(list(tmp_path.glob("*-seed*.json"))) == 4


def test_one_imputer_is_compared_with_itself_under_other_parameters(holes, tmp_path):
    arguments = {
        "methods": ["stub-mean", "shifted"],
        "seeds": [0],
        "imputers": {"shifted": "stub-mean"},
        "method_params": {"shifted": {"shift": 0.3}},
        "results_dir": tmp_path,
    }
    rmse = compare(holes, **arguments).table.set_index("method")["rmse"]
    assert rmse["shifted"] > rmse["stub-mean"]
    heard = []
    compare(holes, **arguments, callbacks=(heard.append,))
    assert all(event.from_disk for event in heard if isinstance(event, TaskFinished))
    with pytest.raises(ScoringError, match="other parameters"):
        compare(holes, **{**arguments, "imputers": {"shifted": "stub-noisy"}})
    with pytest.raises(ScoringError, match="parameters for absent, which is not compared"):
        compare(holes, ["stub-mean"], imputers={"absent": "stub-mean"})


def test_labels_are_predicted_from_each_filled_table(complete, tmp_path):
    labels = Downstream(complete["x"].rename("label"), "regression")
    holes = {"pattern": "general"}
    results = compare(
        complete,
        ["stub-mean", "stub-linear"],
        seeds=[0],
        amputation=holes,
        downstream=labels,
        results_dir=tmp_path,
    )
    scores = {task.method: task.downstream for task in results.tasks}
    assert scores["stub-linear"]["metric"] == "r2"
    assert 1 > scores["stub-linear"]["linear"] > 0.3
    assert scores["stub-linear"]["linear"] != scores["stub-mean"]["linear"]
    assert compare(complete, ["stub-mean"], seeds=[0], amputation=holes).tasks[0].downstream == {}
    with pytest.raises(ScoringError, match="not the same: downstream"):
        compare(complete, ["stub-mean"], seeds=[0], amputation=holes, results_dir=tmp_path)
