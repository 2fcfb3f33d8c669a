"""The engine that runs each job in a process of its own on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from pmae_core.errors import JobError
from pmae_core.jobs.engines.gpus import VISIBLE, take_gpus, visible_gpus
from pmae_core.jobs.spec import JobSpec, JobState, Resources
from pmae_core.jobs.store import JobRecord, JobStore, ProcessId
from pmae_core.jobs.worker.context import JobContext
from pmae_core.threads import THREAD_VARIABLES

MAX_JOBS = 4
CANCEL_GRACE_SECONDS = 5.0
# A worker ends itself when its time is up; for one that cannot, others do, and then by force.
TERMINATE_AFTER_SECONDS = 3.0
KILL_AFTER_SECONDS = 6.0
START_SECONDS = 30.0
SILENCE_SECONDS = 60.0
ESTIMATE_SECONDS = 3.0
# A process' time of creation is counted from the boot, whose time moves when the clock is set.
CLOCK_TOLERANCE_SECONDS = 2.0
NICENESS = 5
TOKEN_VARIABLE = "PMAE_JOB_TOKEN"
_POLL_SECONDS = 0.2
HOST = socket.gethostname()
_PACKAGE_FOLDER = Path(__file__).parents[3]

# Workers that this process started: only their parent can clear them away when they are dead.
_children: dict[int, subprocess.Popen[bytes]] = {}
_children_lock = threading.Lock()


def _let_pages_go_first(pid: int) -> None:
    """Lower the priority of a worker: people wait for pages, and see that a job takes its time."""
    with contextlib.suppress(psutil.Error, OSError):
        psutil.Process(pid).nice(max(NICENESS, psutil.Process().nice()))
        # Where Linux weighs whole sessions against each other, the worker's own counts instead.
        Path(f"/proc/{pid}/autogroup").write_text(str(NICENESS))


class LocalEngine:
    """Runs the jobs of a store on this machine.

    A worker is detached from whoever started it, so it outlives a closed terminal and a
    restarted server. There is no daemon: the store decides who may do what, and any number of
    processes may call :meth:`tend` at once.

    Parameters
    ----------
    store : JobStore
        The store.
    concurrency : int, optional
        Jobs at a time; by default what PMAE_JOBS says, else one for each core and at most 4.
    cancel_grace : float, default 5
        Seconds a job has to stop by itself.
    estimate_seconds : float, default 3
        Seconds a job without an estimate of its cost first spends on one; 0 for none.
    """

    name = "local"

    def __init__(
        self,
        store: JobStore,
        *,
        concurrency: int | None = None,
        cancel_grace: float = CANCEL_GRACE_SECONDS,
        estimate_seconds: float = ESTIMATE_SECONDS,
    ) -> None:
        self.store = store
        self.concurrency = concurrency or _concurrency_from_environment()
        self.cancel_grace = cancel_grace
        self.estimate_seconds = estimate_seconds
        # Asked now: a worker shows only its own GPUs to what it loads later.
        self._gpus = visible_gpus()

    def default_resources(self) -> Resources:
        """Return an equal share of the machine's cores, and a GPU if there is one."""
        threads = max(1, available_cores() // self.concurrency)
        return Resources(threads=threads, gpus=min(1, len(self._gpus)))

    def submit(self, spec: JobSpec, workspace: str = "local", name: str | None = None) -> JobRecord:
        """Put a job into the queue, and start it if there is room."""
        if spec.resources.gpus > len(self._gpus):
            raise JobError(
                f"The job wants {spec.resources.gpus} GPU(s), and this machine has "
                f"{len(self._gpus)}; it would wait for ever."
            )
        record = self.store.submit(spec, workspace, engine=self.name, name=name)
        return self._tended(record.id)

    def cancel(self, job_id: str) -> JobRecord:
        """Ask a job to stop; what it has done so far stays. Soon it is ended by force."""
        self.store.request_cancel(job_id)
        return self._tended(job_id)

    def resume(self, job_id: str) -> JobRecord:
        """Put a job that was interrupted, cancelled or failed into the queue again."""
        self.store.resume(job_id)
        return self._tended(job_id)

    def wait(self, job_id: str, timeout: float | None = None) -> JobRecord:
        """Tend until the job ended or was interrupted, or the time is up; return it as it is."""
        give_up_at = None if timeout is None else time.monotonic() + timeout
        while True:
            record = self._tended(job_id)
            if record.state.is_final or record.state is JobState.INTERRUPTED:
                return record
            if give_up_at is not None and time.monotonic() >= give_up_at:
                return record
            time.sleep(_POLL_SECONDS)

    def tend(self) -> None:
        """Notice workers that died, end those that should have stopped, start what fits."""
        with _children_lock:
            for pid in [pid for pid, child in _children.items() if child.poll() is not None]:
                del _children[pid]
        self._reconcile()
        self._start_queued()

    @contextmanager
    def equip(self, spec: JobSpec, context: JobContext) -> Iterator[JobContext]:
        """Give the worker of a job the context in which to run it, and its GPUs.

        Libraries that are loaded from now on see these and no other.
        """
        wanted = spec.resources.gpus
        taken = take_gpus(self.store.home, self._gpus, wanted) if wanted else ()
        os.environ[VISIBLE] = ",".join(taken)
        yield context

    def _tended(self, job_id: str) -> JobRecord:
        self.tend()
        return self.store.job(job_id)

    def _reconcile(self) -> None:
        """Compare what the store believes to run with the processes there are."""
        for record in self.store.jobs(states=[JobState.RUNNING], limit=-1):
            trouble = _trouble(record)
            if trouble is None:
                self._enforce_cancel(record)
            elif record.token is not None:
                if record.worker is not None and record.worker.host == HOST:
                    _end_orphans(record.worker)
                # Refused by the store if the job ended or was noticed by others meanwhile.
                self.store.interrupt(record.id, record.token, trouble)

    def _enforce_cancel(self, record: JobRecord) -> None:
        """End a worker that was asked to stop and had its time; the next look notes its death."""
        worker, asked_at = record.worker, record.cancel_requested_at
        if asked_at is None or worker is None or worker.host != HOST or worker.pid == os.getpid():
            return
        overdue = time.time() - asked_at - self.cancel_grace
        if overdue < TERMINATE_AFTER_SECONDS:
            return
        # Asked anew: a worker that has just ended its job may be starting the next one.
        if self.store.job(record.id).token == record.token and is_alive(worker):
            number = signal.SIGTERM if overdue < KILL_AFTER_SECONDS else signal.SIGKILL
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, number)

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
                why = f"Its worker process could not be started: {error}"
                self.store.finish(record.id, token, JobState.FAILED, error=why)
                return  # not the whole queue at once, if the machine has a bad moment
            # The worker says the same of itself; who is first does not matter. Known from now
            # on, it is missed even if it dies before its first word.
            with contextlib.suppress(psutil.Error):
                created = psutil.Process(pid).create_time()
                self.store.register_worker(record.id, token, pid, created, HOST)

    def _spawn(self, record: JobRecord, token: str) -> int:
        """Start the worker of a job, detached from this process, and return its pid."""
        with open(record.folder / "log.txt", "ab") as log:
            child = subprocess.Popen(
                self._command(record),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment(record, token),
                start_new_session=True,
            )
        with _children_lock:
            _children[child.pid] = child
        _let_pages_go_first(child.pid)
        return child.pid

    def _command(self, record: JobRecord) -> list[str]:
        # -P: what lies in the folder where somebody happens to be is no library.
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

    def _environment(self, record: JobRecord, token: str) -> dict[str, str]:
        """Return the environment of a job's worker: the claim, its threads, and this package.

        Nothing in it adds up: this process may be a worker that starts the next one.
        """
        threads = str(record.spec.resources.threads)
        inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        search_path = dict.fromkeys([str(_PACKAGE_FOLDER), *filter(None, inherited)])
        return {
            **os.environ,
            **dict.fromkeys(THREAD_VARIABLES, threads),
            VISIBLE: ",".join(self._gpus),
            "PYTHONPATH": os.pathsep.join(search_path),
            "PYTHONUNBUFFERED": "1",
            "PMAE_JOBS": str(self.concurrency),
            TOKEN_VARIABLE: token,
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
    """Say whether a process of this machine runs; a dead one nobody has cleared away does not."""
    with _children_lock:
        child = _children.get(process.pid)
        if child is not None:
            child.poll()  # clears away a dead one
    try:
        status = psutil.Process(process.pid).status()
    except psutil.NoSuchProcess:
        return False
    return _is_same(process) and status not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def _is_same(process: ProcessId) -> bool:
    """Say whether the number of a process still is its own."""
    try:
        created = psutil.Process(process.pid).create_time()
    except psutil.NoSuchProcess:
        return False
    return abs(created - process.created) < CLOCK_TOLERANCE_SECONDS


def _trouble(record: JobRecord) -> str | None:
    """Say why a job that should run runs no more; None if it does."""
    worker, starter = record.worker, record.starter
    if worker is None:
        since_start = time.time() - (record.started_at or record.queued_at)
        if starter is not None and starter.host == HOST and not is_alive(starter):
            return "Its worker did not start: the process that was about to start it ended."
        if since_start > START_SECONDS:
            return f"Its worker did not start within {START_SECONDS:.0f} s."
        return None
    if worker.host == HOST:
        if is_alive(worker):
            return None
        if record.cancel_requested_at is not None:
            return "It did not stop by itself and was ended."
        return "Its worker process ended without a result: it was killed, or had no memory left."
    silence = time.time() - (record.heartbeat_at or record.queued_at)
    if silence > SILENCE_SECONDS:
        return f"Nothing was heard for {silence:.0f} s of its worker on {worker.host}."
    return None


def _end_orphans(worker: ProcessId) -> None:
    """End what a dead worker started: it might still write into the job's folder."""
    if psutil.pid_exists(worker.pid) and not _is_same(worker):
        return  # a stranger has its number now, so that of its group was free: nobody is left
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.pid, signal.SIGKILL)


def _concurrency_from_environment() -> int:
    given = os.environ.get("PMAE_JOBS")
    if not given:
        return min(MAX_JOBS, available_cores())
    if not given.isdecimal() or int(given) < 1:
        raise JobError(f"PMAE_JOBS must be a whole number from 1, not {given!r}.")
    return int(given)
