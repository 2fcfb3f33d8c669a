"""``pmae jobs resume``."""

import json

from tests.support.shell import one_line, run_jobs, submitted


def test_a_job_is_cancelled_and_resumed(store, survey):
    job_id = submitted("impute", survey, "--method", "em")

    assert "Cancelled." in run_jobs("cancel", job_id[:8]).stderr
    assert "already ended" in one_line(run_jobs("cancel", job_id, code=1).stderr)
    resumed = json.loads(run_jobs("resume", job_id, "--wait", "--json").stdout)

    assert (resumed["id"], resumed["state"]) == (job_id, "succeeded")
    assert "nothing to resume" in one_line(run_jobs("resume", job_id, code=1).stderr)
