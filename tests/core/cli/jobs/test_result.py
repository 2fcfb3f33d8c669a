"""``pmae jobs result``."""

import json

from tests.support.inline_engine import InlineEngine
from tests.support.shell import one_line, run_jobs, submitted


def test_wrong_requests_for_a_result_are_refused(store, survey, tmp_path):
    job_id = submitted("impute", survey, "--method", "em")
    assert "has no result: it is queued" in one_line(run_jobs("result", job_id, code=1).stderr)
    InlineEngine(store).wait(job_id)

    assert json.loads(run_jobs("result", job_id, "--json").stdout)["n_filled"] > 0
    assert "n_filled" in run_jobs("result", job_id).stdout
    assert "--output" in run_jobs("result", job_id, "--file", "filled.parquet", code=2).output
    refused = run_jobs("result", job_id, "-o", survey, code=1)
    assert "already exists" in one_line(refused.stderr)
    none = run_jobs("result", job_id, "--file", "../spec.json", "-o", tmp_path / "a.json", code=1)
    assert "has no file ../spec.json" in one_line(none.stderr)
