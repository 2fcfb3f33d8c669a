"""The Compare page in every state a comparison can be in."""

import json

import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.scenario import Scenario
from dashboard.runs import estimates
from pmae_core.errors import JobError
from pmae_core.evaluation import Comparison, compare
from pmae_core.jobs import JobProgress, JobState, JobStore
from pmae_core.jobs.engines import LocalEngine
from tests.support.seen import buttons, calm, press, questions, shown, words

PAGE = "compare.py"
METHODS = ["naive", "em"]
PARAMS = {"methods": METHODS, "seeds": [0, 1, 2]}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = 2 * x + 0.1 * rng.normal(size=80)
    frame = pd.DataFrame({"x": x, "y": y, "noise": rng.normal(size=80)})
    frame["kind"] = np.where(x > 0, "a", "b")
    frame.loc[::5, "y"] = np.nan
    frame.loc[1::5, "noise"] = np.nan
    frame.loc[2::5, "kind"] = None
    return frame


@pytest.fixture(scope="module")
def results():
    """Real results of two quick methods, by (method, seed)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    frame = pd.DataFrame({"x": x, "y": 2 * x + 0.1 * rng.normal(size=80)})
    frame["noise"] = rng.normal(size=80)
    frame["kind"] = np.where(x > 0, "a", "b")
    frame.loc[::5, "y"] = np.nan
    frame.loc[1::5, "noise"] = np.nan
    frame.loc[2::5, "kind"] = None
    return compare(frame, METHODS, seeds=[0, 1, 2])


def write_tasks(job, comparison, keys):
    folder = job.folder / "tasks"
    folder.mkdir(exist_ok=True)
    known = {k: comparison.settings[k] for k in ("holdout", "n_rows", "n_columns", "n_missing")}
    (folder / "specification.json").write_text(json.dumps(known))
    for one in comparison.tasks:
        if (one.method, one.seed) in keys:
            path = folder / f"{one.method}-seed{one.seed}.json"
            path.write_text(json.dumps({"params": {}, "result": one.to_dict()}))


def write_result(job, comparison, consequences=None):
    (job.folder / "result").mkdir()
    (job.folder / "result" / "comparison.json").write_text(comparison.to_json())
    if consequences is not None:
        text = json.dumps(consequences)
        (job.folder / "result" / "consequences.json").write_text(text)


CONSEQUENCES = {
    "downstream": [
        {"method": m, "kind": kind, "model": model, "seed": s, "status": "done", "error": "",
         "metric": "auroc", "score": 0.7 + 0.1 * s, "n_train": 50, "n_test": 20, "how": "so"}
        for m, kind in (("naive", "method"), ("em", "method"), ("complete cases", "reference"))
        for model in ("linear", "boosting")
        for s in (0, 1)
    ],
    "conclusions": [
        {"estimand": "mean of y", "method": m, "kind": kind, "status": status, "error": error,
         "estimate": 1.0, "std_error": 0.1, "low": 0.8, "high": 1.2, "note": ""}
        for m, kind, status, error in (
            ("complete cases", "reference", "done", ""),
            ("em", "pooled", "done", ""),
            ("knn", "method", "failed", "Too many rows."),
        )
    ],
    "notes": ["Downstream: something was odd."],
}  # fmt: skip


# Before any comparison


def test_a_newcomer_sees_what_to_do(open_page, store):
    app = calm(open_page(PAGE))

    assert {"Start comparison", "How long will it take?", "Quick", "Usual"} <= buttons(app)
    assert "You have compared nothing yet" in words(app)
    assert "Imputes every missing number with its column's mean" in words(app).replace("\\", "")


def test_start_hands_in_what_is_set(fill, table, open_page, store, workspace):
    fill(table, name="visits.csv")
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value(METHODS)
    app.number_input(key="compare:n_seeds").set_value(2)
    app.selectbox(key="compare:budget").select(300)
    app.slider(key="compare:share").set_value(0.2).run()

    app = calm(press(app, "Start comparison"))

    (job,) = store.jobs(workspace.id)
    params = job.spec.params
    assert (params["methods"], params["seeds"]) == (METHODS, [0, 1])
    assert (params["holdout"], params["holdout_share"]) == ("like-mine", 0.2)
    assert params["budget_seconds"] == 300
    assert "on visits.csv, 2 seeds" in job.name
    assert "Next in the queue" in words(app)


def test_a_ready_made_choice_sets_the_methods(drawn, open_page, store):
    app = press(open_page(PAGE), "Quick")

    methods = drawn(app.multiselect, "compare:methods").value
    assert methods == ["naive", "knn", "em", "softimpute"]
    assert open_page(PAGE).multiselect(key="compare:methods").value[1] == "knn"


def test_without_a_method_nothing_can_start(open_page, store):
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value([]).run()

    calm(app)
    (start,) = [button for button in app.button if button.label == "Start comparison"]
    assert start.disabled
    assert "Choose at least one method" in words(app)


def test_a_scenario_of_the_lab_can_judge(fill, table, open_page, store, workspace):
    fill(table)
    workspace.save_scenario("half lost", Scenario(mechanism="MCAR", seed=4).to_dict())
    app = open_page(PAGE)
    app.selectbox(key="compare:scenario").select("half lost").run()
    assert "Holes made on purpose" in words(app)

    calm(press(app, "Start comparison"))

    (job,) = store.jobs(workspace.id)
    assert job.spec.params["amputation"]["mechanism"] == "MCAR"
    assert job.spec.params["seeds"] == [4, 5, 6]
    assert store.get_table(job.spec.table, workspace.id).notna().all(axis=None)


def test_holes_like_mine_have_their_truth_beside_them(fill, table, open_page, store, workspace):
    fill(table)
    workspace.save_scenario("mine", Scenario(kind="like-mine").to_dict())
    app = open_page(PAGE)
    app.selectbox(key="compare:scenario").select("mine").run()

    calm(press(app, "Start comparison"))

    (job,) = store.jobs(workspace.id)
    truth = store.get_table(job.spec.params["truth"], workspace.id)
    assert truth.notna().all(axis=None)


def test_a_scenario_that_does_not_fit_is_a_sentence(fill, table, open_page, store, workspace):
    fill(table)
    lost = Scenario(columns=("gone",), mechanism="MCAR")
    workspace.save_scenario("old", lost.to_dict())
    workspace.save_scenario("broken", {"kind": "?"})
    app = open_page(PAGE)
    assert "cannot be read" in words(app)
    app.selectbox(key="compare:scenario").select("old").run()

    app = press(app, "Start comparison")

    assert not app.exception
    assert store.jobs(workspace.id) == []


def test_conclusions_and_a_target_go_into_the_job(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="compare:target").select("kind").run()
    app.selectbox(key="compare:new_kind").select("slope").run()
    app.selectbox(key="compare:new_column_0").select("y").run()
    app.selectbox(key="compare:new_column_1").select("x").run()
    press(app, "Add this conclusion")
    calm(press(app, "Start comparison"))

    params = store.jobs(workspace.id)[0].spec.params
    assert params["conclusions"] == [["slope", "y", "x"]]
    assert (params["target"], params["downstream"]) == ("kind", True)

    app = press(open_page(PAGE), "Remove")
    assert workspace.get("compare")["conclusions"] == []


def test_both_columns_of_a_conclusion_stay_different(fill, table, open_page, store):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="compare:new_kind").select("correlation").run()
    second = app.selectbox(key="compare:new_column_1").value

    app.selectbox(key="compare:new_column_0").select(second).run()

    calm(app)
    assert app.selectbox(key="compare:new_column_1").value != second


COST = {"method": "naive", "seconds": 2.0, "low": 1.0, "high": 3.0, "busy": 1.0, "error": None}
UNKNOWN = {**COST, "method": "em", "seconds": None, "error": "It failed."}
ESTIMATE = {"total_seconds": 2.0, "total_low": 1.0, "total_high": 3.0, "memory_mb": 100.0}


def test_the_estimated_cost_stands_at_each_method(fill, table, open_page, store, monkeypatch):
    fill(table)
    known = estimates.Answer(estimate={**ESTIMATE, "per_method": [COST, UNKNOWN]})
    monkeypatch.setattr(estimates, "answer", lambda question: known)
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value(METHODS).run()

    said = words(calm(app))
    assert "about 2 s per run" in said
    assert "(no estimate)" in said
    assert "**about 6 s**" in said  # three seeds


def test_asking_starts_an_estimate(fill, table, open_page, store, monkeypatch):
    asked = []
    monkeypatch.setattr(estimates, "start", asked.append)
    fill(table)

    calm(press(open_page(PAGE), "How long will it take?"))

    assert [question.kind for question in asked] == ["compare"]


def test_an_estimate_that_cannot_begin_leaves_the_page_as_it_is(
    fill, table, open_page, store, monkeypatch
):
    def refuse(question):
        raise JobError("Other estimates are still running.")

    monkeypatch.setattr(estimates, "start", refuse)
    fill(table)

    app = press(open_page(PAGE), "How long will it take?")

    assert not app.exception
    assert "Other estimates are still running" in app.error[0].value
    assert "You have compared nothing yet" in words(app)


# While it goes on


def test_a_waiting_comparison(fill, table, open_page, add_job):
    fill(table)
    add_job("compare", PARAMS, name="the contest")

    app = calm(open_page(PAGE))

    assert "Next in the queue" in words(app)
    assert "as soon as the first method is done" in words(app)
    assert "Cancel" in buttons(app)


def test_the_board_fills_as_results_come_in(fill, table, open_page, add_job, results):
    fill(table)
    progress = JobProgress(0.2, "1 of 6 done; em (seed 0): round 3 of 9", 30.0)
    job = add_job("compare", PARAMS, JobState.RUNNING, progress=progress)
    write_tasks(job, results, {("naive", 0)})
    app = calm(open_page(PAGE))

    runs = shown(app, "seed 0").set_index("Method")["seed 0"]
    assert runs["Expectation maximization"] == "running: round 3 of 9"
    assert float(runs["Mean / mode"]) >= 0
    assert "1 method has no result yet" in words(app)
    assert "the only method with a result" in words(app)

    write_tasks(job, results, {("naive", 0), ("em", 0), ("naive", 1)})
    app.run()

    assert "ranked on seed 0 of 3" in words(calm(app))
    assert len(shown(app, "imputation_accuracy")) == 2
    assert "Take it away" in questions(app)


# When it has ended


def test_a_finished_comparison(fill, table, open_page, add_job, results):
    fill(table)
    job = add_job("compare", PARAMS, JobState.SUCCEEDED, result={"n_done": 6})
    write_result(job, results)

    app = calm(open_page(PAGE))

    said = words(app)
    assert "is best; no other method is tied with it" in said or "tied with it (95%" in said
    assert "No method beats the mean" in said
    assert questions(app)[:4] == [
        "Which method comes closest to the truth?",
        "Who wins which column?",
        "How near do single cells come?",
        "Do the fillings look like real values?",
    ]
    assert len(app.get("plotly_chart")) == 4
    assert len(app.get("download_button")) >= 4
    assert "What gave no result, and why" not in questions(app)


def test_every_metric_and_column_can_be_chosen(fill, table, open_page, add_job, results):
    fill(table)
    write_result(add_job("compare", PARAMS, JobState.SUCCEEDED), results)
    app = open_page(PAGE)

    for metric in app.selectbox(key="compare:metric").options:
        assert metric
    for index in range(len(app.selectbox(key="compare:metric").options)):
        calm(app.selectbox(key="compare:metric").select_index(index).run())
    for column in ("y", "noise", "kind"):
        calm(app.selectbox(key="compare:column").select(column).run())
        assert f"`{column}`" in words(app)


def test_failures_are_listed_with_their_reasons(fill, table, open_page, add_job, results):
    fill(table)
    tasks = [
        one if one.method == "naive" else type(one)(
            method="em", seed=one.seed, status="failed", error="It needs <more> rows."
        )
        for one in results.tasks
    ]  # fmt: skip
    broken = Comparison(tasks=tasks, settings=results.settings)
    write_result(add_job("compare", PARAMS, JobState.SUCCEEDED), broken)

    app = calm(open_page(PAGE))

    failures = shown(app, "reason")
    assert failures.to_dict("records") == [
        {
            "method": "Expectation maximization",
            "seeds": "0, 1, 2",
            "status": "failed",
            "reason": "It needs <more> rows.",
        }
    ]


def test_when_everything_failed_the_page_says_so(fill, table, open_page, add_job, results):
    fill(table)
    tasks = [
        type(one)(method=one.method, seed=one.seed, status="failed", error="No.")
        for one in results.tasks
    ]
    broken = Comparison(tasks=tasks, settings=results.settings)
    write_result(add_job("compare", PARAMS, JobState.SUCCEEDED), broken)

    app = calm(open_page(PAGE))

    assert "No method gave a result" in words(app)
    assert len(shown(app, "reason")) == 2


def test_what_follows_is_shown(fill, table, open_page, add_job, results):
    fill(table)
    params = {**PARAMS, "target": "kind", "downstream": True, "conclusions": [["mean", "y"]]}
    job = add_job("compare", params, JobState.SUCCEEDED)
    write_result(job, results, CONSEQUENCES)

    app = calm(open_page(PAGE))

    assert "How well is `kind` predicted from each filled table?" in questions(app)
    assert "Does the mean of y depend on the method?" in questions(app)
    assert "the only method here" in words(app)
    assert "something was odd" in words(app)
    assert shown(app, "error")["error"].tolist() == ["Too many rows."]
    calm(app.radio(key="compare:model").set_value("boosting").run())


@pytest.mark.parametrize("state", ["cancelled", "interrupted", "failed"])
def test_what_was_broken_off_keeps_its_results(
    fill, table, open_page, add_job, results, store, state
):
    fill(table)
    job = add_job("compare", PARAMS, state, error="The server was stopped.")
    write_tasks(job, results, {("naive", 0), ("em", 0)})

    app = open_page(PAGE)

    assert not app.exception
    assert {"Resume", "Remove permanently"} <= buttons(app)
    assert len(shown(app, "imputation_accuracy")) == 2
    assert len(shown(app, "reason")) == 2
    press(app, "Resume")
    assert store.job(job.id).state is JobState.QUEUED


def test_a_comparison_of_which_nothing_is_left(fill, table, open_page, add_job):
    fill(table)
    add_job("compare", PARAMS, JobState.SUCCEEDED)

    app = calm(open_page(PAGE))

    assert "No method gave a result" in words(app)


def test_an_older_comparison_can_be_chosen(fill, table, open_page, add_job, results):
    fill(table)
    old = add_job("compare", PARAMS, JobState.SUCCEEDED, name="old")
    write_result(old, results)
    add_job("compare", PARAMS, name="new")
    app = open_page(PAGE)
    assert "Next in the queue" in words(app)

    app.selectbox(key="compare:run").select(old.id).run()

    assert "Which method comes closest to the truth?" in questions(calm(app))


def test_comparisons_of_others_are_not_seen(fill, table, open_page, store, add_job):
    fill(table)
    mine = add_job("compare", PARAMS, JobState.SUCCEEDED)
    spec = mine.spec
    store.put_table(store.get_table(spec.table, mine.workspace), "other")
    store.delete(mine.id)
    store.submit(spec, "other", name="theirs")

    app = calm(open_page(PAGE))

    assert "theirs" not in words(app)
    assert "You have compared nothing yet" in words(app)


@pytest.mark.slow
def test_a_real_comparison_from_start_to_board(fill, table, open_page, workspace):
    fill(table)
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value(METHODS)
    app.number_input(key="compare:n_seeds").set_value(1).run()
    calm(press(app, "Start comparison"))
    store = JobStore()
    (job,) = store.jobs(workspace.id)

    assert LocalEngine(store).wait(job.id, timeout=240).state is JobState.SUCCEEDED

    app = calm(open_page(PAGE))
    assert len(shown(app, "imputation_accuracy")) == 2
