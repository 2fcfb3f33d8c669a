"""Kills or cancels jobs at random moments, resumes them, and tells what became of them.

``python fault_drill.py HOME SEED`` is a program of its own, so that workers can be forked from a
process that has everything loaded and no threads: a fork takes milliseconds where the imports of
a new process take seconds. Some workers are started as the engine does it nevertheless. The
report on stdout is JSON.
"""

import fcntl
import json
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pmae_core.evaluation import compare, write_comparison
from pmae_core.imputers.masked import _fitting
from pmae_core.jobs import JobKind, JobSpec, JobState, JobStore
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.engines.local import TOKEN_VARIABLE
from pmae_core.jobs.worker import process as worker
from pmae_core.training import TrainingConfig

N_JOBS = 50
N_STARTED_ANEW = 3
MOST_STRIKES = 3  # on one job
# Dealt out in this order, whichever job is next: chance decides on the moments alone.
STRIKES = ("kill", "kill", "kill", "cancel")
CHECKPOINT_EVERY = 10
TIMEOUT_SECONDS = 270

TRAINING = {"steps": 120, "width": 8, "encoder_depth": 1, "batch_size": 16, "patience": 0}
WORK = [
    ("train", {"method": "pmae-mix", "params": TRAINING}),
    ("compare", {"methods": ["naive", "em"], "seeds": [0, 1]}),
    ("impute", {"method": "em", "imputations": 2}),
    ("train", {"method": "remasker", "params": {**TRAINING, "decoder_depth": 1}}),
    ("compare", {"methods": ["knn", "softimpute"], "seeds": [2]}),
]


@dataclass(frozen=True, kw_only=True)
class OftenSaved(TrainingConfig):
    """Settings of a training that is as short as these, and yet has checkpoints to go on from."""

    checkpoint_every: int = CHECKPOINT_EVERY


