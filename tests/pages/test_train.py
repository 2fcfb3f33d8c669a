"""The Train page in every state a run can be in."""

import json

import numpy as np
import pandas as pd
import pytest

from dashboard.runs import STATE_WORDS, estimates
from pmae_core.jobs import JobProgress, JobState, JobStore
from pmae_core.jobs.engines import LocalEngine
from tests.support.seen import buttons, calm, press, questions, words

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


EVENTS = [started(), *(progress(10 * i, 1 / i, 0.5 / i) for i in range(1, 21))]
DONE = {
    "n_imputed": 12,
    "still_missing": {},
    "notes": [],
    "training": {"reason": "early", "step": 200, "best_step": 180, "best_score": 0.025},
}


# Before any run


def test_a_newcomer_can_train_on_the_sample(open_page, store):
    app = calm(open_page("train.py"))

    assert {"Start training", "How long will it take?"} <= buttons(app)
    assert "You have trained nothing yet" in words(app)
    assert "on the processor of this computer" in words(app)


def test_without_a_store_the_page_makes_no_job(open_page, workspace):
    app = calm(open_page("train.py"))

    assert "You have trained nothing yet" in words(app)


def test_a_table_without_a_column_to_learn_says_what_to_do(fill, open_page, store):
    fill(pd.DataFrame({"a": [1.0, 1.0, None]}))

    app = calm(open_page("train.py"))

    assert "No column of this table can be learned" in words(app)
    assert "Start training" not in buttons(app)


def test_a_complete_table_is_no_dead_end(fill, table, open_page, store):
    fill(table.dropna().reset_index(drop=True))

    app = calm(open_page("train.py"))

    assert "Nothing is missing" in words(app)
    assert "Start training" in buttons(app)


# Starting


def test_start_hands_in_what_is_set(fill, table, open_page, store, workspace):
    fill(table, name="mine.csv")
    app = open_page("train.py")
    app.selectbox(key="train:architecture").select("transformer").run()
    app.selectbox(key="train:preset").select("fast").run()
    app.number_input(key="train:fast__width").set_value(64).run()
    app.number_input(key="train:seed").set_value(7).run()

    app = calm(press(app, "Start training"))

    (job,) = store.jobs(workspace.id)
    assert job.name == "PMAE (transformer) on mine.csv, fast, seed 7"
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
    app.selectbox(key="train:preset").select("fast").run()
    app.number_input(key="train:fast__width").set_value(64).run()

    again = calm(open_page("train.py"))

    assert again.selectbox(key="train:preset").value == "fast"
    assert again.number_input(key="train:fast__width").value == 64
    assert "Different from the preset: `width`" in words(again)
    again = calm(press(again, "Back to the preset"))
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

    app = calm(app.toggle(key="train:lab_masking").set_value(False).run())

    assert app.selectbox(key="train:function").value == "logit"


def test_what_cannot_be_built_is_said_before_the_start(fill, table, open_page, store):
    fill(table)
    app = open_page("train.py")
    app.selectbox(key="train:architecture").select("transformer").run()

    app = calm(app.number_input(key="train:balanced__heads").set_value(5).run())

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
        (estimates.Answer(running=True), "Trying for some seconds"),
        (estimates.Answer(estimate=ESTIMATE), "**about 42 s** and 300 MB"),
        (estimates.Answer(error="It_timed out."), r"It\_timed out"),
    ],
)
def test_the_estimate_in_words(fill, table, open_page, store, monkeypatch, answer, said):
    fill(table)
    monkeypatch.setattr(estimates, "answer", lambda question: answer)

    app = calm(open_page("train.py"))

    assert said in words(app)


def test_asking_starts_an_estimate_of_what_is_set(fill, table, open_page, store, monkeypatch):
    fill(table)
    asked = []
    monkeypatch.setattr(estimates, "start", asked.append)
    app = open_page("train.py")
    app.selectbox(key="train:preset").select("fast").run()

    calm(press(app, "How long will it take?"))

    (question,) = asked
    assert json.loads(question.params)["params"]["preset"] == "fast"


