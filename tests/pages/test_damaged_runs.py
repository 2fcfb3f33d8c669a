"""Damaged runs: they are said to be so in their place, and the rest of each page goes on."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from pmae_core.evaluation import compare
from pmae_core.jobs import JobSpec, JobState
from pmae_core.jobs.store import database
from pmae_core.storage.checksums import write_checksums
from tests.support.damage import flip_byte, scramble, set_column
from tests.support.seen import buttons, press, text, without_errors

METHODS = ["naive", "em"]
PARAMS = {
    "train": {"method": "pmae-mix", "params": {"preset": "fast"}},
    "compare": {"methods": METHODS, "seeds": [0]},
    "impute": {"method": "naive"},
}


@pytest.fixture
def table(fill):
    x = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": x, "y": 2 * x, "kind": np.where(x > 0, "a", "b")})
    frame.loc[::5, "y"] = np.nan
    fill(frame)
    return frame


@pytest.fixture
def imputation(table, add_imputation):
    """Return a function that adds a finished imputation with checksums."""

    def add(name, **params):
        job = add_imputation({"method": "naive", **params}, name=name)
        write_checksums(job.folder / "result")
        return job

    return add


@pytest.fixture
def comparison(table, add_job):
    """Return a function that adds a finished comparison with checksums."""

    def add(name):
        job = add_job("compare", PARAMS["compare"], JobState.SUCCEEDED, name=name, result={})
        folder = job.folder / "result"
        folder.mkdir()
        (folder / "comparison.json").write_text(compare(table, METHODS, seeds=[0]).to_json())
        write_checksums(folder)
        return job

    return add


def choose(app, key, run):
    app.selectbox(key=key).select(run.id)
    return app.run()


# A record that cannot be read


@pytest.mark.parametrize("kind", PARAMS)
def test_a_damaged_record_is_shown_and_can_be_removed(table, open_page, store, add_job, kind):
    bad, good = (add_job(kind, PARAMS[kind], JobState.CANCELLED, name=n) for n in ("bad", "good"))
    set_column(store.home, bad.id, "progress", "{")

    app = without_errors(open_page(f"{kind}.py"))

    assert "**bad**" in text(app)
    assert "Its progress cannot be read. The run cannot be shown" in text(app)
    assert "Resume" in buttons(app)  # of the other one
    (sure,) = [button for button in app.button if button.key == f"{kind}:1:remove-sure"]
    app = without_errors(sure.click().run())
    assert "**bad**" not in text(app)
    assert [job.id for job in store.jobs()] == [good.id]
    assert store.listing().damaged == []


@pytest.mark.parametrize("kind", PARAMS)
def test_the_only_record_is_damaged(table, open_page, store, add_job, kind):
    job = add_job(kind, PARAMS[kind], JobState.CANCELLED, name="bad")
    set_column(store.home, job.id, "spec", b"\xff\x00")

    app = without_errors(open_page(f"{kind}.py"))

    assert "**bad**" in text(app)
    assert any(label.startswith("Start ") for label in buttons(app))


def test_the_list_of_runs_has_damaged_ones(table, open_app, store, add_job):
    bad, other = (add_job("train", PARAMS["train"], JobState.CANCELLED, name=n) for n in "ab")
    set_column(store.home, bad.id, "kind", "dance")  # no page knows it

    app = without_errors(open_app())

    assert "Damaged · " in text(app)
    (sure,) = [button for button in app.button if button.key == "header:1:remove-sure"]
    assert "Damaged" not in text(without_errors(sure.click().run()))
    assert store.listing().damaged == []
    assert [job.id for job in store.jobs()] == [other.id]


# A result that cannot be read


@pytest.mark.parametrize(
    ("file", "damage"),
    [("imputed.parquet", scramble), ("was_imputed.parquet", lambda path: flip_byte(path, 300))],
)
def test_a_damaged_imputation_can_be_run_again(
    imputation, open_page, store, workspace, file, damage
):
    imputation("sound")
    bad = imputation("bad")
    damage(bad.folder / "result" / file)

    app = open_page("impute.py")

    assert not app.exception
    (error,) = [one.value for one in app.error]
    assert f"**The result of bad is damaged.** Its file `{file}`" in error
    app = without_errors(press(app, "Run again"))
    again = store.jobs(workspace.id)[0]
    assert (again.spec, again.name, again.state) == (bad.spec, "bad", JobState.QUEUED)
    assert "Next in the queue" in text(app)


def test_other_runs_are_shown_beside_a_damaged_one(imputation, open_page):
    sound, bad = imputation("sound"), imputation("bad")
    scramble(bad.folder / "result" / "imputed.parquet")
    app = open_page("impute.py")
    assert app.error

    app = without_errors(choose(app, "impute:imputation", sound))

    assert "**12 cells imputed by " in text(app)


@pytest.mark.parametrize("page", ["export.py", "analyze.py"])
def test_pages_that_use_an_imputation_say_that_it_is_damaged(imputation, open_page, page):
    bad = imputation("bad", method="em", imputations=2)
    scramble(bad.folder / "result" / "imputed.parquet")

    app = open_page(page)

    assert not app.exception
    assert "The result of bad is damaged" in text(app)
    assert "Run again" in buttons(app)


def test_one_of_several_imputations_is_damaged(imputation, open_page):
    bad = imputation("bad", method="em", imputations=2)
    scramble(bad.folder / "result" / "imputation-2.parquet")

    app = open_page("analyze.py")

    assert not app.exception
    assert "Its file `imputation-2.parquet` has changed since it was written" in text(app)
    assert "Run again" in buttons(app)


def test_a_damaged_comparison_can_be_run_again(comparison, open_page, store):
    sound, bad = comparison("sound"), comparison("bad")
    scramble(bad.folder / "result" / "comparison.json")

    app = open_page("compare.py")

    assert not app.exception
    assert "The result of bad is damaged" in text(app)
    assert "Run again" in buttons(app)
    app = without_errors(choose(app, "compare:run", sound))
    assert "Which method is most accurate?" in [heading.value for heading in app.subheader]


def test_a_comparison_whose_file_was_changed_by_one_digit_is_not_believed(comparison, open_page):
    job = comparison("bad")
    path = job.folder / "result" / "comparison.json"
    place = path.read_text().index('"skill"') + 10
    flip_byte(path, place)

    assert "The result of bad is damaged" in text(open_page("compare.py"))


def test_a_damaged_comparison_leaves_imputations_as_they_are(comparison, imputation, open_page):
    bad = comparison("bad")
    imputation("sound")
    scramble(bad.folder / "result" / "comparison.json")

    app = without_errors(open_page("impute.py"))

    assert "not scored on held-out cells yet" in text(app)
    without_errors(open_page("export.py"))


def test_damaged_held_out_cells_are_said_in_their_place(table, open_page, add_job):
    job = add_job("train", PARAMS["train"], JobState.SUCCEEDED, name="bad", result={})
    (job.folder / "result").mkdir()
    (job.folder / "result" / "held_out.json").write_text('{"y": ')
    app = open_page("train.py")
    app.session_state["train:view"] = "Held-out cells"

    app = app.run()

    assert not app.exception
    assert "Its file `held_out.json` has changed since it was written" in text(app)


def test_a_damaged_event_leaves_a_gap_in_the_curve(table, open_page, store, add_job):
    start = {"device": "cpu", "precision": "float32", "n_parameters": 1, "n_rows": 60}
    events = [
        ("TrainingStarted", {**start, "total_steps": 9, "first_step": 0}),
        ("TrainingProgress", {"step": 1}),  # lacks the rest
        ("BatchReduced", {"batch_size": 8}),
    ]
    add_job("train", PARAMS["train"], JobState.CANCELLED, events=events)
    with sqlite3.connect(store.home / "jobs.sqlite") as connection:
        connection.execute("UPDATE events SET data = 'x' WHERE kind = 'BatchReduced'")

    app = without_errors(open_page("train.py"))

    assert "2 entries of this run’s history cannot be read" in text(app)


def test_a_damaged_early_answer_leaves_the_run_as_it_is(table, open_page, add_job):
    job = add_job("impute", PARAMS["impute"], JobState.CANCELLED, name="bad")
    (job.folder / "answer").mkdir()
    (job.folder / "answer" / "answer.json").write_text('["not", "an", "answer"]')

    app = without_errors(open_page("impute.py"))

    assert "Cancelled" in text(app)
    assert "answer" not in text(app).lower().split("cancelled")[1]


# The whole database


def test_the_page_says_once_that_the_runs_were_restored(
    table, open_app, store, add_job, restart_server
):
    add_job("train", PARAMS["train"], JobState.CANCELLED, name="run")
    without_errors(open_app())
    store.close()
    restart_server()
    database._checked.clear()
    store.paths.database.unlink()

    app = without_errors(open_app())

    (said,) = [one.value for one in app.warning]
    assert said.startswith("The list of runs was damaged and has been restored from the folders")
    assert not app.run().warning
    assert not open_app().warning


def test_a_newcomer_does_not_hear_of_a_restoration(table, open_app, store):
    digest = store.put_table(table, "another")
    store.submit(JobSpec.make("impute", params=PARAMS["impute"], table=digest), "another")
    store.close()
    database._checked.clear()
    store.paths.database.unlink()

    assert not without_errors(open_app()).warning
    assert len(store.restorations()) == 1
