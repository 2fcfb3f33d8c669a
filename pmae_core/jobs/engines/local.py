"""The engine that runs each job in a process of its own on this machine."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil

from pmae_core.errors import JobError
from pmae_core.jobs.engines.gpus import VISIBLE, reserve_gpus, visible_gpus
from pmae_core.jobs.engines.spare import Handover, SpareKeeper
from pmae_core.jobs.engines.stopwatch import Stopwatch
from pmae_core.jobs.environment import process_environment
from pmae_core.jobs.posix import require_posix, signal_group
from pmae_core.jobs.spec import JobSpec, JobState, Resources
from pmae_core.jobs.store import GarbageReport, JobRecord, JobStore, ProcessId
from pmae_core.jobs.store.part import DEFAULT_WORKSPACE
from pmae_core.jobs.worker.context import JobContext
from pmae_core.storage.disk import bytes_of, remove_path
from pmae_core.words import count, duration

MAX_JOBS = 4
CANCEL_GRACE_SECONDS = 5.0
# A worker ends itself when its time is up. If it cannot, other processes end it, at last by force.
TERMINATE_AFTER_SECONDS = 3.0
KILL_AFTER_SECONDS = 6.0
START_SECONDS = 30.0
SILENCE_SECONDS = 60.0
# Silence by the clock of this machine, which may be set and differs from that of another one.
# It is for processes that look once and end, and cannot watch the silence themselves.
LONG_SILENCE_SECONDS = 86400.0
ESTIMATE_SECONDS = 3.0
NICENESS = 5
TOKEN_VARIABLE = "PMAE_JOB_TOKEN"
LOG_FILE = "log.txt"
_POLL_SECONDS = 0.2
HOST = socket.gethostname()

# Workers that this process started: only their parent can reap them when they are dead.
_children: dict[int, subprocess.Popen[bytes]] = {}
_children_lock = threading.Lock()


def _lower_priority(pid: int) -> None:
    """Lower the priority of a worker below that of the pages, which people wait for."""
    with contextlib.suppress(psutil.Error, OSError):
        psutil.Process(pid).nice(max(NICENESS, psutil.Process().nice()))
        # Where Linux weighs whole sessions against each other, the priority of the session counts.
        Path(f"/proc/{pid}/autogroup").write_text(str(NICENESS))


class LocalEngine:
    """Runs the jobs of a store on this machine.

    A worker is detached from the process that started it, so it survives a closed terminal and a
    restarted server. There is no daemon: any number of processes may call :meth:`supervise` at
    once, and the claims in the store decide which of them starts a job.

    Parameters
    ----------
    store : JobStore
        The store.
    concurrency : int, optional
        Jobs at a time; by default PMAE_JOBS, or one per core and at most 4.
    cancel_grace : float, default 5
        Seconds that a job has to stop by itself.
    estimate_seconds : float, default 3
        Seconds that a job spends on estimating its cost if it has no estimate; 0 for none.
    spare_seconds : float, default 0
        Seconds that a spare worker waits for a job, see :meth:`prepare`; 0 for none. One takes
        much memory, so this is for processes that live long and whose users wait for jobs.

    Raises
    ------
    JobError
        If this is not a POSIX system, or PMAE_JOBS is malformed.
    """

    name = "local"

    def __init__(
        self,
        store: JobStore,
        *,
        concurrency: int | None = None,
        cancel_grace: float = CANCEL_GRACE_SECONDS,
        estimate_seconds: float = ESTIMATE_SECONDS,
        spare_seconds: float = 0.0,
    ) -> None:
        require_posix()
        self.store = store
        self.concurrency = concurrency or _concurrency_from_environment()
        self.cancel_grace = cancel_grace
        self.estimate_seconds = estimate_seconds
        self._spare = SpareKeeper(spare_seconds)
        self._stopwatch = Stopwatch()
        # Found now: later a worker hides all GPUs but its own.
        self._gpus = visible_gpus()

    def default_resources(self) -> Resources:
        """Return an equal share of the machine's cores, and a GPU if there is one."""
        threads = max(1, available_cores() // self.concurrency)
        return Resources(threads=threads, gpus=min(1, len(self._gpus)))

    def prepare(self) -> None:
        """Start a spare worker, unless there is one or this engine keeps none.

        It has imported what jobs need, so that the next job with the default resources starts at
        once. Then another takes its place. It ends with this engine's process, or when no job
        has come for `spare_seconds`.
        """
        # A machine that cannot start it may still run jobs; if not, the next one says so.
        with contextlib.suppress(OSError):
            child = self._spare.keep(self._environment(self.default_resources()))
            if child is not None:
                self._adopt(child)

    def close(self) -> None:
        """End the spare worker; jobs go on."""
        self._spare.close()

    def submit(
        self, spec: JobSpec, workspace: str = DEFAULT_WORKSPACE, name: str | None = None
    ) -> JobRecord:
        """Put a job into the queue, and start it if there is room."""
        if spec.resources.gpus > len(self._gpus):
            raise JobError(
                f"The job wants {count(spec.resources.gpus, 'GPU')}, but this machine has "
                f"{len(self._gpus)}. Ask for at most that many."
            )
        record = self.store.submit(spec, workspace, engine=self.name, name=name)
        return self._supervised(record.id)

    def cancel(self, job_id: str) -> JobRecord:
        """Ask a job to stop, and end it by force if it does not; its files stay."""
        self.store.request_cancel(job_id)
        return self._supervised(job_id)

    def resume(self, job_id: str) -> JobRecord:
        """Put a job that was interrupted, cancelled or failed into the queue again."""
        self.store.resume(job_id)
        return self._supervised(job_id)

    def remove_workspace(self, workspace: str) -> GarbageReport:
        """Remove all jobs and tables of a workspace with their files; end those that run."""
        report, workers = self.store.forget_workspace(workspace)
        for worker in workers:
            _kill(worker)
        folders = [self.store.paths.job(job_id) for job_id in report.jobs]
        n_bytes = sum(map(bytes_of, folders))
        for folder in folders:
            remove_path(folder)
        return replace(report, bytes_freed=report.bytes_freed + n_bytes)

    def wait(self, job_id: str, timeout: float | None = None) -> JobRecord:
        """Supervise until the job ends, is interrupted, or the time is up; return the job."""
        give_up_at = None if timeout is None else time.monotonic() + timeout
        while True:
            record = self._supervised(job_id)
            if record.state.is_final or record.state is JobState.INTERRUPTED:
                return record
            if give_up_at is not None and time.monotonic() >= give_up_at:
                return record
            time.sleep(_POLL_SECONDS)

    def supervise(self) -> None:
        """Note workers that died, end those that should have stopped, start jobs that fit."""
        with _children_lock:
            for pid in [pid for pid, child in _children.items() if child.poll() is not None]:
                del _children[pid]
        self._reconcile()
        self._start_queued()
        self.store.keep_backup()

    @contextmanager
    def equip(self, spec: JobSpec, context: JobContext) -> Iterator[JobContext]:
        """Give the context in which a worker runs its job, and reserve its GPUs.

        Libraries that are loaded from now on see these GPUs and no others.
        """
        wanted = spec.resources.gpus
        taken = reserve_gpus(self.store.home, self._gpus, wanted) if wanted else ()
        os.environ[VISIBLE] = ",".join(taken)
        yield context

    def _supervised(self, job_id: str) -> JobRecord:
        """Supervise all jobs, then return one."""
        self.supervise()
        return self.store.job(job_id)

    def _reconcile(self) -> None:
        """Compare the jobs that should run with the processes that do."""
        running = self.store.listing(states=[JobState.RUNNING], limit=-1)
        if running.damaged:
            self.store.end_damaged()
        self._stopwatch.keep_only({record.id for record in running.jobs})
        for record in running.jobs:
            why = self._why_dead(record)
            if why is None:
                self._enforce_cancel(record)
            elif record.token is not None:
                if record.worker is not None and record.worker.host == HOST:
                    _end_orphans(record.worker)
                # Refused by the store if the job has ended, or another process was faster.
                self.store.interrupt(record.id, record.token, why)

    def _why_dead(self, record: JobRecord) -> str | None:
        """Return why a job that should run does not, in a sentence; None if it runs."""
        worker, starter = record.worker, record.starter
        silence = self._silence(record)
        if worker is None:
            if starter is not None and starter.host == HOST and not is_alive(starter):
                return "The worker did not start: the process that was about to start it ended."
            if silence > START_SECONDS:
                return f"The worker did not start within {duration(START_SECONDS)}."
            return None
        if worker.host == HOST:
            if is_alive(worker):
                return None
            if record.cancel_requested_at is not None:
                return "The job did not stop by itself and was ended."
            return "The worker process ended without a result: it was killed, or out of memory."
        if silence > SILENCE_SECONDS:
            return f"The worker on {worker.host} has not reported for {duration(silence)}."
        return None

    def _silence(self, record: JobRecord) -> float:
        """Return for how many seconds a job has not been reported on."""
        by_clock = time.time() - (record.heartbeat_at or record.queued_at)
        watched = self._stopwatch.seconds(record.id, "heartbeat", record.heartbeat_at)
        return by_clock if by_clock > LONG_SILENCE_SECONDS else watched

    def _enforce_cancel(self, record: JobRecord) -> None:
        """End a worker that did not stop in time; the next :meth:`supervise` notes its end."""
        worker, asked_at = record.worker, record.cancel_requested_at
        if asked_at is None or worker is None or worker.host != HOST or worker.pid == os.getpid():
            return
        # By the clock, or by our own watch if the clock was set back since.
        waited = self._stopwatch.seconds(record.id, "cancel", asked_at)
        overdue = max(waited, time.time() - asked_at) - self.cancel_grace
        if overdue < TERMINATE_AFTER_SECONDS:
            return
        # Read again: a worker that has just ended its job may be starting the next one.
        if self.store.job(record.id).token == record.token and is_alive(worker):
            with contextlib.suppress(ProcessLookupError):
                signal_group(worker.pid, kill=overdue >= KILL_AFTER_SECONDS)

    def _start_queued(self) -> None:
        while True:
            claim = self.store.claim_next(
                self.name,
                running_limit=self.concurrency,
                gpu_limit=self._gpu_limit(),
                thread_limit=self._thread_limit(),
                owner=ProcessId.current(),
            )
            if claim is None:
                return
            record, token = claim
            try:
                pid = self._spawn(record, token)
            except (OSError, JobError) as error:
                why = f"The worker process could not be started: {error}"
                self.store.finish(record.id, token, JobState.FAILED, error=why)
                return  # the others may start when the machine has recovered
            # The worker registers itself, too; the order does not matter. Registered now, its
            # death is noticed even if it dies before it can do so.
            worker = ProcessId.of(pid)
            if worker is not None:
                self.store.register_worker(record.id, token, worker)
            self.prepare()

    def _spawn(self, record: JobRecord, token: str) -> int:
        """Give a job to a worker, detached from this process, and return its pid."""
        # It may have been deleted while the job waited.
        record.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        child = self._hand_to_spare(record, token)
        if child is None:
            child = self._start_worker(record, token)
            self._adopt(child)
        return child.pid

    def _hand_to_spare(self, record: JobRecord, token: str) -> subprocess.Popen[bytes] | None:
        """Give a job to the spare worker; None if none is ready for it."""
        if record.spec.resources.memory_mb is not None:
            return None  # the libraries that the job does not need would count as its memory
        log = str(record.folder / LOG_FILE)
        job = Handover(arguments=self._arguments(record), token=token, log=log)
        return self._spare.hand_over(job, self._environment(record.spec.resources))

    def _start_worker(self, record: JobRecord, token: str) -> subprocess.Popen[bytes]:
        """Start a process for a job."""
        with open(record.folder / LOG_FILE, "ab") as log:
            return subprocess.Popen(
                self._command(record),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**self._environment(record.spec.resources), TOKEN_VARIABLE: token},
                start_new_session=True,
            )

    def _adopt(self, child: subprocess.Popen[bytes]) -> None:
        """Look after a process that was just started."""
        with _children_lock:
            _children[child.pid] = child
        _lower_priority(child.pid)

    def _command(self, record: JobRecord) -> list[str]:
        # -P: modules in the current folder must not be imported.
        return [sys.executable, "-P", "-m", "pmae_core.jobs.worker", *self._arguments(record)]

    def _arguments(self, record: JobRecord) -> list[str]:
        """Return the arguments of a job's worker."""
        return [
            f"--home={self.store.home}",
            f"--job={record.id}",
            f"--engine={self.name}",
            f"--cancel-grace={self.cancel_grace}",
            f"--estimate-seconds={self.estimate_seconds}",
        ]

    def _environment(self, resources: Resources) -> dict[str, str]:
        """Return the environment of a worker without its claim."""
        return {
            **process_environment(resources.threads),
            VISIBLE: ",".join(self._gpus),
            "PYTHONUNBUFFERED": "1",
            "PMAE_JOBS": str(self.concurrency),
        }

    def _gpu_limit(self) -> int:
        return len(self._gpus)

    def _thread_limit(self) -> int | None:
        return max(available_cores(), self.concurrency)


