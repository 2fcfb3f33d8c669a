"""Running a comparison: events, time, resuming and pools."""

from types import SimpleNamespace

import pytest

from pmae_core.errors import Cancelled, ScoringError
from pmae_core.evaluation import comparing, comparison_run
from pmae_core.evaluation.comparing import compare
from pmae_core.evaluation.comparison_run import NOT_RUN
from pmae_core.evaluation.tasks import (
    TaskFinished,
    TaskProgress,
    TaskResult,
    TaskStarted,
    run_task,
)

pytestmark = pytest.mark.usefixtures("stubs")


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


def test_the_time_left_is_that_of_the_methods_that_are_to_run(incomplete, monkeypatch):
    """A slow method takes 9 s and a quick one 1 s; the clock says twice as much has passed."""
    now = [0.0]
    monkeypatch.setattr(comparison_run, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def run(task, **_):
        seconds = 9.0 if task.method == "stub-linear" else 1.0
        now[0] += 2 * seconds
        return TaskResult(method=task.method, seed=task.seed, status="done", fit_seconds=seconds)

    monkeypatch.setattr(comparison_run, "run_task", run)
    events = []
    compare(incomplete, ["stub-mean", "stub-linear"], seeds=[4, 5], callbacks=[events.append])

    left = [event.eta_seconds for event in events if isinstance(event, TaskFinished)]
    # After the first task all others are expected to be as quick.
    assert left == [6.0, 20.0, 18.0, 0.0]


def test_results_from_disk_say_nothing_of_the_time_left(incomplete, tmp_path):
    compare(incomplete, ["stub-mean"], seeds=[4], results_dir=tmp_path)
    events = []
    compare(
        incomplete, ["stub-mean"], seeds=[4, 5], results_dir=tmp_path, callbacks=[events.append]
    )

    first, second = (event for event in events if isinstance(event, TaskFinished))
    assert (first.from_disk, first.eta_seconds) == (True, None)
    assert second.eta_seconds == 0.0


def test_methods_run_in_the_order_asked_for_and_results_keep_theirs(incomplete):
    events = []
    comparison = compare(
        incomplete,
        ["stub-linear", "stub-mean"],
        seeds=[4, 5],
        callbacks=[events.append],
        run_order=["stub-mean", "stub-linear"],
    )

    started = [(event.method, event.seed) for event in events if isinstance(event, TaskStarted)]
    assert started == [(name, seed) for name in ("stub-mean", "stub-linear") for seed in (4, 5)]
    assert comparison.table["method"].tolist() == ["stub-linear", "stub-mean"] * 2


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


def test_results_without_the_scores_asked_for_are_computed_again(incomplete, tmp_path):
    methods = ["stub-drawing", "stub-mean"]

    def names(**kwargs):
        return run_names(incomplete, tmp_path, methods, seeds=[0], **kwargs)[1]

    assert len(names(imputations=0)) == 2
    assert names(imputations=0) == []
    assert len(names(imputations=3)) == 2
    assert names(imputations=3) == names(imputations=0) == []
    assert len(names(imputations=4)) == 2
    assert len(names(imputations=4, i_score=True)) == 2
    assert names(imputations=4, i_score=True) == names(imputations=4) == []
