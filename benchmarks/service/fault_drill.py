"""What becomes of a hundred jobs that meet all kinds of faults at random moments.

Workers are killed and cancelled; files from which jobs go on are cut or have a byte changed; the
stored table is damaged; the disk is full or read-only for a while; the clock is set. Jobs that stop
are resumed. In the end every job has to have succeeded, with the result of an undisturbed one.

The disk is one of its own, in memory, which takes the right to mount: the drill runs as root or
where user namespaces are allowed. The clock of the machine stays as it is: processes of the drill
see another one.

python -m benchmarks.service.fault_drill
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any

from benchmarks.recording import write_result
from tests.support.paths import ROOT

N_JOBS = 100
N_STARTED_ANEW = 4
SEED = 1


def main() -> int:
    """Drill, print and write; return 1 if a job did not end as an undisturbed one."""
    report = run_drill()
    result = summary(report)
    print(json.dumps(result, indent=2), flush=True)
    write_result("fault_drill", result)
    return int(result["succeeded"] != N_JOBS or result["equal_results"] != N_JOBS)


def run_drill() -> dict[str, Any]:
    """Run the drill on a disk of its own, which ends with it."""
    own_mounts = ["unshare", "--mount"]
    if os.geteuid() != 0:
        own_mounts.append("--map-root-user")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *own_mounts,
                *(sys.executable, "-m", "tests.support.fault_drill", f"{folder}/home"),
                *("--own-disk", f"--jobs={N_JOBS}", f"--seed={SEED}"),
                f"--started-anew={N_STARTED_ANEW}",
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            check=True,
        )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def summary(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report without the single jobs."""
    jobs = report["jobs"]
    return {
        "what": "jobs disturbed by faults at random moments and resumed, and what became of them",
        "command": "python -m benchmarks.service.fault_drill",
        "seed": SEED,
        "jobs": len(jobs),
        "started_in_new_processes": N_STARTED_ANEW,
        "seconds": round(report["seconds"], 1),
        "faults": report["strikes"],
        "files_cut_or_changed": report["damaged_files"],
        "attempts": sum(job["attempts"] for job in jobs),
        "jobs_with_more_than_one_attempt": sum(job["attempts"] > 1 for job in jobs),
        "ends_of_attempts": Counter(
            state
            for job in jobs
            for _, state in job["states"]
            if state not in ("queued", "running")
        ),
        "sentences_of_stopped_attempts": Counter(why for job in jobs for why in job["whys"]),
        "refusals_while_the_disk_failed": report["refusals"],
        "damaged_files_noticed": sum(job["damage_found"] for job in jobs),
        "resumed_from_a_checkpoint": sum(
            any(step > 0 for step in job["first_steps"]) for job in jobs
        ),
        "succeeded": sum(job["state"] == "succeeded" for job in jobs),
        "other_ends": [(job["state"], job["error"]) for job in jobs if job["state"] != "succeeded"],
        "equal_results": sum(job["same_result"] for job in jobs),
        "with_two_workers_at_once": sum(job["twins"] for job in jobs),
        "with_leftovers": sum(bool(job["leftovers"]) for job in jobs),
    }


if __name__ == "__main__":
    sys.exit(main())
