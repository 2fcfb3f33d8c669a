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
from pmae_core.storage.files import write_sealed
from tests.support.seen import buttons, press, questions, shown, text, without_errors, words

PAGE = "compare.py"
METHODS = ["naive", "em"]
PARAMS = {"methods": METHODS, "seeds": [0, 1, 2]}
QUESTION = "Does the method change my result?"


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
    app = without_errors(open_page(PAGE))

    assert {"Start comparison", "How long will it take?", "Quick", "Usual"} <= buttons(app)
    assert "Does the method change my result?" in words(app)
    assert "Imputes every missing number with its column's mean" in words(app).replace("\\", "")


def test_start_hands_in_what_is_set(fill, table, open_page, store, workspace):
    fill(table, name="visits.csv")
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value(METHODS)
    app.number_input(key="compare:n_seeds").set_value(2)
    app.selectbox(key="compare:budget").select(300)
    app.toggle(key="compare:i_score").set_value(True)
    app.slider(key="compare:share").set_value(0.2).run()

    app = without_errors(press(app, "Start comparison"))

    (job,) = store.jobs(workspace.id)
    params = job.spec.params
    assert (params["methods"], params["seeds"]) == (METHODS, [0, 1])
    assert (params["holdout"], params["holdout_share"]) == ("like-mine", 0.2)
    assert (params["budget_seconds"], params["i_score"]) == (300, True)
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

    without_errors(app)
    (start,) = [button for button in app.button if button.label == "Start comparison"]
    assert start.disabled
    assert "Choose at least one method" in words(app)


def test_a_scenario_of_the_lab_can_judge(fill, table, open_page, store, workspace):
    fill(table)
    workspace.save_scenario("half lost", Scenario(mechanism="MCAR", seed=4).to_dict())
    app = open_page(PAGE)
    app.selectbox(key="compare:scenario").select("half lost").run()
    assert "Simulated missing values" in words(app)

    without_errors(press(app, "Start comparison"))

    (job,) = store.jobs(workspace.id)
    assert job.spec.params["amputation"]["mechanism"] == "MCAR"
    assert job.spec.params["seeds"] == [4, 5, 6]
    assert store.get_table(job.spec.table, workspace.id).notna().all(axis=None)


def test_a_scenario_like_mine_comes_with_its_truth(fill, table, open_page, store, workspace):
    fill(table)
    workspace.save_scenario("mine", Scenario(kind="like-mine").to_dict())
    app = open_page(PAGE)
    app.selectbox(key="compare:scenario").select("mine").run()

    without_errors(press(app, "Start comparison"))

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


def with_settings(app):
    """Unfold the settings, which are folded away as soon as there is a run."""
    return app.toggle[0].set_value(True).run()


def conclusions_of(store, workspace):
    return store.jobs(workspace.id)[0].spec.params["conclusions"]


def test_the_mean_of_the_column_with_most_missing_values_is_followed_at_first(
    fill, table, open_page, store, workspace
):
    table.loc[:30, "noise"] = np.nan
    fill(table)

    without_errors(press(open_page(PAGE), "Start comparison"))

    assert conclusions_of(store, workspace) == [["mean", "noise"]]


def test_a_conclusion_in_the_boxes_counts_without_being_added(
    fill, table, open_page, store, workspace
):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="compare:statistic").select("slope").run()
    app.selectbox(key="compare:statistic_column_0").select("y").run()
    app.selectbox(key="compare:statistic_column_1").select("x").run()

    without_errors(press(app, "Start comparison"))

    assert conclusions_of(store, workspace) == [["slope", "y", "x"]]


def test_nothing_has_to_be_followed(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="compare:statistic").select("nothing").run()

    without_errors(press(app, "Start comparison"))

    assert conclusions_of(store, workspace) is None


