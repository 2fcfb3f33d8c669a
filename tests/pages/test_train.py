"""The Train page in every state a run can be in."""

import json

import numpy as np
import pandas as pd
import pytest

from dashboard.runs import STATE_WORDS, estimates
from pmae_core.jobs import JobProgress, JobState, JobStore
from pmae_core.jobs.engines import LocalEngine
from tests.support.seen import buttons, press, questions, shown, without_errors, words

PARAMS = {"method": "pmae-mix", "params": {"preset": "fast"}}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    frame = pd.DataFrame({"x": x, "y": 2 * x, "kind": np.where(x > 0, "a", "b")})
    frame.loc[::5, "y"] = np.nan
    return frame


def started(first_step=0, total_steps=400, device="cpu"):
    data = {
        "first_step": first_step,
        "total_steps": total_steps,
        "device": device,
        "precision": "float32",
        "n_rows": 60,
        "n_parameters": 12345,
    }
    return ("TrainingStarted", data)


def progress(step, loss, score=None, columns=3):
    data = {
        "step": step,
        "total_steps": 400,
        "prediction_loss": loss,
        "reconstruction_loss": loss / 2,
        "column_losses": [[loss, loss / 2]] * (columns - 1) + [[None, loss]],
        "validation_score": score,
        "learning_rate": 1e-3,
        "rows_per_second": 1000.0,
        "eta_seconds": 12.0,
    }
    return ("TrainingProgress", data)


def references(columns=3):
    scores = {"mean": 1.0, "gaussian": 0.8}
    data = {
        "n_cells": [20] * columns,
        "scores": scores,
        "column_scores": {name: [score] * columns for name, score in scores.items()},
    }
    return ("ReferencesScored", data)


def validated(step, score, columns=3):
    data = {
        "step": step,
        "score": score,
        "is_best": True,
        "noise": 0.01,
        "column_scores": [score] * columns,
    }
    return ("ValidationScored", data)


OLD_EVENTS = [started(), *(progress(10 * i, 1 / i, 0.5 / i) for i in range(1, 21))]
EVENTS = [
    started(),
    references(),
    *(validated(10 * i, 0.8 - 0.02 * i) for i in range(11)),
    *(progress(10 * i, 1 / i, 0.5 / i) for i in range(1, 21)),
]
SKILL, GAIN = "How much better than the mean?", "How much does training add?"
LOSSES = "Does the training error fall?"
DONE = {
    "n_imputed": 12,
    "still_missing": {},
    "notes": [],
    "training": {"reason": "early", "step": 200, "best_step": 180, "best_score": 0.025},
}


def choose_preset(app, preset):
    return app.button_group(key="train:preset").set_value(preset).run()


def choose_view(app, view):
    return app.button_group(key="train:view").set_value(view).run()


def settings_of(app):
    """Return what the view of a run's settings says."""
    found = shown(choose_view(app, "Settings of this run"), "Setting")
    return dict(zip(found["Setting"], found["Value"], strict=True))


# Before any run


def test_a_newcomer_can_train_on_the_sample(open_page, store):
    app = without_errors(open_page("train.py"))

    assert {"Start training", "How long will it take?"} <= buttons(app)
    assert "No run yet" in words(app)
    assert "on the processor of this computer" in words(app)


def test_without_a_store_the_page_makes_no_job(open_page, workspace):
    app = without_errors(open_page("train.py"))

    assert "No run yet" in words(app)


def test_a_table_without_a_column_to_learn_says_what_to_do(fill, open_page, store):
    fill(pd.DataFrame({"a": [1.0, 1.0, None]}))

    app = without_errors(open_page("train.py"))

    assert "No column of this table can be learned" in words(app)
    assert "Start training" not in buttons(app)


def test_a_complete_table_is_no_dead_end(fill, table, open_page, store):
    fill(table.dropna().reset_index(drop=True))

    app = without_errors(open_page("train.py"))

    assert "This table has no missing values" in words(app)
    assert "Start training" in buttons(app)


# Starting