def test_a_job_knows_its_estimate(fill, table, open_page, store, workspace, monkeypatch):
    fill(table)
    monkeypatch.setattr(estimates, "answer", lambda question: estimates.Answer(estimate=ESTIMATE))

    app = press(open_page("train.py"), "Start training")

    assert store.jobs(workspace.id)[0].estimate["total_seconds"] == 42.0
    assert "stimated at about 42 s" in words(app)


# Runs in every state


def test_a_run_that_waits(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, name="first")
    add_job("train", PARAMS, name="second")

    app = calm(open_page("train.py"))

    assert "1 run ahead in the queue" in words(app)
    assert "Cancel" in buttons(app)
    assert "Resume" not in buttons(app)
    assert not questions(app)


def test_a_run_that_begins(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.RUNNING)

    app = calm(open_page("train.py"))

    assert "The curves begin with the first steps" in words(app)


def test_a_run_that_learns(fill, table, open_page, add_job):
    fill(table)
    add_job(
        "train",
        PARAMS,
        JobState.RUNNING,
        events=EVENTS,
        progress=JobProgress(0.5, "step 200 of 400", 12.0),
    )

    app = calm(open_page("train.py"))

    (bar,) = app.get("progress")
    assert bar.proto.value == 50
    assert "step 200 of 400, about 12 s left" in bar.proto.text
    assert questions(app) == [
        "Does it learn to predict what it cannot see?",
        "Does it fill cells better that it never saw?",
        "Which columns does it learn?",
        "How does it learn `x`?",
    ]
    assert "On the processor of this computer" in words(app)
    assert "12,345 weights" in words(app)
    assert "1,000 rows a second" in words(app)
    assert "Cancel" in buttons(app)


def test_new_events_arrive(fill, table, open_page, add_job, store):
    fill(table)
    job = add_job("train", PARAMS, JobState.RUNNING)
    app = open_page("train.py")
    assert not questions(app)

    store.append_events(job.id, job.token, EVENTS)

    assert len(questions(calm(app.run()))) == 4


def test_a_run_that_ends_while_it_is_watched(fill, table, open_page, add_job, store):
    fill(table)
    job = add_job("train", PARAMS, JobState.RUNNING, events=EVENTS)
    app = open_page("train.py")

    store.finish(job.id, job.token, JobState.SUCCEEDED, result=DONE)
    app = calm(app.run())

    assert "Cancel" not in buttons(app)
    assert "It stopped at step 200" in words(app)


def test_a_run_that_failed(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.FAILED, events=EVENTS[:5], error="No_memory was left.")

    app = open_page("train.py")

    assert not app.exception
    assert r"No\_memory was left" in app.error[0].value
    assert {"Resume", "Remove permanently"} <= buttons(app)
    assert "Does it learn to predict what it cannot see?" in questions(app)


def test_a_run_that_was_cancelled(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.CANCELLED, events=EVENTS)

    app = calm(open_page("train.py"))

    assert "Cancelled after" in words(app)
    assert "Resume" in buttons(app)


def test_a_run_that_was_interrupted(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.INTERRUPTED, events=EVENTS)

    app = calm(open_page("train.py"))

    assert "Its worker was killed" in words(app)
    assert "Resume continues from the last checkpoint" in words(app)


def test_a_run_that_is_done(fill, table, open_page, add_job):
    fill(table)
    add_job("train", PARAMS, JobState.SUCCEEDED, events=EVENTS, result=DONE)

    app = calm(open_page("train.py"))

    assert "12 holes filled" in words(app)
    assert "The model is that of step 180, with an error of 0.025" in words(app)
    assert not {"Cancel", "Resume"} & buttons(app)


