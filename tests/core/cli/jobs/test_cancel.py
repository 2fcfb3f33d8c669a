"""``pmae jobs cancel``."""

from tests.support.inline_engine import InlineEngine
from tests.support.shell import run_jobs, submitted


def test_a_running_job_is_asked_to_stop(store, survey):
    job_id = submitted("impute", survey, "--method", "em")
    InlineEngine(store).claim()

    assert "Asked to stop" in run_jobs("cancel", job_id).stderr
    assert "asked to stop" in run_jobs("show", job_id).stdout