def test_start_hands_in_what_is_set(fill, table, open_page, store, workspace):
    fill(table, name="mine.csv")
    app = open_page("train.py")
    app.selectbox(key="train:architecture").select("transformer").run()
    choose_preset(app, "fast")
    app.number_input(key="train:fast__width").set_value(64).run()
    app.number_input(key="train:seed").set_value(7).run()

    app = without_errors(press(app, "Start training"))

    (job,) = store.jobs(workspace.id)
    assert job.name == "PMAE (transformer) on mine.csv, Quick, seed 7"
    assert job.spec.params["method"] == "pmae-trf"
    assert job.spec.params["params"] == {
        "masking": "logit", "a": 0.05, "b": 0.5, "preset": "fast", "width": 64,
    }  # fmt: skip
    assert job.spec.seed == 7
    pd.testing.assert_frame_equal(store.get_table(job.spec.table, workspace.id), table)
    assert "Next in the queue" in words(app)


def test_settings_survive_a_reload(drawn, fill, table, open_page, store):
    fill(table)
    app = open_page("train.py")
    choose_preset(app, "fast")
    app.number_input(key="train:fast__width").set_value(64).run()

    again = without_errors(open_page("train.py"))

    assert again.button_group(key="train:preset").value == "fast"
    assert again.number_input(key="train:fast__width").value == 64
    assert "Different from the preset: `width`" in words(again)
    again = without_errors(press(again, "Reset to the preset"))
    assert drawn(again.number_input, "train:fast__width").value == 32


def test_the_masking_of_the_lab_is_taken(fill, table, open_page, store, workspace):
    fill(table)
    workspace.update("masking_lab", function="logit", a=0.2)
    app = open_page("train.py")
    assert "Logit (PMAE) with a = 0.2, b = 0.5" in words(app).replace("\\", "")

    press(app, "Start training")

    (job,) = store.jobs(workspace.id)
    assert job.spec.params["params"] == {
        "masking": "logit", "a": 0.2, "b": 0.5, "preset": "balanced",
    }  # fmt: skip


def test_the_masking_of_the_lab_can_be_left(fill, table, open_page, store, workspace):
    fill(table)
    workspace.update("masking_lab", function="linear")
    app = open_page("train.py")

    app = without_errors(app.toggle(key="train:lab_masking").set_value(False).run())

    assert app.selectbox(key="train:function").value == "logit"


def test_what_cannot_be_built_is_said_before_the_start(fill, table, open_page, store):
    fill(table)
    app = open_page("train.py")
    app.selectbox(key="train:architecture").select("transformer").run()

    app = without_errors(app.number_input(key="train:balanced__heads").set_value(5).run())

    assert "5 attention heads do not divide a width of 32" in words(app)
    (start,) = [button for button in app.button if button.label == "Start training"]
    assert start.disabled


def test_a_training_in_epochs_has_no_steps(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page("train.py")
    app.selectbox(key="train:balanced__unit").select("epochs").run()
    app.number_input(key="train:balanced__epochs").set_value(5).run()

    press(app, "Start training")

    params = store.jobs(workspace.id)[0].spec.params["params"]
    assert (params["epochs"], params["warmup_epochs"], params["warmup_steps"]) == (5, 20, 0)
    assert "steps" not in params


# The estimate


COST = {"method": "pmae-mix", "seconds": 42.0, "busy": 1.0, "error": None}
ESTIMATE = {
    "per_method": [COST],
    "total_seconds": 42.0,
    "total_low": 30.0,
    "total_high": 60.0,
    "memory_mb": 300.0,
}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (estimates.Answer(running=True), "Training for a few seconds"),
        (estimates.Answer(estimate=ESTIMATE), "**about 42 s** and 300 MB"),
        (estimates.Answer(error="It_timed out."), r"It\_timed out"),
    ],
)
def test_the_estimate_in_words(fill, table, open_page, store, monkeypatch, answer, said):
    fill(table)
    monkeypatch.setattr(estimates, "answer", lambda question: answer)

    app = without_errors(open_page("train.py"))

    assert said in words(app)


def test_asking_starts_an_estimate_of_what_is_set(fill, table, open_page, store, monkeypatch):
    fill(table)
    asked = []
    monkeypatch.setattr(estimates, "start", asked.append)
    app = open_page("train.py")
    choose_preset(app, "fast")

    without_errors(press(app, "How long will it take?"))

    (question,) = asked
    assert json.loads(question.params)["params"]["preset"] == "fast"


