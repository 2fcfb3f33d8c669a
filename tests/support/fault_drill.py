"""Disturbs jobs at random moments, resumes them, and reports what became of them.

``python -m tests.support.fault_drill HOME`` is a program of its own, so that workers can be forked
from a process that has everything loaded and no threads: a fork takes milliseconds where the
imports of a new process take seconds. Some workers may be started as the engine does it
nevertheless. The report on stdout is JSON.

With ``--own-disk`` HOME becomes a small disk of its own, which can be full and read-only. That
takes the right to mount, as in ``unshare --map-root-user --mount``.
"""

import argparse
import fcntl
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from pmae_core.errors import PMAEError
from pmae_core.evaluation import compare, write_comparison
from pmae_core.imputers.masked import _fitting
from pmae_core.jobs import JobKind, JobSpec, JobState, JobStore
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.engines.local import TOKEN_VARIABLE, is_alive
from pmae_core.jobs.worker import process as worker
from pmae_core.jobs.worker.log import print_as_far_as_possible
from pmae_core.training import TrainingConfig

MOST_STRIKES = 3  # on one job
# Dealt out in this order, whichever job is next: chance decides on the moments alone.
FAULTS = ("kill", "torn file", "cancel", "flipped byte", "no room", "clock step", "damaged table")
FAULTS_OF_DISK = ("full disk", "read-only disk")
CHECKPOINT_EVERY = 10
TIMEOUT_SECONDS = 1200
DISK_BYTES = 256 << 20
CLOCK_STEPS = (2.5, -2.5, 60.0, -60.0, 7200.0, -7200.0)
# What a job may say that the disk ended; it is resumed. Any other failure is one.
ENDED_BY_DISK = re.compile(
    r"The disk is full\. Free up space|may not write to its folder|File too large|is damaged"
)

TRAINING = {"steps": 300, "width": 8, "encoder_depth": 1, "batch_size": 16, "patience": 0}
WORK = [
    ("train", {"method": "pmae-mix", "params": TRAINING}),
    ("compare", {"methods": ["naive", "em"], "seeds": [0, 1]}),
    ("impute", {"method": "em", "imputations": 2}),
    ("train", {"method": "remasker", "params": {**TRAINING, "decoder_depth": 1}}),
    ("compare", {"methods": ["knn", "softimpute"], "seeds": [2]}),
]


# Workers


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
        print_as_far_as_possible()
        worker.run_job = watched_for_twins(worker.run_job)
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


