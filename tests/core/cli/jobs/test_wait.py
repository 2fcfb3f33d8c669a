"""Waiting for the end of a job."""

import pandas as pd

from pmae_core.table import write_table
from tests.support.inline_engine import InlineEngine
from tests.support.shell import one_line, run_jobs


def test_the_end_of_a_job_is_the_end_of_waiting(store, tmp_path):
    write_table(pd.DataFrame({"only": [1.5, None, 2.5, 3.5]}), tmp_path / "one.csv")

    wait = ("submit", "impute", tmp_path / "one.csv", "--method", "mice", "--wait")
    failed = run_jobs(*wait, code=1)

    assert "at least two" in one_line(failed.stderr)
    assert store.jobs()[0].state == "failed"


def test_a_job_keeps_running_when_waiting_is_stopped(store, survey, monkeypatch):
    def interrupt(self, job_id, timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(InlineEngine, "wait", interrupt)

    result = run_jobs("submit", "impute", survey, "--method", "em", "--wait", code=130)

    assert "The job keeps running" in result.stderr
    assert store.jobs()[0].state == "queued"
