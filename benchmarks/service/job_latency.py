"""How long a job takes from its submission to the first event of its worker.

A job gets a new process, or the spare worker that a server keeps. In a new process most of this
time is Python's start and imports: it prints the time when the first of them are done, and the rest
is the share of store, queue, engine and worker. The imports of the method come later, and count in
the seconds until the end of a job that is hardly any work. Both ways take turns, so that other work
on the machine slows both down.

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
from pmae_core.jobs.engines.local import available_cores
from pmae_core.jobs.store import JobRecord

REPEATS = 9
WANTED_SECONDS = 3.0
WANTED_SECONDS_OF_SPARE = 0.5
SPARE_SECONDS = 600.0
READY_SECONDS = 120.0
WORKER = (
    "import sys, time; from pmae_core.jobs.worker import process as worker; "
    "print('imported', time.time(), flush=True); sys.exit(worker.main())"
)
METHOD = {"method": "pmae-mix", "params": {"preset": "fast", "steps": 5}}


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
    """Measure, print and write; return 1 if one of the targets is exceeded."""
    with tempfile.TemporaryDirectory() as home:
        store = JobStore(home)
        spec = JobSpec.make("impute", params=METHOD, table=store.put_table(table()))
        # So many jobs at a time that each has one thread, as the job above.
        options = {"concurrency": available_cores(), "estimate_seconds": 0}
        cold = TimedEngine(store, **options)
        warm = LocalEngine(store, spare_seconds=SPARE_SECONDS, **options)
        news, spares = [], []
        for _ in range(REPEATS):
            ready_spare(warm)  # else its imports would slow down the new process
            news.append(measure_new(store, cold, spec))
            spares.append(measure_spare(store, warm, spec))
        warm.close()
    result = {
        "what": "seconds from submitting a job to its worker's first event, and to its end",
        "command": "python -m benchmarks.service.job_latency",
        "repeats": REPEATS,
        "cores": available_cores(),
        "load_average": round(os.getloadavg()[0], 1),
        "median": summary(news, statistics.median),
        "most": summary(news, max),
        "wanted_beyond_imports": WANTED_SECONDS,
        "spare_worker": {
            "median": summary(spares, statistics.median),
            "most": summary(spares, max),
            "wanted_in_all": WANTED_SECONDS_OF_SPARE,
        },
    }
    print(result, flush=True)
    write_result("job_latency", result)
    is_slow = max(r["beyond_imports"] for r in news) > WANTED_SECONDS
    return int(is_slow or result["spare_worker"]["median"]["in_all"] > WANTED_SECONDS_OF_SPARE)


def table() -> pd.DataFrame:
    """Return a small table with missing cells."""
    rng = np.random.default_rng(0)
    complete = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    return complete.mask(rng.random(complete.shape) < 0.2)


def summary(rounds: list[dict[str, float]], of: Callable[[list[float]], float]) -> dict[str, float]:
    """Return one statistic of each measurement."""
    return {name: round(of([one[name] for one in rounds]), 3) for name in rounds[0]}


def measure_new(store: JobStore, engine: TimedEngine, spec: JobSpec) -> dict[str, float]:
    """Run a job in a new process; return its seconds, also those of imports and without."""
    record, seconds = run(store, engine, spec)
    [imported] = [
        float(line.split()[1])
        for line in (record.folder / "log.txt").read_text().splitlines()
        if line.startswith("imported")
    ]
    imports = imported - engine.spawned_at
    return {**seconds, "imports": imports, "beyond_imports": seconds["in_all"] - imports}


def measure_spare(store: JobStore, engine: LocalEngine, spec: JobSpec) -> dict[str, float]:
    """Run a job in a spare worker, once that is ready; return its seconds."""
    waiting = ready_spare(engine)
    record, seconds = run(store, engine, spec)
    if record.worker is None or record.worker.pid != waiting:
        raise SystemExit("The job did not run in the spare worker.")
    return seconds


def ready_spare(engine: LocalEngine) -> int:
    """Return the pid of the engine's spare worker when it is ready."""
    engine.prepare()
    spare = engine._spare._spare
    give_up_at = time.monotonic() + READY_SECONDS
    while spare is None or not spare.is_ready():
        if spare is None or time.monotonic() > give_up_at:
            raise SystemExit("There is no spare worker.")
        time.sleep(0.1)
    return spare.process.pid


def run(store: JobStore, engine: LocalEngine, spec: JobSpec) -> tuple[JobRecord, dict[str, float]]:
    """Run a job; return it, and its seconds until the first event and until its end."""
    submitted = time.time()
    record = engine.wait(engine.submit(spec).id)
    if record.state is not JobState.SUCCEEDED:
        raise SystemExit(f"The job did not succeed: {record.error}")
    events = store.events(record.id)
    [first] = [event.time for event in events if event.kind == "WorkerStarted"]
    return record, {
        "in_all": first - submitted,
        "until_done": (record.finished_at or first) - submitted,
    }


if __name__ == "__main__":
    sys.exit(main())
