"""Estimates come from a process of their own, and never break a page."""

import dataclasses
import shutil
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from dashboard import runs
from dashboard.runs import estimates
from dashboard.state import session
from dashboard.state.workspace import Workspace
from pmae_core.errors import JobError
from pmae_core.jobs import Resources
from pmae_core.jobs.engines import LocalEngine
from pmae_core.threads import THREAD_VARIABLES


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    st.cache_resource.clear()
    own = Workspace.create()
    x = np.linspace(0, 1, 50)
    frame = pd.DataFrame({"x": x, "y": 2 * x})
    frame.loc[::5, "y"] = np.nan
    own.save_table(frame, name="t", source="a test")
    monkeypatch.setattr(session, "workspace", lambda: own)
    return own


def question(**params):
    return estimates.Question.make("impute", {"method": "em", **params}, Resources())


def wait_for(asked, seconds=120):
    give_up_at = time.monotonic() + seconds
    while estimates.answer(asked).running and time.monotonic() < give_up_at:
        time.sleep(0.1)
    return estimates.answer(asked)


def test_nobody_asked(workspace):
    assert estimates.answer(question()) == estimates.Answer()


def test_an_estimate_of_a_real_method(workspace, monkeypatch):
    monkeypatch.setattr(estimates, "BUDGET_SECONDS", 0.5)

    estimates.start(question())
    assert estimates.answer(question()).running
    answer = wait_for(question())

    assert answer.error is None
    assert answer.estimate["total_seconds"] > 0
    assert estimates.sentence(answer.estimate).startswith("This will take **")


def test_what_is_no_job_is_refused(workspace):
    with pytest.raises(JobError, match="nonsense"):
        estimates.start(question(params={"nonsense": 1}))

    assert estimates.answer(question(params={"nonsense": 1})) == estimates.Answer()


def test_a_server_makes_a_few_at_a_time(workspace, monkeypatch):
    monkeypatch.setattr(estimates, "MOST_AT_ONCE", 0)

    with pytest.raises(JobError, match="Other estimates are still running"):
        estimates.start(question())


def test_an_estimate_without_end_is_ended(workspace, monkeypatch):
    monkeypatch.setattr(estimates, "MOST_SECONDS", 0.0)

    estimates.start(question())

    assert "timed out" in wait_for(question()).error


def test_the_process_uses_as_many_threads_as_a_worker(workspace, monkeypatch):
    environments = []

    class Recorded(subprocess.Popen):
        def __init__(self, *args, env, **kwargs):
            environments.append(env)
            super().__init__(*args, env=env, **kwargs)

    monkeypatch.setattr(estimates.subprocess, "Popen", Recorded)
    monkeypatch.setattr(estimates.sys, "executable", shutil.which("true"))
    asked = dataclasses.replace(question(), resources=Resources(threads=3))

    estimates.start(asked)
    wait_for(asked)

    (environment,) = environments
    worker = LocalEngine(runs.store())._environment(Resources(threads=3))
    assert {environment[name] for name in THREAD_VARIABLES} == {"3"}
    assert {name: environment[name] for name in (*THREAD_VARIABLES, "PYTHONPATH")} == {
        name: worker[name] for name in (*THREAD_VARIABLES, "PYTHONPATH")
    }


def test_questions_that_nobody_asked_push_out_no_answers(workspace, monkeypatch):
    monkeypatch.setattr(estimates.sys, "executable", shutil.which("true"))
    asked = question()
    estimates.start(asked)
    known = wait_for(asked)

    for number in range(300):
        estimates.answer(dataclasses.replace(asked, params=str(number)))

    assert known.error
    assert estimates.answer(asked) == known


def test_a_process_without_a_word_is_a_sentence(workspace, monkeypatch):
    monkeypatch.setattr(estimates.sys, "executable", shutil.which("true"))

    estimates.start(question())

    assert "ended unexpectedly" in wait_for(question()).error


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ({"seconds": None, "error": "It is_slow."}, r"No estimate is available. It is\_slow\."),
        ({"seconds": 5.0, "busy": 3.0}, "busy with other work"),
    ],
)
def test_an_estimate_in_words(cost, words):
    totals = {"total_seconds": 5.0, "total_low": 5.0, "total_high": 5.0, "memory_mb": None}
    cost = {"busy": 1.0, "error": None, **cost}

    assert words in estimates.sentence({**totals, "per_method": [cost]})