def test_a_run_without_validation_says_so(fill, table, open_page, add_job):
    fill(table)
    events = [started(), *(progress(10 * i, 1 / i) for i in range(1, 5))]
    params = {"method": "pmae-mix", "params": {"preset": "paper-steps"}}
    add_job("train", params, JobState.RUNNING, events=events)

    app = calm(open_page("train.py"))

    assert "This run holds no cells back" in words(app)


# What can be done with a run


def test_cancel(fill, table, open_page, add_job, store):
    fill(table)
    running = add_job("train", PARAMS, JobState.RUNNING, events=EVENTS)

    app = calm(press(open_page("train.py"), "Cancel"))

    assert store.job(running.id).cancel_requested_at is not None
    assert "Stopping, which takes" in app.get("progress")[0].proto.text
    assert "Stopping …" in buttons(app)


def test_a_waiting_run_is_cancelled_at_once(fill, table, open_page, add_job, store):
    fill(table)
    waiting = add_job("train", PARAMS)

    app = calm(press(open_page("train.py"), "Cancel"))

    assert store.job(waiting.id).state is JobState.CANCELLED
    assert "It had not started" in words(app)


@pytest.mark.parametrize("state", [JobState.CANCELLED, JobState.INTERRUPTED, JobState.FAILED])
def test_resume(fill, table, open_page, add_job, store, state):
    fill(table)
    ended = add_job("train", PARAMS, state, events=EVENTS)

    app = calm(press(open_page("train.py"), "Resume"))

    assert store.job(ended.id).state is JobState.QUEUED
    assert "Next in the queue" in words(app)


def test_remove(fill, table, open_page, add_job, store):
    fill(table)
    ended = add_job("train", PARAMS, JobState.SUCCEEDED, events=EVENTS, result=DONE)

    app = calm(press(open_page("train.py"), "Remove permanently"))

    assert store.jobs() == []
    assert not ended.folder.exists()
    assert "You have trained nothing yet" in words(app)


# Several runs


def test_history_and_two_runs_in_one_picture(fill, table, open_page, add_job):
    fill(table)
    first = add_job("train", PARAMS, JobState.SUCCEEDED, name="one", events=EVENTS, result=DONE)
    add_job("train", PARAMS, JobState.CANCELLED, name="two", seed=1, events=EVENTS)
    app = calm(open_page("train.py"))
    assert list(app.dataframe[0].value["Run"]) == ["two", "one"]
    assert list(app.dataframe[0].value["State"]) == ["Cancelled", "Done"]
    assert list(app.dataframe[0].value["Filled"].dropna()) == [12]

    app = calm(app.selectbox(key="train:other").select(first.id).run())

    assert questions(app)[-1] == "Which of the two learns better?"
    assert "They differ in `seed` (1 and 0)" in words(app)


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

    app = calm(open_page("train.py"))

    assert list(app.dataframe[0].value["Run"]) == ["mine"]


@pytest.mark.parametrize("state", list(JobState))
def test_names_that_look_like_markup_stay_text(fill, table, open_page, add_job, state):
    fill(table.rename(columns={"x": "$x$ **<b>**"}))
    add_job("train", PARAMS, state, name="*PMAE* :smile:", events=EVENTS, error="a *b*")

    app = open_page("train.py")

    assert not app.exception
    assert any(r"\*PMAE\* \:" in text.value for text in app.markdown)
    assert STATE_WORDS[state].label in words(app)


@pytest.mark.slow
def test_a_real_training_from_start_to_end(fill, table, open_page, workspace):
    fill(table)
    app = open_page("train.py")
    app.selectbox(key="train:preset").select("fast").run()
    app.number_input(key="train:fast__steps").set_value(30).run()
    app = calm(press(app, "Start training"))
    store = JobStore()
    (job,) = store.jobs(workspace.id)

    ended = LocalEngine(store).wait(job.id, timeout=240)
    app = calm(app.run())

    assert ended.state is JobState.SUCCEEDED, ended.error
    assert "12 holes filled" in words(app)
    assert "Does it learn to predict what it cannot see?" in questions(app)
    assert (ended.folder / "result" / "model.safetensors").is_file()
