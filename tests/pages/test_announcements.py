"""A job that ended says so on whatever page the user is, once."""

import pandas as pd
import pytest

from dashboard.runs import announcing
from pmae_core.jobs import JobKind, JobState

PARAMS = {"method": "pmae-mix", "params": {"preset": "fast"}}


@pytest.fixture
def table(fill):
    fill(pd.DataFrame({"a": [1.0, 2.0, None, 4.0], "b": [1.0, 2.0, 3.0, 4.0]}))


def toasts(app):
    return [toast.value for toast in app.toast]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (JobState.SUCCEEDED, "**run** is done. See the page Train."),
        (JobState.FAILED, "**run** failed. See the page Train."),
        (JobState.INTERRUPTED, "**run** was interrupted. See the page Train."),
        (JobState.CANCELLED, "**run** was cancelled."),
    ],
)
def test_the_end_of_a_job_is_told_once(table, open_app, add_job, store, state, words):
    job = add_job("train", PARAMS, JobState.RUNNING, name="run")
    app = open_app()
    assert toasts(app) == []

    if state is JobState.INTERRUPTED:
        store.interrupt(job.id, job.token, "killed")
    else:
        store.finish(job.id, job.token, state)

    assert toasts(app.run()) == [words]
    assert toasts(app.run()) == []


def test_a_run_that_ends_on_its_own_page_is_not_announced_later_either(
    table, open_app, add_job, store, monkeypatch
):
    monkeypatch.setitem(announcing.PAGE_OF, JobKind.TRAIN, "Data")  # the page the app opens on
    job = add_job("train", PARAMS, JobState.RUNNING, name="run")
    app = open_app()

    store.finish(job.id, job.token, JobState.SUCCEEDED)

    assert toasts(app.run()) == []
    monkeypatch.undo()
    assert toasts(app.run()) == toasts(open_app()) == []


def test_what_ended_while_nobody_looked_is_told_on_return(table, open_app, add_job):
    add_job("train", PARAMS, JobState.SUCCEEDED, name="run")

    assert toasts(open_app()) == ["**run** is done. See the page Train."]
    assert toasts(open_app()) == []


@pytest.mark.parametrize("kept", ["x", 1e300])
def test_a_moment_that_is_none_does_not_keep_a_page_from_opening(
    workspace, table, open_app, add_job, kept
):
    """Links of earlier versions could write it."""
    add_job("train", PARAMS, JobState.SUCCEEDED, name="run")
    workspace.update("jobs", heard_until=kept)

    app = open_app()

    assert not app.exception
    assert not app.error
    assert toasts(app) == ["**run** is done. See the page Train."]
    assert toasts(open_app()) == []


def test_two_tabs_hear_of_it_both(table, open_app, add_job, store):
    job = add_job("train", PARAMS, JobState.RUNNING, name="run")
    first, second = open_app(), open_app()

    store.finish(job.id, job.token, JobState.SUCCEEDED)

    assert len(toasts(first.run())) == len(toasts(second.run())) == 1


def test_of_many_ends_the_last_three_are_told(table, open_app, add_job):
    for number in range(5):
        add_job("train", PARAMS, JobState.CANCELLED, name=f"run{number}")

    assert toasts(open_app()) == [f"**run{number}** was cancelled." for number in (2, 3, 4)]


def test_names_are_no_markup(table, open_app, add_job):
    add_job("train", PARAMS, JobState.CANCELLED, name="*run*")

    assert toasts(open_app()) == [r"**\*run\*** was cancelled."]
