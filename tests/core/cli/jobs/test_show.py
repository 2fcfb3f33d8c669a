"""``pmae jobs show``."""

import json

import pytest

from pmae_core.jobs import JobProgress
from pmae_core.jobs.cost import CostEstimate, MethodCost
from tests.support.inline_engine import InlineEngine
from tests.support.shell import one_line, run_jobs, submitted


@pytest.mark.parametrize(
    ("job", "sentence"),
    [("ab", "no job whose id begins with ab"), ("../..", "not the beginning of a job id")],
)
def test_a_job_that_does_not_exist_is_refused_in_a_sentence(store, job, sentence):
    assert sentence in one_line(run_jobs("show", job, code=1).output)


def test_a_job_in_the_queue_shows_its_place(store, survey):
    first, second = (submitted("impute", survey, "--method", "em") for _ in range(2))

    assert "number 2 in the queue" in one_line(run_jobs("show", second).stdout)
    shown = json.loads(run_jobs("show", second, "--json").stdout)
    assert (shown["id"], shown["state"], shown["queue_position"]) == (second, "queued", 2)
    assert shown["spec"] == json.loads(run_jobs("show", second, "--spec").stdout)
    assert json.loads(run_jobs("show", first, "--json").stdout)["queue_position"] == 1


def test_a_running_job_shows_how_far_it_is_and_what_was_expected(store, survey):
    job_id = submitted("impute", survey, "--method", "em")
    record, token = InlineEngine(store).claim()
    progress = JobProgress(fraction=0.25, message="round 5 of 20", eta_seconds=75.0)
    store.heartbeat(record.id, token, memory_mb=321.0, progress=progress)
    cost = MethodCost(method="em", seconds=100.0, low=50.0, high=8000.0, memory_mb=300.0)
    estimate = CostEstimate(per_method=[cost])
    store.set_estimate(job_id, estimate.with_actual(150.0))

    text = one_line(run_jobs("show", job_id).stdout)

    assert "round 5 of 20, 25%, 1 min 15 s left" in text
    assert "321 MB" in text
    assert "50 s to 3 h, 300 MB; it took 2 min 30 s." in text
