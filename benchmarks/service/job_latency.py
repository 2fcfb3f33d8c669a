"""How long a job takes from its submission to the first event of its worker.

Most of this is Python's start and imports in the new process. The worker prints the time when its
imports are done; the rest is the share of store, queue, engine and worker.

python -m benchmarks.service.job_latency
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.recording import write_result
from pmae_core.jobs import JobSpec, JobState, JobStore
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.store import JobRecord

REPEATS = 9
WANTED_SECONDS = 3.0
WORKER = (
    "import sys, time; from pmae_core.jobs.worker import process as worker; "
    "print('imported', time.time(), flush=True); sys.exit(worker.main())"
)


class TimedEngine(LocalEngine):
    """Start the usual worker, which prints the time when its imports are done."""

    spawned_at: float

    def _spawn(self, record: JobRecord, token: str) -> int:
        pid = super()._spawn(record, token)
        self.spawned_at = time.time()
        return pid

    def _command(self, record: JobRecord) -> list[str]:
        return [sys.executable, "-P", "-c", WORKER, *self._arguments(record)]


def main() -> int:
    """Measure, print and write; return 1 if the part beyond imports exceeds its target."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    table = table.mask(rng.random(table.shape) < 0.2)
    with tempfile.TemporaryDirectory() as home:
        store = JobStore(home)
        engine = TimedEngine(store, concurrency=1, estimate_seconds=0)
        spec = JobSpec.make("impute", params={"method": "em"}, table=store.put_table(table))
        rounds = [measure(store, engine, spec) for _ in range(REPEATS)]
    result = {
        "what": "seconds from submitting a job to its worker's first event",
        "command": "python -m benchmarks.service.job_latency",
        "repeats": REPEATS,
        "load_average": round(os.getloadavg()[0], 1),
        "median": summary(rounds, statistics.median),
        "most": summary(rounds, max),
        "wanted_beyond_imports": WANTED_SECONDS,
    }
    print(result, flush=True)
    write_result("job_latency", result)
    return int(max(r["beyond_imports"] for r in rounds) > WANTED_SECONDS)


def summary(rounds: list[dict[str, float]], of: Callable[[list[float]], float]) -> dict[str, float]:
    """Return one statistic of each measurement."""
    return {name: round(of([one[name] for one in rounds]), 3) for name in rounds[0]}


def measure(store: JobStore, engine: TimedEngine, spec: JobSpec) -> dict[str, float]:
    """Run a job; return its seconds until the first event, in all and without imports."""
    submitted = time.time()
    record = engine.wait(engine.submit(spec).id)
    if record.state is not JobState.SUCCEEDED:
        raise SystemExit(f"The job did not succeed: {record.error}")
    [first] = [e.time for e in store.events(record.id) if e.kind == "WorkerStarted"]
    [imported] = [
        float(line.split()[1])
        for line in (record.folder / "log.txt").read_text().splitlines()
        if line.startswith("imported")
    ]
    imports = imported - engine.spawned_at
    in_all = first - submitted
    return {"in_all": in_all, "imports": imports, "beyond_imports": in_all - imports}


if __name__ == "__main__":
    sys.exit(main())
