"""Runs whose folders somebody deleted: pages list them, and say what is gone."""

import shutil

import numpy as np
import pandas as pd
import pytest

from dashboard.errors import OUR_MISTAKE
from pmae_core.jobs import JobState
from pmae_core.jobs.worker.reporter import FOLDER_DELETED
from tests.support.seen import buttons, words

PAGES = ("train.py", "compare.py", "impute.py", "analyze.py", "export.py")


@pytest.fixture
def table():
    x = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": x, "y": 2 * x})
    frame.loc[::5, "y"] = np.nan
    return frame


def assert_readable(app):
    assert not app.exception
    assert OUR_MISTAKE not in [error.value for error in app.error]


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.FAILED, JobState.SUCCEEDED])
def test_every_page_lists_runs_without_a_folder(fill, table, open_page, add_job, state):
    fill(table)
    done = state is JobState.SUCCEEDED
    trained = {"n_imputed": 12, "n_rows": 60, "seconds": {}, "notes": [], "files": []}
    imputed = {**trained, "method": "em", "n_imputations": 2}
    compared = {"n_tasks": 2, "n_done": 2, "notes": []}
    for kind, params, result in (
        ("train", {"method": "pmae-mix"}, trained),
        ("impute", {"method": "em", "imputations": 2}, imputed),
        ("compare", {"methods": ["naive", "em"], "seeds": [0]}, compared),
    ):
        error = FOLDER_DELETED if state is JobState.FAILED else None
        job = add_job(kind, params, state, error=error, result=result if done else None)
        shutil.rmtree(job.folder)
    for page in PAGES:
        assert_readable(open_page(page))


def test_a_run_that_lost_its_folder_says_so_and_can_be_resumed(fill, table, open_page, add_job):
    fill(table)
    job = add_job("train", {"method": "pmae-mix"}, JobState.FAILED, error=FOLDER_DELETED)
    shutil.rmtree(job.folder)

    app = open_page("train.py")

    assert "The folder of the job was deleted while it ran" in words(app)
    assert {"Resume", "Remove permanently"} <= buttons(app)