def available_cores() -> int:
    """Return how many cores this process may use, which a container may have restricted."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_alive(process: ProcessId) -> bool:
    """Return whether a process of this machine runs; one that is dead but not reaped does not."""
    with _children_lock:
        child = _children.get(process.pid)
        if child is not None:
            child.poll()  # reaps it if it is dead
    try:
        status = psutil.Process(process.pid).status()
    except psutil.NoSuchProcess:
        return False
    return process.exists() and status not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def _kill(worker: ProcessId) -> None:
    """End a worker of this machine with all that it started, and wait until it is dead.

    One of another machine ends by itself when it notices that it lost its claim.
    """
    if worker.host != HOST or worker.pid == os.getpid():
        return
    give_up_at = time.monotonic() + KILL_AFTER_SECONDS
    while is_alive(worker) and time.monotonic() < give_up_at:
        with contextlib.suppress(ProcessLookupError):
            signal_group(worker.pid)
        time.sleep(0.01)


def _end_orphans(worker: ProcessId) -> None:
    """End processes that a dead worker started: they might still write into the job's folder."""
    if psutil.pid_exists(worker.pid) and not worker.exists():
        return  # another process has its number now, so its group is empty
    with contextlib.suppress(ProcessLookupError, PermissionError):
        signal_group(worker.pid)


def _concurrency_from_environment() -> int:
    given = os.environ.get("PMAE_JOBS")
    if not given:
        return min(MAX_JOBS, available_cores())
    if not given.isdecimal() or int(given) < 1:
        raise JobError(f"PMAE_JOBS must be a positive whole number, not {given!r}.")
    return int(given)