def test_a_job_knows_its_estimate(fill, table, open_page, store, workspace, monkeypatch):
    fill(table)
    monkeypatch.setattr(estimates, "answer", lambda question: estimates.Answer(estimate=ESTIMATE))

    app = press(open_page("train.py"), "Start training")

    assert store.jobs(workspace.id)[0].estimate["total_seconds"] == 42.0
    assert settings_of(app)["Estimated time"] == "about 42 s"


# Runs in every state


def test_a_run_that_waits(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, name="first")
    add_job("train", PARAMS, name="second")

    app = without_errors(open_page("train.py"))

    assert "1 run ahead in the queue" in words(app)
    assert "Cancel" in buttons(app)
    assert "Resume" not in buttons(app)
    assert questions(app) == [SKILL, GAIN]


def test_a_run_that_begins(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.RUNNING)

    app = without_errors(open_page("train.py"))

    assert "**Starting.**" in words(app)
    assert questions(app) == [SKILL, GAIN]


def test_a_run_that_learns(fill, table, open_page, add_job):
    fill(table)
    add_job(
        "train",
        PARAMS,
        JobState.RUNNING,
        events=EVENTS,
        progress=JobProgress(0.5, "step 200 of 400", 12.0),
    )

    app = without_errors(open_page("train.py"))

    (bar,) = app.get("progress")
    assert bar.proto.value == 50
    assert "step 200 of 400, about 12 s left" in bar.proto.text
    assert questions(app) == [SKILL, GAIN, LOSSES]
    assert "**The network learns.** Held-out error is 40% lower than with mean" in words(app)
    assert "Cancel" in buttons(app)
    shown = settings_of(app)
    assert shown["Device"] == "processor of this computer"
    assert shown["Network size"] == "12,345 weights"
    assert shown["Speed"] == "1,000 rows per second"


def test_new_events_arrive(fill, table, open_page, add_job, store):
    fill(table)
    job = add_job("train", PARAMS, JobState.RUNNING)
    app = open_page("train.py")
    assert "**Starting.**" in words(app)

    store.append_events(job.id, job.token, EVENTS)

    assert "**The network learns.**" in words(without_errors(app.run()))


def test_a_run_that_ends_while_it_is_watched(fill, table, open_page, add_job, store):
    fill(table)
    job = add_job("train", PARAMS, JobState.RUNNING, events=EVENTS)
    app = open_page("train.py")

    store.finish(job.id, job.token, JobState.SUCCEEDED, result=DONE)
    app = without_errors(app.run())

    assert "Cancel" not in buttons(app)
    assert "Stopped early at step 200" in words(app)


def test_a_run_that_failed(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.FAILED, events=EVENTS[:5], error="No_memory was left.")

    app = open_page("train.py")

    assert not app.exception
    assert r"No\_memory was left" in app.error[0].value
    assert {"Resume", "Remove permanently"} <= buttons(app)
    assert SKILL in questions(app)


def test_a_run_that_was_cancelled(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.CANCELLED, events=EVENTS)

    app = without_errors(open_page("train.py"))

    assert "Cancelled after" in words(app)
    assert "Resume" in buttons(app)


def test_a_run_that_was_interrupted(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.INTERRUPTED, events=EVENTS)

    app = without_errors(open_page("train.py"))

    assert "Its worker was killed" in words(app)
    assert "Resume continues from the last checkpoint" in words(app)


def test_a_run_that_is_done(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.SUCCEEDED, events=EVENTS, result=DONE)

    app = without_errors(open_page("train.py"))

    assert "12 missing values imputed" in words(app)
    assert "the best model is from step 180 (held-out error 0.025)" in words(app)
    assert not {"Cancel", "Resume"} & buttons(app)


def test_a_run_without_validation_says_so(fill, table, open_page, add_job):
    fill(table)
    events = [started(), *(progress(10 * i, 1 / i) for i in range(1, 5))]
    params = {"method": "pmae-mix", "params": {"preset": "paper-steps"}}
    add_job("train", params, JobState.RUNNING, events=events)

    app = without_errors(open_page("train.py"))

    assert "This run has no held-out cells" in words(app)
    assert questions(app) == [LOSSES]