class ForkingEngine(LocalEngine):
    """Forks workers of this process instead of starting Python anew for each."""

    def __init__(self, store, started_anew):
        super().__init__(store, concurrency=3, estimate_seconds=0)
        self.started_anew = started_anew

    def _spawn(self, record, token):
        if record.id in self.started_anew:
            return super()._spawn(record, token)
        pid = os.fork()
        if pid == 0:
            try:
                self._become_worker(record, token)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        return pid

    def _become_worker(self, record, token):
        os.setsid()
        log = os.open(record.folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        watch_for_twins(record.folder)
        os.environ.update(self._environment(record.spec.resources), **{TOKEN_VARIABLE: token})
        _fitting.TrainingConfig = OftenSaved
        # Only the drill supervises, or a worker with threads would fork.
        worker.make_engine = lambda store, name, **options: IdleEngine(store)
        os._exit(worker.main(self._arguments(record)))

    def _environment(self, resources):
        # Workers started anew supervise as well, and must leave starting others to the drill.
        return {**super()._environment(resources), "PMAE_JOBS": "1"}


class IdleEngine(LocalEngine):
    def supervise(self):
        pass


def watch_for_twins(folder):
    """Leave a trace if another process works on the same job at this moment."""
    lock = os.open(folder / "alive.lock", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        (folder / "twins").touch()


def small_table(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 3))
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["b"] += table["a"]
    table["group"] = np.where(table["a"] + rng.normal(size=60) > 0, "yes", "no")
    missing = rng.random(table.shape) < 0.2
    return table.mask(pd.DataFrame(missing, columns=table.columns))


def make_spec(number, digest):
    kind, params = WORK[number % len(WORK)]
    return JobSpec.make(kind, params=params, table=digest, seed=number // len(WORK) % 2)


def drill(home, seed):
    store = JobStore(home)
    # The first report loads what draws figures; so it is there for all workers.
    write_comparison(compare(small_table(0), ["naive"], seeds=[0]), home / "warm")
    digest = store.put_table(small_table(0))
    rng = random.Random(seed)
    started_anew = set()
    engine = ForkingEngine(store, started_anew)

    plain = {}
    for number in range(2 * len(WORK)):
        spec = make_spec(number, digest)
        plain[spec.digest] = store.submit(spec, name="undisturbed").id
    until_done(engine, list(plain.values()), strike=lambda record: None)
    duration = {
        record.spec.digest: record.finished_at - record.started_at
        for record in map(store.job, plain.values())
    }

    jobs = [store.submit(make_spec(number, digest)).id for number in range(N_JOBS)]
    started_anew.update(rng.sample(jobs, N_STARTED_ANEW))
    strike_at, strikes = {}, Counter()

    def strike(record):
        """Kill the worker of a job, or ask it to stop, once its time has come."""
        key = record.id, record.attempt
        if key not in strike_at:
            usual = 4.0 if record.id in started_anew else duration[record.spec.digest]
            doomed = record.attempt <= MOST_STRIKES
            strike_at[key] = time.time() + rng.random() * usual if doomed else float("inf")
        if time.time() < strike_at[key] or record.worker is None:
            return
        strike_at[key] = float("inf")
        how = STRIKES[strikes.total() % len(STRIKES)]
        strikes[how] += 1
        if how == "cancel":
            store.request_cancel(record.id)
        else:
            # Its number is safe to use: only this process clears away the dead.
            os.kill(record.worker.pid, signal.SIGKILL)

    began = time.time()
    until_done(engine, jobs, strike)
    return {
        "seconds": time.time() - began,
        "strikes": strikes,
        "jobs": [report(store, store.job(job), store.job(plain[store.job(job).spec.digest]))
                 for job in jobs],
    }  # fmt: skip


def until_done(engine, jobs, strike):
    """Look after jobs, resuming what was interrupted, until every one has succeeded or failed."""
    give_up_at = time.time() + TIMEOUT_SECONDS
    open_jobs = set(jobs)
    while open_jobs and time.time() < give_up_at:
        engine.supervise()
        clear_away_the_dead()
        for job in list(open_jobs):
            record = engine.store.job(job)
            if record.state is JobState.RUNNING:
                strike(record)
            elif record.state in (JobState.INTERRUPTED, JobState.CANCELLED):
                engine.resume(job)
            elif record.state.is_final:
                open_jobs.remove(job)
        time.sleep(0.01)


def clear_away_the_dead():
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def report(store, record, undisturbed):
    events = store.events(record.id)
    return {
        "id": record.id,
        "kind": record.kind,
        "state": record.state,
        "error": record.error,
        "attempts": record.attempt,
        "states": [(e.attempt, e.data["state"]) for e in events if e.kind == "state"],
        "workers": [e.attempt for e in events if e.kind == "WorkerStarted"],
        "attempts_in_order": [e.attempt for e in events] == sorted(e.attempt for e in events),
        "first_steps": [e.data["first_step"] for e in events if e.kind == "TrainingStarted"],
        "from_disk": sum(e.kind == "TaskFinished" and e.data["from_disk"] for e in events),
        "twins": (record.folder / "twins").exists(),
        "same_result": contents(record) == contents(undisturbed),
        "leftovers": [path.name for path in record.folder.glob("result.*")],
    }


def contents(record):
    """Return all that a result says besides the time it took."""
    result = record.folder / "result"
    if record.kind is JobKind.COMPARE:
        tasks = json.loads((result / "comparison.json").read_text())["tasks"]
        timing = ("fit_seconds", "impute_seconds", "sample_seconds", "peak_memory_mb")
        return [{k: v for k, v in task.items() if k not in timing} for task in tasks]
    small = {k: v for k, v in record.result.items() if k != "seconds"}
    return small, [path.read_bytes() for path in sorted(result.glob("*.parquet"))]


if __name__ == "__main__":
    json.dump(drill(Path(sys.argv[1]), int(sys.argv[2])), sys.stdout)
