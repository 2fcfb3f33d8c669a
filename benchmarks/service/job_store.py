"""Does the store of jobs keep up: 10,000 jobs listed, 8 processes writing at once?

python -m benchmarks.service.job_store
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.recording import write_result
from pmae_core.jobs import JobRecord, JobSpec, JobState, JobStore, ProcessId
from pmae_core.table import Schema

N_PROCESSES = 8
LISTING_LIMIT_MS = 50.0
LISTINGS: dict[str, dict[str, Any]] = {
    "newest 100 of all": {},
    "100 in the middle": {"offset": 5000},
    "newest 100 of a workspace": {"workspace": "w3"},
    "newest 100 that succeeded": {"states": [JobState.SUCCEEDED]},
    "newest 100 queued of a workspace": {"workspace": "w3", "states": [JobState.QUEUED]},
}


def a_table(n_columns: int = 12) -> pd.DataFrame:
    """Return a table of usual width, since its schema is part of each job."""
    values = np.random.default_rng(0).normal(size=(200, n_columns))
    return pd.DataFrame(values, columns=[f"measurement {n}" for n in range(n_columns)])


def submit_many(store: JobStore, n_jobs: int) -> dict[str, Any]:
    """Submit jobs; return how fast that was."""
    table = a_table()
    specs = {}
    for workspace in (f"w{n}" for n in range(5)):
        specs[workspace] = JobSpec.make(
            "impute",
            params={"method": "naive"},
            table=store.put_table(table, workspace),
            schema=Schema.infer(table),
        )
    started = time.perf_counter()
    for number in range(n_jobs):
        workspace = f"w{number % 5}"
        store.submit(specs[workspace], workspace)
    seconds = time.perf_counter() - started
    document = len(specs["w0"].to_json())
    return {"jobs": n_jobs, "jobs_per_second": round(n_jobs / seconds), "document_bytes": document}


def finish_many(store: JobStore, n_jobs: int) -> dict[str, Any]:
    """Claim and finish jobs, so that listings have more than one state."""
    owner = ProcessId.current()
    started = time.perf_counter()
    for _ in range(n_jobs):
        record, token = claimed(store, owner)
        store.finish(record.id, token, JobState.SUCCEEDED, result={"score": 0.5})
    seconds = time.perf_counter() - started
    return {"jobs": n_jobs, "jobs_per_second": round(n_jobs / seconds)}


def claimed(store: JobStore, owner: ProcessId) -> tuple[JobRecord, str]:
    claim = store.claim_next("local", running_limit=10**6, gpu_limit=0, owner=owner)
    assert claim is not None, "nothing is queued"
    return claim


def milliseconds(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """Return median and 95th percentile of the time, and the median processor time."""
    wall, processor = [], []
    for _ in range(repeats):
        started, started_processor = time.perf_counter(), time.process_time()
        work()
        wall.append(1000 * (time.perf_counter() - started))
        processor.append(1000 * (time.process_time() - started_processor))
    return {
        "median_ms": round(float(np.median(wall)), 2),
        "p95_ms": round(float(np.percentile(wall, 95)), 2),
        "median_cpu_ms": round(float(np.median(processor)), 2),
    }


def list_jobs(store: JobStore, repeats: int) -> dict[str, Any]:
    """Time each listing."""

    def look(listing: dict[str, Any]) -> None:
        assert len(store.jobs(**listing)) == 100

    return {
        name: milliseconds(lambda listing=listing: look(listing), repeats)
        for name, listing in LISTINGS.items()
    }


def write_events(home: Path, job_id: str, token: str, n_events: int, start: Any) -> None:
    store = JobStore(home)
    start.wait()
    for step in range(n_events):
        store.append_events(job_id, token, [("progress", {"pid": os.getpid(), "step": step})])


def write_at_once(store: JobStore, n_events: int) -> dict[str, Any]:
    """Let processes write events one by one: half of them to one job, half each to its own."""
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(N_PROCESSES + 1)
    shared, *own = [claimed(store, ProcessId.current()) for _ in range(N_PROCESSES // 2 + 1)]
    jobs = [shared] * (N_PROCESSES // 2) + own
    before = {record.id: len(store.events(record.id)) for record, _ in jobs}
    writers = [
        spawn.Process(target=write_events, args=(store.home, record.id, token, n_events, start))
        for record, token in jobs
    ]
    for writer in writers:
        writer.start()
    start.wait()
    started = time.perf_counter()
    for writer in writers:
        writer.join()
    seconds = time.perf_counter() - started
    written = sum(len(store.events(job_id)) - count for job_id, count in before.items())
    in_order = all(is_complete(store, job_id, count) for job_id, count in before.items())
    return {
        "processes": N_PROCESSES,
        "transactions_per_second": round(N_PROCESSES * n_events / seconds),
        "events_written": N_PROCESSES * n_events,
        "events_found": written,
        "each_writer_complete_and_in_order": in_order,
    }


def is_complete(store: JobStore, job_id: str, before: int) -> bool:
    """Return whether all events are there: numbered without gaps, each writer's in order."""
    events = store.events(job_id)
    steps: dict[int, list[int]] = {}
    for event in events[before:]:
        steps.setdefault(event.data["pid"], []).append(event.data["step"])
    return [event.seq for event in events] == list(range(1, len(events) + 1)) and all(
        found == list(range(len(found))) for found in steps.values()
    )


def measure(home: Path, options: argparse.Namespace) -> dict[str, Any]:
    store = JobStore(home)
    result: dict[str, Any] = {
        "what": "the SQLite store of jobs: submitting, listing, writing from many processes",
        "command": "python -m benchmarks.service.job_store",
        "settings": vars(options),
        "machine": {
            "cores": os.cpu_count(),
            "load_before": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        },
        "submit": submit_many(store, options.jobs),
        "claim_and_finish": finish_many(store, options.jobs // 2),
        "listing": list_jobs(store, options.repeats),
        "listing_limit_ms": LISTING_LIMIT_MS,
        "newest 100 with all their documents": milliseconds(
            lambda: [record.spec for record in store.jobs()], options.repeats
        ),
        "writing": write_at_once(store, options.events),
    }
    last = store.jobs(limit=1)[0].id
    result["queue_position"] = milliseconds(lambda: store.queue_position(last), 50)
    return result


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write; return 1 if a listing is slow or an event is lost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=500, help="of each process")
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), options)
    for name, times in result["listing"].items():
        print(f"{name:36}{times}")
    print(result["submit"], result["claim_and_finish"], result["writing"], sep="\n")
    write_result("job_store", result)
    writing = result["writing"]
    lost = writing["events_found"] != writing["events_written"]
    slow = any(times["p95_ms"] > LISTING_LIMIT_MS for times in result["listing"].values())
    return int(slow or lost or not writing["each_writer_complete_and_in_order"])


if __name__ == "__main__":
    sys.exit(main())
