"""Where a job stands, in words; and who may do what with which job."""

import dataclasses
import subprocess
import sys

import pandas as pd
import pytest
import streamlit as st

from dashboard import runs
from dashboard.runs import drawing, estimates, service, submission
from dashboard.state import session
from dashboard.state.workspace import Workspace
from pmae_core.errors import JobError
from pmae_core.jobs import JobProgress, JobSpec, JobState, ProcessId
from pmae_core.jobs.engines import LocalEngine
from tests.support.paths import ROOT

PARAMS = {"method": "pmae-mix"}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    st.cache_resource.clear()
    own = Workspace.create()
    own.save_table(pd.DataFrame({"a": [1.0, None], "b": [3.0, 4.0]}), name="t", source="a test")
    monkeypatch.setattr(session, "workspace", lambda: own)
    return own


@pytest.fixture
def job(workspace):
    return runs.submit("train", PARAMS, name="a run")


def started(job):
    _, token = runs.store().claim_next(
        "local", running_limit=9, gpu_limit=0, owner=ProcessId.current()
    )
    return dataclasses.replace(runs.store().job(job.id), token=token)


def test_a_job_is_on_the_open_table_of_the_workspace(workspace, job):
    table = workspace.table()

    assert job.workspace == workspace.id
    assert job.name == "a run"
    pd.testing.assert_frame_equal(runs.store().get_table(job.spec.table, workspace.id), table.frame)
    assert job.spec.table_schema == table.schema.to_dict()
    assert job.spec.resources == runs.engine().default_resources()


def test_another_table_can_be_given(workspace):
    frame = pd.DataFrame({"c": [1.0, 2.0]})

    job = runs.submit("impute", {"method": "naive"}, name="x", frame=frame)

    assert job.spec.table == runs.put_table(frame)
    assert job.spec.table_schema is None


def test_jobs_of_other_workspaces_do_not_exist(workspace, job):
    other = Workspace.create()
    digest = runs.store().put_table(pd.DataFrame({"a": [1.0, 2.0]}), other.id)
    spec = JobSpec.make("train", params=PARAMS, table=digest)
    theirs = runs.store().submit(spec, other.id)

    assert runs.record(theirs.id) is None
    assert [one.id for one in runs.records()] == [job.id]
    for action in (drawing._cancel, drawing._resume):
        with pytest.raises(JobError, match="no longer exists"):
            action(theirs.id)
    drawing._remove(theirs.id)
    assert runs.store().job(theirs.id).state is JobState.QUEUED


def test_without_a_store_nothing_is_made(workspace):
    assert runs.records() == []
    assert runs.record("0" * 32) is None
    assert not runs.records(states=runs.ACTIVE)
    runs.supervise()
    assert not (workspace.folder.parents[1] / "jobs.sqlite").exists()


def test_too_many_unfinished_jobs_are_refused(workspace, job, monkeypatch):
    monkeypatch.setattr(submission, "MOST_UNFINISHED", 1)

    with pytest.raises(JobError, match="You already have 1 unfinished run"):
        runs.submit("train", PARAMS, name="one more")


def test_a_job_that_ended_meanwhile_is_not_cancelled(workspace, job):
    running = started(job)
    runs.store().finish(job.id, running.token, JobState.SUCCEEDED)

    drawing._cancel(job.id)
    drawing._resume(job.id)

    assert runs.store().job(job.id).state is JobState.SUCCEEDED


@pytest.mark.parametrize(
    ("words", "name"),
    [("a\nb\tc", "a b c"), ("", "A run"), ("\u200b", "A run"), ("x" * 500, None)],
)
def test_any_words_make_a_name(workspace, words, name):
    job = runs.submit("train", PARAMS, name=words)

    assert job.name == name or (name is None and len(job.name) == 120)


# In words


def as_state(job, state, **changes):
    changes = {"started_at": 100.0, "finished_at": 130.0, "attempt": 1} | changes
    return dataclasses.replace(job, state=state, **changes)


def test_every_state_has_words(job):
    for state in JobState:
        assert runs.STATE_WORDS[state].label
        assert runs.sentence(as_state(job, state)).endswith((".", "\\."))


