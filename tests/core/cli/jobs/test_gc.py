"""``pmae jobs gc``."""

import json

from pmae_core.storage.workspaces import workspaces_folder
from tests.support.aging import age
from tests.support.shell import run_jobs, submitted


def test_old_jobs_are_removed(store, survey):
    job_id = submitted("impute", survey, "--method", "em", "--wait")

    assert "Would remove 1 job" in run_jobs("gc", "--jobs", 0, "--dry-run").stdout
    assert store.count() == 1
    report = json.loads(run_jobs("gc", "--jobs", 0, "--json").stdout)
    assert report["jobs"] == [job_id]
    assert store.count() == 0
    assert "Removed 0 jobs" in run_jobs("gc", "--days", 1).stdout


def test_unused_workspaces_of_the_dashboard_are_removed_on_demand(store):
    folder = workspaces_folder(store.home) / ("a" * 32)
    folder.mkdir(parents=True)
    age(store.home, 31 * 86400.0)

    assert "Removed 0 jobs: 0.0 MB" in run_jobs("gc").stdout
    assert folder.exists()
    assert "Removed 1 workspace and 0 jobs" in run_jobs("gc", "--workspace-days", 30).stdout
    assert not folder.exists()
