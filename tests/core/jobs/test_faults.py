"""Jobs meet all kinds of faults at random moments, and nothing is lost, doubled or changed.

``benchmarks.service.fault_drill`` does the same with a hundred jobs, on a disk that can be full and
read-only.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="limits a process from outside"),
]

N_JOBS = 10


@pytest.fixture(scope="module")
def drill(tmp_path_factory):
    """What became of some jobs; see fault_drill.py."""
    home = tmp_path_factory.mktemp("drill") / "home"
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.fault_drill", str(home), f"--jobs={N_JOBS}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_there_was_enough_trouble_to_learn_from(drill):
    assert len(drill["jobs"]) == N_JOBS
    kinds = ("kill", "torn file", "cancel", "flipped byte", "no room", "clock step")
    assert all(drill["strikes"].get(kind) for kind in kinds), drill["strikes"]
    assert sum(job["attempts"] > 1 for job in drill["jobs"]) >= 3


def test_every_job_ends_in_a_true_state(drill):
    ends = [(job["state"], job["error"]) for job in drill["jobs"]]
    assert ends == [("succeeded", None)] * N_JOBS


def test_every_attempt_is_accounted_for(drill):
    """Each begins with a claim, and all but the last end with a stop that was noticed."""
    for job in drill["jobs"]:
        stopped = dict.fromkeys(("interrupted", "cancelled", "failed"), "stopped")
        states = [(attempt, stopped.get(state, state)) for attempt, state in job["states"]]
        expected = [(0, "queued")]
        for attempt in range(1, job["attempts"]):
            expected += [(attempt, "running"), (attempt, "stopped"), (attempt, "queued")]
        expected += [(job["attempts"], "running"), (job["attempts"], "succeeded")]
        assert states == expected
        assert all(job["whys"])


def test_no_job_has_two_workers(drill):
    for job in drill["jobs"]:
        assert not job["twins"]
        assert job["attempts_in_order"]
        assert len(job["workers"]) == len(set(job["workers"]))


def test_results_are_those_of_undisturbed_jobs_bit_for_bit(drill):
    assert [job["id"] for job in drill["jobs"] if not job["same_result"]] == []


def test_nothing_half_done_is_left(drill):
    assert [job["leftovers"] for job in drill["jobs"] if job["leftovers"]] == []