def test_a_run_of_an_older_version_still_opens(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.SUCCEEDED, events=OLD_EVENTS, result=DONE)

    app = without_errors(open_page("train.py"))

    assert "made with an older version" in words(app)
    assert questions(app) == [LOSSES]
    for view in ("Columns", "Held-out cells", "Settings of this run"):
        app = without_errors(choose_view(app, view))
    assert not questions(app)


@pytest.mark.parametrize(
    ("role", "said"), [(None, False), ("identifier", True)], ids=["same", "changed"]
)
def test_changed_roles_are_said(fill, table, open_page, add_job, role, said):
    workspace = fill(table)
    add_job("train", PARAMS, JobState.SUCCEEDED, events=EVENTS, result=DONE)
    if role is not None:
        workspace.set_roles({"kind": role})

    app = without_errors(open_page("train.py"))

    assert any("`kind`" in warning.value for warning in app.warning) is said


# The views of a run


def test_columns_of_the_kept_model(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.SUCCEEDED, events=EVENTS, result=DONE)

    app = without_errors(choose_view(open_page("train.py"), "Columns"))

    assert questions(app) == ["Which columns does the kept model predict?"]
    skills = shown(app, "kept")
    assert set(skills["column"]) == {"x", "y", "kind"}
    assert skills["kept"].tolist() == pytest.approx([40.0] * 3)


def test_held_out_cells_of_a_real_training(fill, open_page, add_imputation):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": 2 * x, "kind": np.where(x > 0, "a", "b")})
    frame.loc[::5, "y"] = np.nan
    frame.loc[1::5, "kind"] = None
    fill(frame)
    params = {"method": "pmae-mix", "params": {"preset": "fast", "steps": 5}}
    add_imputation(params, kind="train")

    app = without_errors(choose_view(open_page("train.py"), "Held-out cells"))

    for column in ("y", "kind"):
        app = without_errors(app.selectbox(key="train:focus").select(column).run())
        assert questions(app) == [f"How close are the predictions of `{column}`?"]


def test_members_of_a_blend(fill, table, open_page, add_job):
    fill(table)
    shares = {name: {"trees": 0.7, "network": 0.3} for name in table}
    answers = [
        {"members": ["gaussian"], "skill": 0.4, "seconds": 1.0},
        {"members": ["gaussian", "trees"], "skill": 0.5, "seconds": 2.0},
    ]
    params = {"method": "pmae", "params": {"preset": "fast"}}
    result = {**DONE, "shares": shares, "answers": answers}
    add_job("train", params, JobState.SUCCEEDED, events=EVENTS, result=result)

    app = without_errors(choose_view(open_page("train.py"), "Members"))

    assert questions(app) == ["How much does each member count?"]
    assert shown(app, "Member")["Member"].tolist() == ["The gaussian", "Trees"]


