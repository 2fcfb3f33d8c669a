"""``pmae jobs gc``."""

import json

from tests.support.shell import run_jobs, submitted


def test_old_jobs_are_removed(store, survey):
    job_id = submitted("impute", survey, "--method", "em", "--wait")

    assert "Would remove 1 job" in run_jobs("gc", "--jobs", 0, "--dry-run").stdout
    assert store.count() == 1
    report = json.loads(run_jobs("gc", "--jobs", 0, "--json").stdout)
    assert report["jobs"] == [job_id]
    assert store.count() == 0
    assert "Removed 0 jobs" in run_jobs("gc", "--days", 1).stdout