def test_several_conclusions_and_a_target_go_into_the_run(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="compare:target").select("kind").run()
    app.selectbox(key="compare:statistic_column_0").select("y").run()
    press(app, "Add another")
    app.selectbox(key="compare:statistic_column_0").select("x").run()
    without_errors(press(app, "Start comparison"))

    params = store.jobs(workspace.id)[0].spec.params
    assert params["conclusions"] == [["mean", "y"], ["mean", "x"]]
    assert (params["target"], params["downstream"]) == ("kind", True)

    press(with_settings(open_page(PAGE)), "Remove")
    assert workspace.get("compare")["conclusions"] == []


def test_both_columns_of_a_conclusion_stay_different(fill, table, open_page, store):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="compare:statistic").select("correlation").run()
    second = app.selectbox(key="compare:statistic_column_1").value

    app.selectbox(key="compare:statistic_column_0").select(second).run()

    without_errors(app)
    assert app.selectbox(key="compare:statistic_column_1").value != second


def test_a_table_without_numbers_has_no_conclusion(fill, table, open_page, store, workspace):
    fill(table[["kind"]].assign(other=table["kind"].shift()))

    without_errors(press(open_page(PAGE), "Start comparison"))

    assert conclusions_of(store, workspace) is None


def test_the_preset_of_pmae_is_quick_at_first(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value(["naive", "pmae"]).run()
    press(app, "Start comparison")
    app = with_settings(open_page(PAGE))
    app.button_group(key="compare:preset").set_value("balanced").run()
    without_errors(press(app, "Start comparison"))

    presets = [job.spec.params["method_params"] for job in store.jobs(workspace.id)]
    assert presets == [{"pmae": {"preset": "balanced"}}, {"pmae": {"preset": "fast"}}]


COST = {"method": "naive", "seconds": 2.0, "low": 1.0, "high": 3.0, "busy": 1.0, "error": None}
UNKNOWN = {**COST, "method": "em", "seconds": None, "error": "It failed."}
ESTIMATE = {"total_seconds": 2.0, "total_low": 1.0, "total_high": 3.0, "memory_mb": 100.0}


def test_the_estimated_cost_stands_at_each_method(fill, table, open_page, store, monkeypatch):
    fill(table)
    known = estimates.Answer(estimate={**ESTIMATE, "per_method": [COST, UNKNOWN]})
    monkeypatch.setattr(estimates, "answer", lambda question: known)
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value(METHODS).run()

    said = words(without_errors(app))
    assert "about 2 s per run" in said
    assert "(no estimate)" in said
    assert "**about 8 s**" in said  # three seeds, and once more for the conclusion


def test_asking_starts_an_estimate(fill, table, open_page, store, monkeypatch):
    asked = []
    monkeypatch.setattr(estimates, "start", asked.append)
    fill(table)

    without_errors(press(open_page(PAGE), "How long will it take?"))

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
    assert "Start comparison" in buttons(app)


# While it goes on


def test_a_waiting_comparison(fill, table, open_page, add_job):
    fill(table)
    add_job("compare", PARAMS, name="the contest")

    app = without_errors(open_page(PAGE))

    assert "Next in the queue" in words(app)
    assert "when the first method has finished" in words(app)
    assert "Cancel" in buttons(app)


def look_at(app, detail):
    """Choose one of the details below the answers."""
    return app.button_group(key="compare:detail").set_value(detail).run()


def test_the_ranking_fills_as_results_come_in(fill, table, open_page, add_job, results):
    fill(table)
    progress = JobProgress(0.2, "1 of 6 done; em (seed 0): round 3 of 9", 30.0)
    job = add_job("compare", PARAMS, JobState.RUNNING, progress=progress)
    write_tasks(job, results, {("naive", 0)})
    app = look_at(without_errors(open_page(PAGE)), "Runs")

    runs = shown(app, "seed 0").set_index("Method")["seed 0"]
    assert runs["Expectation maximization"] == "running: round 3 of 9"
    assert float(runs["Mean / mode"]) >= 0
    assert "So far, after 1 of 2 methods and 1 of 3 seeds: only **Mean / mode** has" in text(app)

    write_tasks(job, results, {("naive", 0), ("em", 0), ("naive", 1)})
    app.run()

    assert "So far, after 1 of 3 seeds: **Expectation maximization** leads" in words(
        without_errors(app)
    )
    assert "tied" not in app.markdown[-1].value
    assert len(shown(look_at(app, "All scores"), "imputation_accuracy")) == 2
    assert len(look_at(app, "Export").get("download_button")) >= 4


def test_results_of_each_method_appear_as_they_come(fill, table, open_page, add_job, results):
    fill(table)
    params = {**PARAMS, "conclusions": [["mean", "y"]]}
    job = add_job("compare", params, JobState.RUNNING, progress=JobProgress(0.2, "", 30.0))
    write_tasks(job, results, {("naive", seed) for seed in (0, 1, 2)})
    app = without_errors(open_page(PAGE))
    assert "The result of each method appears here" in words(app)
    assert QUESTION not in questions(app)

    (job.folder / "consequences").mkdir()
    rows = [row for row in CONSEQUENCES["conclusions"] if row["status"] == "done"]
    write_sealed(job.folder / "consequences" / "conclusions-em.json", {"rows": rows})
    app.run()

    assert QUESTION in questions(without_errors(app))


# When it has ended


def test_a_finished_comparison_answers_first(fill, table, open_page, add_job, results):
    fill(table)
    params = {**PARAMS, "conclusions": [["mean", "y"]]}
    job = add_job("compare", params, JobState.SUCCEEDED, result={"n_done": 6})
    write_result(job, results, CONSEQUENCES)

    app = without_errors(open_page(PAGE))

    assert "**Use Expectation maximization**" in words(app)
    assert "No method is shown to beat the mean or mode" in words(app)
    assert questions(app) == [
        "Which method is most accurate?",
        QUESTION,
        "How much better than the mean is each method, column by column?",
    ]
    assert len(app.get("plotly_chart")) == 3
    assert "Mean of y: 1 with Expectation maximization, the only method so far" in text(app)
    assert "Start comparison" not in buttons(app)


def test_cells_open_on_the_recommended_method(fill, table, open_page, add_job, results):
    fill(table)
    job = add_job("compare", PARAMS, JobState.RUNNING)
    write_tasks(job, results, {("naive", 0)})
    app = look_at(open_page(PAGE), "Which cells?")
    assert app.selectbox(key="compare:method:naive").value == "naive"

    write_tasks(job, results, {("naive", 0), ("em", 0)})
    app.run()

    assert app.selectbox(key="compare:method:em").value == "em"
    assert "How close are the imputed values?" in questions(without_errors(app))


def test_changed_roles_are_noticed(fill, table, open_page, add_job, results, workspace):
    fill(table)
    write_result(add_job("compare", PARAMS, JobState.SUCCEEDED), results)
    assert "since this run" not in words(open_page(PAGE))
    workspace.set_roles({"noise": "ignored"})

    app = without_errors(open_page(PAGE))

    assert "The role of `noise` has changed since this run" in words(app)


def test_a_simulated_table_is_not_called_changed(fill, table, open_page, store, workspace):
    fill(table)
    workspace.save_scenario("mine", Scenario(kind="like-mine").to_dict())
    app = open_page(PAGE)
    app.selectbox(key="compare:scenario").select("mine").run()
    press(app, "Start comparison")
    assert "since this run" not in words(without_errors(open_page(PAGE)))
    workspace.set_roles({"noise": "ignored"})

    assert "The role of `noise` has changed" in words(open_page(PAGE))


def test_many_columns_are_shown_in_pages_and_can_be_searched(
    fill, table, open_page, add_job, results
):
    fill(table)
    wide = [
        type(one)(**{**vars(one), "gains": {}, "per_column": [
            {**one.per_column[0], "column": f"c{number}", "skill": number / 100}
            for number in range(45)
        ]})
        for one in results.tasks
    ]  # fmt: skip
    whole = Comparison(tasks=wide, settings=results.settings)
    write_result(add_job("compare", PARAMS, JobState.SUCCEEDED), whole)
    app = without_errors(open_page(PAGE))
    choice = app.selectbox(key="compare:columns_from")
    assert choice.options == ["1 to 20 of 45", "21 to 40 of 45", "41 to 45 of 45"]

    without_errors(choice.select_index(2).run())
    without_errors(app.multiselect(key="compare:columns").set_value(["c7"]).run())


def test_every_metric_and_column_can_be_chosen(fill, table, open_page, add_job, results):
    fill(table)
    write_result(add_job("compare", PARAMS, JobState.SUCCEEDED), results)
    app = open_page(PAGE)

    for metric in app.selectbox(key="compare:metric").options:
        assert metric
    for index in range(len(app.selectbox(key="compare:metric").options)):
        without_errors(app.selectbox(key="compare:metric").select_index(index).run())
    app = look_at(app, "Which cells?")
    for column in ("y", "noise", "kind"):
        without_errors(app.selectbox(key="compare:column").select(column).run())
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

    app = without_errors(open_page(PAGE))
    assert "1 method without all results (Expectation maximization)" in text(app)

    failures = shown(look_at(app, "Runs"), "reason")
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

    app = without_errors(open_page(PAGE))

    assert "No method gave a result" in words(app)
    assert len(shown(app, "reason")) == 2


def test_predictions_and_failed_conclusions_are_shown(fill, table, open_page, add_job, results):
    fill(table)
    params = {**PARAMS, "target": "kind", "downstream": True, "conclusions": [["mean", "y"]]}
    job = add_job("compare", params, JobState.SUCCEEDED)
    write_result(job, results, CONSEQUENCES)

    app = look_at(without_errors(open_page(PAGE)), "Prediction")
    assert "How well is `kind` predicted from each imputed table?" in questions(without_errors(app))
    without_errors(app.radio(key="compare:model").set_value("boosting").run())

    app = without_errors(look_at(app, "Runs"))
    assert "something was odd" in words(app)
    assert shown(app, "error")["error"].tolist() == ["Too many rows."]


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
    assert "Stopped after 1 of 3 seeds" in words(app)
    assert len(shown(look_at(app, "All scores"), "imputation_accuracy")) == 2
    assert len(shown(look_at(app, "Runs"), "reason")) == 2
    press(app, "Resume")
    assert store.job(job.id).state is JobState.QUEUED


def test_a_comparison_of_which_nothing_is_left(fill, table, open_page, add_job):
    fill(table)
    add_job("compare", PARAMS, JobState.SUCCEEDED)

    app = without_errors(open_page(PAGE))

    assert "No method gave a result" in words(app)


def test_an_older_comparison_can_be_chosen(fill, table, open_page, add_job, results):
    fill(table)
    old = add_job("compare", PARAMS, JobState.SUCCEEDED, name="old")
    write_result(old, results)
    add_job("compare", PARAMS, name="new")
    app = open_page(PAGE)
    assert "Next in the queue" in words(app)

    app.selectbox(key="compare:run").select(old.id).run()

    assert "Which method is most accurate?" in questions(without_errors(app))


def test_comparisons_of_others_are_not_seen(fill, table, open_page, store, add_job):
    fill(table)
    mine = add_job("compare", PARAMS, JobState.SUCCEEDED)
    spec = mine.spec
    store.put_table(store.get_table(spec.table, mine.workspace), "other")
    store.delete(mine.id)
    store.submit(spec, "other", name="theirs")

    app = without_errors(open_page(PAGE))

    assert "theirs" not in words(app)
    assert "Which method imputes this table best" in words(app)


@pytest.mark.slow
def test_a_real_comparison_from_start_to_answer(fill, table, open_page, workspace):
    fill(table)
    app = open_page(PAGE)
    app.multiselect(key="compare:methods").set_value(METHODS)
    app.number_input(key="compare:n_seeds").set_value(1).run()
    without_errors(press(app, "Start comparison"))
    store = JobStore()
    (job,) = store.jobs(workspace.id)

    assert LocalEngine(store).wait(job.id, timeout=240).state is JobState.SUCCEEDED

    app = without_errors(open_page(PAGE))
    assert QUESTION in questions(app)
    assert len(shown(look_at(app, "All scores"), "imputation_accuracy")) == 2
