"""Finding the jobs of this user."""

import json

import pytest

from pmae_core.jobs import JobSpec, JobStore
from pmae_core.table import read_table
from tests.support.shell import one_line, run_jobs, submitted


def test_jobs_of_other_workspaces_are_not_seen(store, survey):
    digest = store.put_table(read_table(survey), "other")
    spec = JobSpec.make("impute", params={"method": "em"}, table=digest)
    stranger = store.submit(spec, "other")

    assert json.loads(run_jobs("list", "--json").stdout) == []
    for command in ("show", "logs", "cancel", "resume", "result"):
        assert "no job that begins" in one_line(run_jobs(command, stranger.id, code=1).stderr)
    assert store.job(stranger.id).state == "queued"


@pytest.mark.slow
def test_a_job_runs_in_a_process_of_its_own(survey, tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PMAE_ENGINE", raising=False)

    job_id = submitted("impute", survey, "--method", "em", "--wait")

    record = JobStore().job(job_id)
    assert (record.state, record.attempt) == ("succeeded", 1)
    assert record.estimate["actual_seconds"] > 0
    assert "Attempt 1" in run_jobs("logs", job_id).stdout