def watched_for_twins(run_job):
    """Return work that leaves a trace if another process does the same job at this moment.

    A worker that has told the end of its job may live a moment longer, and does no harm.
    """

    def watched(spec, context):
        with open(context.folder / "alive.lock", "ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                (context.folder / "twins").touch()
            return run_job(spec, context)

    return watched


# The disk and the clock


class OwnDisk:
    """A small disk at a folder, in memory."""

    def __init__(self, folder):
        self.folder = folder
        self._mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs")

    def fill(self):
        """Leave no room, until :meth:`empty`."""
        usage = os.statvfs(self.folder)
        with suppress(OSError), open(self.folder / "ballast", "ab", buffering=0) as file:
            os.posix_fallocate(file.fileno(), 0, usage.f_bavail * usage.f_frsize)
            while file.write(bytes(usage.f_frsize)):
                continue

    def empty(self):
        """Make room again."""
        (self.folder / "ballast").unlink(missing_ok=True)

    @contextmanager
    def read_only(self):
        """Let nobody write; no file may be open for writing."""
        self._mount("-o", "remount,ro")
        try:
            yield
        finally:
            self._mount("-o", "remount,rw")

    def _mount(self, *options):
        subprocess.run(["mount", *options, str(self.folder)], check=True)


class Clock:
    """The clock of this process, and of the workers that it forks; it can be set."""

    def __init__(self):
        self.offset = 0.0
        clock, created = time.time, psutil.Process.create_time
        time.time = lambda: clock() + self.offset
        # On Linux psutil counts from the time of the boot, which moves along.
        psutil.Process.create_time = lambda process: created(process) + self.offset


# The drill


class Drill:
    """Runs jobs undisturbed, then others with the same work and all kinds of faults."""

    def __init__(self, home, *, seed, own_disk):
        self.disk = OwnDisk(home) if own_disk else None
        self.clock = Clock()
        self.store = JobStore(home)
        self.table = small_table()
        self.digest = self.store.put_table(self.table)
        self.rng = random.Random(seed)
        self.started_anew = set()
        self.engine = ForkingEngine(self.store, self.started_anew)
        self.faults = FAULTS + (FAULTS_OF_DISK if own_disk else ())
        self.strike_at, self.strikes = {}, Counter()
        self.damaged_files = 0  # not every job has left one yet when its turn comes
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.refusals = Counter()  # what supervising and resuming said when they could not

    def run(self, n_jobs, n_started_anew):
        """Do all of it and return the report."""
        specs = [self._spec(number) for number in range(n_jobs)]
        plain = {spec.digest: None for spec in specs}
        for spec in specs:
            plain[spec.digest] = plain[spec.digest] or self.store.submit(spec).id
        self._until_done(list(plain.values()), disturb=lambda record: None)
        self.usual_seconds = {
            record.spec.digest: record.finished_at - record.started_at
            for record in map(self.store.job, plain.values())
        }

        jobs = [self.store.submit(spec).id for spec in specs]
        self.started_anew.update(self.rng.sample(jobs, n_started_anew))
        began = time.monotonic()
        self._until_done(jobs, self._disturb)
        for _, action in self.later:
            action()
        return {
            "seconds": time.monotonic() - began,
            "strikes": self.strikes,
            "damaged_files": self.damaged_files,
            "refusals": self.refusals,
            "jobs": [self._report(self.store.job(job), plain) for job in jobs],
        }

    def _spec(self, number):
        kind, params = WORK[number % len(WORK)]
        return JobSpec.make(kind, params=params, table=self.digest, seed=number // len(WORK) % 2)

    def _until_done(self, jobs, disturb):
        """Look after jobs, resuming what was stopped, until every one has succeeded or failed."""
        give_up_at = time.monotonic() + TIMEOUT_SECONDS
        open_jobs = set(jobs)
        while open_jobs and time.monotonic() < give_up_at:
            clear_away_the_dead()
            self._do_what_is_due()
            try:
                self._look_after(open_jobs, disturb)
            except PMAEError as error:  # a page says it, and tries again
                self.refusals[without_numbers(str(error))] += 1
            time.sleep(0.01)

    def _look_after(self, open_jobs, disturb):
        self.engine.supervise()
        for job in list(open_jobs):
            record = self.store.job(job)
            if record.state is JobState.RUNNING:
                disturb(record)
            elif record.state in (JobState.INTERRUPTED, JobState.CANCELLED):
                self.engine.resume(job)
            elif record.state is JobState.FAILED and ENDED_BY_DISK.search(record.error):
                self.store.put_table(self.table)  # as pages do with every submission
                self.engine.resume(job)
            elif record.state.is_final:
                open_jobs.remove(job)

    def _do_what_is_due(self):
        due = [entry for entry in self.later if entry[0] <= time.monotonic()]
        self.later = [entry for entry in self.later if entry not in due]
        for _, action in due:
            action()

    # Faults

    def _disturb(self, record):
        """Strike a job once the time for it has come."""
        key = record.id, record.attempt
        if key not in self.strike_at:
            usual = self.usual_seconds[record.spec.digest]
            if record.id in self.started_anew:
                usual = 4.0
            doomed = record.attempt <= MOST_STRIKES
            # A machine that was busier before does the work sooner now than it usually did.
            wait = self.rng.random() * usual / 2 if doomed else float("inf")
            self.strike_at[key] = time.monotonic() + wait
        if time.monotonic() < self.strike_at[key]:
            return
        if record.worker is None or not is_alive(record.worker):
            return
        self.strike_at[key] = float("inf")
        fault = self.faults[self.strikes.total() % len(self.faults)]
        self.strikes[fault] += 1
        getattr(self, "_" + re.sub(r"\W", "_", fault))(record)

    def _kill(self, record):
        # Its number is safe to use: only this process clears away the dead.
        os.kill(record.worker.pid, signal.SIGKILL)

    def _cancel(self, record):
        self.store.request_cancel(record.id)

    def _torn_file(self, record):
        """Cut one of the files that the job goes on from, as a loss of power does."""
        file = self._kill_and_choose_file(record)
        if file is not None:
            os.truncate(file, self.rng.randrange(file.stat().st_size))

    def _flipped_byte(self, record):
        """Change one byte of one of the files that the job goes on from."""
        file = self._kill_and_choose_file(record)
        if file is not None:
            flip_byte(file, self.rng)

    def _kill_and_choose_file(self, record):
        self._kill(record)
        os.waitpid(record.worker.pid, 0)
        kept = [
            file
            for folder in ("checkpoint", "tasks", "consequences", "answer")
            for file in sorted((record.folder / folder).glob("*.*"))
            if not file.name.startswith(".") and file.stat().st_size
        ]
        self.damaged_files += bool(kept)
        return self.rng.choice(kept) if kept else None

    def _damaged_table(self, record):
        """Damage the stored table under all jobs; the next one that opens it finds out."""
        flip_byte(self.store.home / "tables" / f"{self.digest}.parquet", self.rng)

    def _no_room(self, record):
        """Let the worker, and nobody else, write nothing for a while."""
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)

        def limit(limits):
            with suppress(ProcessLookupError):  # it has ended
                resource.prlimit(record.worker.pid, resource.RLIMIT_FSIZE, limits)

        limit((0, usual[1]))
        self._do_later(lambda: limit(usual))

    def _clock_step(self, record):
        self.clock.offset += self.rng.choice(CLOCK_STEPS)

    def _full_disk(self, record):
        """Leave no room for anybody for a while."""
        self.disk.fill()
        self._do_later(self.disk.empty)

    def _read_only_disk(self, record):
        """Make the disk read-only, as Linux does after a crash, and go on as if it were not."""
        for child in psutil.Process().children():
            child.kill()
            os.waitpid(child.pid, 0)
        before = self.store.job(record.id)
        self.store.close()
        with self.disk.read_only():
            for act in (
                self.engine.supervise,
                lambda: self.engine.cancel(record.id),
                lambda: self.store.submit(record.spec),
                lambda: self.store.put_table(self.table.assign(a=0.0)),
            ):
                try:
                    act()
                except PMAEError as error:
                    self.refusals[without_numbers(str(error))] += 1
                else:
                    raise AssertionError("something was written to a read-only disk")
        self.store.close()
        assert self.store.job(record.id) == before

    def _do_later(self, action):
        self.later.append((time.monotonic() + self.rng.uniform(0.2, 1.2), action))

    # The report

    def _report(self, record, plain):
        events = self.store.events(record.id)
        states = [e for e in events if e.kind == "state"]
        return {
            "id": record.id,
            "kind": record.kind,
            "state": record.state,
            "error": record.error,
            "attempts": record.attempt,
            "states": [(e.attempt, e.data["state"]) for e in states],
            "whys": [
                without_numbers(e.data["why"])
                for e in states
                if e.data["state"] in ("failed", "interrupted")
            ],
            "workers": [e.attempt for e in events if e.kind == "WorkerStarted"],
            "attempts_in_order": [e.attempt for e in events] == sorted(e.attempt for e in events),
            "first_steps": [e.data["first_step"] for e in events if e.kind == "TrainingStarted"],
            "from_disk": sum(e.kind == "TaskFinished" and e.data["from_disk"] for e in events),
            "damage_found": sum(e.kind == "DamageFound" for e in events),
            "twins": (record.folder / "twins").exists(),
            "same_result": record.state is JobState.SUCCEEDED
            and contents(record) == contents(self.store.job(plain[record.spec.digest])),
            "leftovers": [path.name for path in record.folder.glob("result.*")],
        }


def small_table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["b"] += table["a"]
    table["group"] = np.where(table["a"] + rng.normal(size=60) > 0, "yes", "no")
    missing = rng.random(table.shape) < 0.2
    return table.mask(pd.DataFrame(missing, columns=table.columns))


def flip_byte(file, rng):
    content = bytearray(file.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def clear_away_the_dead():
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def without_numbers(sentence):
    """Return a sentence without paths and numbers, so that equal ones can be counted."""
    return re.sub(r"\d+", "#", re.sub(r"'?/[^\s']+'?", "PATH", sentence))


def contents(record):
    """Return all that a result says besides the time it took, and how it got over damage."""
    result = record.folder / "result"
    if record.kind is JobKind.COMPARE:
        tasks = json.loads((result / "comparison.json").read_text())["tasks"]
        timing = ("fit_seconds", "impute_seconds", "sample_seconds", "peak_memory_mb")
        return [{k: v for k, v in task.items() if k not in timing} for task in tasks]
    notes = [note for note in record.result["notes"] if "damaged" not in note]
    small = {k: v for k, v in record.result.items() if k not in ("seconds", "notes")}
    return small, notes, [path.read_bytes() for path in sorted(result.glob("*.parquet"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--started-anew", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--own-disk", action="store_true")
    options = parser.parse_args()
    options.home.mkdir(parents=True, exist_ok=True)
    # The first report loads what draws figures; so it is there for all workers.
    warm = options.home.with_name(options.home.name + "-warm")
    write_comparison(compare(small_table(), ["naive"], seeds=[0]), warm)
    drill = Drill(options.home, seed=options.seed, own_disk=options.own_disk)
    json.dump(drill.run(options.jobs, options.started_anew), sys.stdout)


if __name__ == "__main__":
    main()
