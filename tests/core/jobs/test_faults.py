"""Jobs are killed and cancelled at random moments, and nothing is lost, doubled or changed."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

DRILL = ROOT / "tests" / "support" / "fault_drill.py"
SEED = 1


@pytest.fixture(scope="module")
def drill(tmp_path_factory):
    """What became of fifty jobs; see fault_drill.py."""
    home = tmp_path_factory.mktemp("drill")
    done = subprocess.run(
        [sys.executable, str(DRILL), str(home), str(SEED)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_there_was_enough_trouble_to_learn_from(drill):
    assert len(drill["jobs"]) == 50
    assert drill["strikes"]["kill"] >= 30
    assert drill["strikes"]["cancel"] >= 5
    attempts = Counter(job["attempts"] for job in drill["jobs"])
    assert sum(count for number, count in attempts.items() if number > 1) >= 20


def test_every_job_ends_in_a_true_state(drill):
    assert [(job["state"], job["error"]) for job in drill["jobs"]] == [("succeeded", None)] * 50


def test_every_attempt_is_accounted_for(drill):
    """Each begins with a claim, and all but the last end with a stop that was noticed."""
    for job in drill["jobs"]:
        stopped = {"interrupted": "stopped", "cancelled": "stopped"}
        states = [(attempt, stopped.get(state, state)) for attempt, state in job["states"]]
        expected = [(0, "queued")]
        for attempt in range(1, job["attempts"]):
            expected += [(attempt, "running"), (attempt, "stopped"), (attempt, "queued")]
        expected += [(job["attempts"], "running"), (job["attempts"], "succeeded")]
        assert states == expected


def test_no_job_has_two_workers(drill):
    for job in drill["jobs"]:
        assert not job["twins"]
        assert job["attempts_in_order"]
        assert len(job["workers"]) == len(set(job["workers"]))


def test_results_are_those_of_undisturbed_jobs_bit_for_bit(drill):
    assert [job["id"] for job in drill["jobs"] if not job["same_result"]] == []


def test_work_was_taken_up_where_it_ended(drill):
    trained = [job["first_steps"] for job in drill["jobs"] if job["kind"] == "train"]
    assert sum(steps[-1] > 0 for steps in trained) >= 3
    assert sum(job["from_disk"] > 0 for job in drill["jobs"]) >= 2


def test_nothing_half_done_is_left(drill):
    assert [job["leftovers"] for job in drill["jobs"] if job["leftovers"]] == []