def test_a_waiting_job_in_words(job):
    assert "Next in the queue" in runs.sentence(job, 1)
    assert "2 runs ahead" in runs.sentence(job, 3)


def test_a_running_job_in_words(job):
    running = as_state(job, JobState.RUNNING, finished_at=None)
    learning = dataclasses.replace(running, progress=JobProgress(0.5, "step 5 of 10", 70.0))
    stopping = dataclasses.replace(learning, cancel_requested_at=1.0)

    assert runs.sentence(running, now=112.0).startswith("Starting, running for 12 s.")
    assert "step 5 of 10, about 1 min 10 s left" in runs.sentence(learning, now=112.0)
    ending = dataclasses.replace(running, progress=JobProgress(0.9, "step 9 of 10", 0.3))
    assert "step 9 of 10, less than 1 s left" in runs.sentence(ending, now=112.0)
    assert "Stopping" in runs.sentence(stopping)


def test_a_job_that_ended_in_words(job):
    assert runs.sentence(as_state(job, JobState.SUCCEEDED)) == "Done in 30 s."
    failed = as_state(job, JobState.FAILED, error="a_b")
    assert runs.sentence(failed) == r"Failed after 30 s. a\_b"
    assert "had not started" in runs.sentence(
        as_state(job, JobState.CANCELLED, attempt=0, started_at=None)
    )
    assert "last checkpoint" in runs.sentence(as_state(job, JobState.INTERRUPTED))


def test_a_resumed_job_counts_the_time_of_its_last_attempt(job):
    assert runs.seconds_taken(as_state(job, JobState.SUCCEEDED)) == 30.0
    assert runs.seconds_taken(as_state(job, JobState.QUEUED, started_at=None)) is None


def test_looking_after_jobs_again_and_again_is_cheap(workspace, job, monkeypatch):
    calls = []
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: calls.append(1))

    for _ in range(5):
        runs.supervise()

    assert len(calls) == 1


def test_the_dashboard_brings_no_torch():
    code = (
        "import sys, dashboard.runs, dashboard.runs.estimates, dashboard.train.settings\n"
        "import dashboard.figures.training\n"
        "print('torch' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )

    assert run.stdout.split() == ["False"], run.stderr


# Lines of lists


def test_a_job_keeps_its_line_whatever_becomes_of_it(job):
    line = runs.labels([job])[job.id]

    assert line.startswith("a run · ")
    assert runs.labels([started(job)])[job.id] == line


def test_two_jobs_never_have_the_same_line(job):
    twin = dataclasses.replace(job, id="f" * 32)

    lines = runs.labels([job, twin])

    assert len(set(lines.values())) == 2


# Where a table came from


def test_the_origin_of_a_table_outlives_its_replacement(workspace):
    workspace.set_sentinels({"b": [3.0]})
    job = runs.submit("impute", {"method": "naive"}, name="x")
    workspace.save_table(pd.DataFrame({"c": [1.0, None]}), name="another", source="a test")

    assert runs.origin(job.spec.table) == runs.Origin("t", (3.0,))
    assert runs.origin("0" * 64) == runs.Origin()


# The spare worker of the server


def test_the_server_keeps_a_spare_worker_for_as_long_as_it_is_told(workspace, monkeypatch):
    monkeypatch.setenv("PMAE_SPARE_MINUTES", "2.5")
    assert runs.engine()._spare.seconds == 150
    monkeypatch.delenv("PMAE_SPARE_MINUTES")
    assert service.spare_minutes() == service.SPARE_MINUTES


@pytest.mark.parametrize("minutes", ["many", "-1", "inf", "nan"])
def test_minutes_that_are_none_are_refused(monkeypatch, minutes):
    monkeypatch.setenv("PMAE_SPARE_MINUTES", minutes)

    with pytest.raises(JobError, match="number of minutes"):
        service.spare_minutes()


def test_a_worker_gets_ready_when_the_button_that_starts_a_job_is_drawn(workspace, monkeypatch):
    prepared = []
    monkeypatch.setattr(LocalEngine, "prepare", lambda engine: prepared.append(engine))

    estimates.start_buttons("Train", section="train", asking=None)

    assert prepared == [runs.engine()]