def test_a_blend_is_trained_with_its_network(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page("train.py")
    app.selectbox(key="train:architecture").select("blend").run()

    press(app, "Start training")

    params = store.jobs(workspace.id)[0].spec.params
    assert params["method"] == "pmae"
    assert "network" in params["params"]["members"]
    assert params["params"]["network_params"] == {"masking": "logit", "a": 0.05, "b": 0.5}


def test_settings_fold_away_when_a_run_starts(fill, table, open_page, add_job, store):
    fill(table)
    add_job("train", PARAMS, JobState.SUCCEEDED, events=EVENTS, result=DONE)
    app = without_errors(open_page("train.py"))
    assert "Start training" not in buttons(app)

    app = without_errors(press(app, "New run"))
    assert "Start training" in buttons(app)
    app = without_errors(press(app, "Start training"))

    assert "Start training" not in buttons(app)
    assert "Next in the queue" in words(app)


# What can be done with a run


def test_cancel(fill, table, open_page, add_job, store):
    fill(table)
    running = add_job("train", PARAMS, JobState.RUNNING, events=EVENTS)

    app = without_errors(press(open_page("train.py"), "Cancel"))

    assert store.job(running.id).cancel_requested_at is not None
    assert "Stopping, which takes" in app.get("progress")[0].proto.text
    assert "Stopping …" in buttons(app)


def test_a_waiting_run_is_cancelled_at_once(fill, table, open_page, add_job, store):
    fill(table)
    waiting = add_job("train", PARAMS)

    app = without_errors(press(open_page("train.py"), "Cancel"))

    assert store.job(waiting.id).state is JobState.CANCELLED
    assert "It had not started" in words(app)


@pytest.mark.parametrize("state", [JobState.CANCELLED, JobState.INTERRUPTED, JobState.FAILED])
def test_resume(fill, table, open_page, add_job, store, state):
    fill(table)
    ended = add_job("train", PARAMS, state, events=EVENTS)

    app = without_errors(press(open_page("train.py"), "Resume"))

    assert store.job(ended.id).state is JobState.QUEUED
    assert "Next in the queue" in words(app)


def test_remove(fill, table, open_page, add_job, store):
    fill(table)
    ended = add_job("train", PARAMS, JobState.SUCCEEDED, events=EVENTS, result=DONE)

    app = without_errors(press(open_page("train.py"), "Remove permanently"))

    assert store.jobs() == []
    assert not ended.folder.exists()
    assert "No run yet" in words(app)


# Several runs


def test_history_and_two_runs_in_one_picture(fill, table, open_page, add_job):
    fill(table)
    first = add_job("train", PARAMS, JobState.SUCCEEDED, name="one", events=EVENTS, result=DONE)
    add_job("train", PARAMS, JobState.CANCELLED, name="two", seed=1, events=EVENTS)
    app = without_errors(choose_view(open_page("train.py"), "All runs"))
    history = shown(app, "Run")
    assert list(history["Run"]) == ["two", "one"]
    assert list(history["State"]) == ["Cancelled", "Done"]
    assert list(history["Imputed"].dropna()) == [12]

    app = without_errors(choose_view(app, "Compare two runs"))

    assert app.selectbox(key="train:other").value == first.id
    assert questions(app) == ["Which of the two learns better?"]
    assert "The runs differ in `seed` (1 and 0)" in words(app)


def test_an_older_run_can_be_looked_at(fill, table, open_page, add_job):
    fill(table)
    old = add_job("train", PARAMS, JobState.FAILED, name="old", error="It broke.")
    add_job("train", PARAMS, JobState.CANCELLED, name="new")
    app = open_page("train.py")
    assert "Cancelled after" in words(app)

    app = app.selectbox(key="train:run").select(old.id).run()

    assert "It broke" in app.error[0].value


def test_runs_of_others_are_not_seen(fill, table, open_page, add_job, store):
    fill(table)
    spec = add_job("train", PARAMS, JobState.CANCELLED, name="mine").spec
    store.put_table(table, "other")
    store.submit(spec, "other", name="theirs")

    app = without_errors(choose_view(open_page("train.py"), "All runs"))

    assert list(shown(app, "Run")["Run"]) == ["mine"]


@pytest.mark.parametrize("state", list(JobState))
def test_names_that_look_like_markup_stay_text(fill, table, open_page, add_job, state):
    fill(table.rename(columns={"x": "$x$ **<b>**"}))
    add_job("train", PARAMS, state, name="*PMAE* :smile:", events=EVENTS, error="a *b*")

    app = open_page("train.py")

    assert not app.exception
    assert app.selectbox(key="train:run").options[0].startswith("*PMAE* :smile:")
    assert "*PMAE*" not in words(app)
    assert STATE_WORDS[state].label in words(app)


@pytest.mark.slow
def test_a_real_training_from_start_to_end(fill, table, open_page, workspace):
    fill(pd.concat([table] * 4, ignore_index=True))  # with enough cells to hold some out
    app = open_page("train.py")
    choose_preset(app, "fast")
    app.number_input(key="train:fast__steps").set_value(30).run()
    app = without_errors(press(app, "Start training"))
    store = JobStore()
    (job,) = store.jobs(workspace.id)

    ended = LocalEngine(store).wait(job.id, timeout=240)
    app = without_errors(app.run())

    assert ended.state is JobState.SUCCEEDED, ended.error
    assert "48 missing values imputed" in words(app)
    assert "lower than with mean imputation" in words(app)
    assert (ended.folder / "result" / "model.safetensors").is_file()
