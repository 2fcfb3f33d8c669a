"""Reports of a worker: one thread writes events and heartbeats, and handles cancellation."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import psutil

from pmae_core.errors import JobError
from pmae_core.events import Event
from pmae_core.jobs.posix import signal_group
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store import JobStore, StaleClaimError
from pmae_core.jobs.store.database import DATABASE_FAILED
from pmae_core.jobs.worker.progress import ProgressTracker, describe_event, progress_key

TICK_SECONDS = 0.2
HEARTBEAT_SECONDS = 1.0
SUPERVISE_SECONDS = 5.0
FOLDER_DELETED = (
    "The folder of the job was deleted while it ran. Resume the job to start it from the beginning."
)
_MEGABYTE = 1024 * 1024


class Reporter:
    """Reports on a job while its work runs in the main thread.

    Every 0.2 s the events since the last time are appended to the store, but only the newest of
    each kind of progress; every second there is a heartbeat. The work itself never waits for the
    store and never sees its errors.

    Parameters
    ----------
    store : JobStore
        The store.
    job_id, token : str
        The job and the claim on it. Without the claim this process must not continue: it ends
        itself and everything it started.
    memory_mb : int or None
        The job fails if it uses more than this.
    cancel_grace : float
        Seconds between a cancellation and the end by force.
    supervise : callable
        Supervises all jobs; called regularly, so that queued jobs start even if no page is open.
    has_folder : callable
        Returns whether the job's folder is there; without it the job fails at once.
    tracker : ProgressTracker, optional
        Computes the progress; one that knows the planned tasks weighs them by their cost.

    Attributes
    ----------
    cancel_requested : bool
        Whether the user asked the job to stop.
    """

    def __init__(
        self,
        store: JobStore,
        job_id: str,
        token: str,
        *,
        memory_mb: int | None,
        cancel_grace: float,
        supervise: Callable[[], None],
        has_folder: Callable[[], bool] = lambda: True,
        tracker: ProgressTracker | None = None,
    ) -> None:
        self.cancel_requested = False
        self._store, self._job_id, self._token = store, job_id, token
        self._memory_limit = memory_mb
        self._cancel_grace = cancel_grace
        self._supervise = supervise
        self._has_folder = has_folder
        self._supervising = threading.Lock()
        self._process = psutil.Process()
        self._children_mb = 0.0
        self._tracker = tracker or ProgressTracker()
        self._pending: dict[object, tuple[str, dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._report, name="reporter", daemon=True)

    def start(self) -> None:
        """Start to report."""
        self._thread.start()

    def stop(self) -> None:
        """Report what is left, then stop."""
        self._stopped.set()
        self._thread.join()
        with contextlib.suppress(StaleClaimError):  # then the job has ended already
            retry_while_busy(self._write_events)

    def emit(self, event: Event) -> None:
        """Queue an event, to be written soon."""
        entry = describe_event(event)
        key = progress_key(*entry) or object()
        with self._lock:
            self._tracker.add(*entry)
            self._pending.pop(key, None)  # the newer one goes to the end
            self._pending[key] = entry

    def supervise(self) -> None:
        """Supervise all jobs; errors of other jobs only go to the log."""
        with self._supervising:
            self._supervise_or_log()

    def _supervise_or_log(self) -> None:
        try:
            self._supervise()
        except Exception:
            traceback.print_exc()

    def _report(self) -> None:
        now = time.monotonic()
        next_heartbeat, next_supervision, force_at = now, now + SUPERVISE_SECONDS, None
        try:
            while not self._stopped.wait(TICK_SECONDS):
                now = time.monotonic()
                # If the store is busy or the disk full, try again at the next tick.
                with _ignore_database_errors():
                    self._check_memory()
                    self._check_folder()
                    self._write_events()
                    if now >= next_heartbeat:
                        self._beat()
                        next_heartbeat = now + HEARTBEAT_SECONDS
                    if self.cancel_requested:
                        force_at = force_at or now + self._cancel_grace
                        if now >= force_at:
                            self._end(JobState.CANCELLED, None)
                if now >= next_supervision:
                    self.supervise()
                    next_supervision = time.monotonic() + SUPERVISE_SECONDS
        except BaseException as error:
            # Work without a claim or without reports is of no use; the job can be resumed.
            try:
                _log_end(error)
            finally:
                end_own_group()

    def _write_events(self) -> None:
        with self._lock:
            batch = dict(self._pending)
        if not batch:
            return
        self._store.append_events(self._job_id, self._token, list(batch.values()))
        with self._lock:
            for key, entry in batch.items():
                if self._pending.get(key) is entry:
                    del self._pending[key]

    def _beat(self) -> None:
        self._children_mb = _memory_of_children(self._process)
        with self._lock:
            progress = self._tracker.progress
        reply = self._store.heartbeat(
            self._job_id, self._token, memory_mb=self._memory_mb(), progress=progress
        )
        if not reply.holds_claim:
            raise StaleClaimError(f"The job {self._job_id} is no longer run by this process.")
        self.cancel_requested = self.cancel_requested or reply.cancel_requested

    def _memory_mb(self) -> float:
        return self._process.memory_info().rss / _MEGABYTE + self._children_mb

    def _check_memory(self) -> None:
        used = self._memory_mb()
        if self._memory_limit is not None and used > self._memory_limit:
            self._end(
                JobState.FAILED,
                f"The job needs more than the {self._memory_limit:,} MB of memory it may use "
                f"(it had {used:,.0f} MB). Allow more memory, or use fewer rows or a smaller "
                "method.",
            )

    def _check_folder(self) -> None:
        if not self._has_folder():
            self._end(JobState.FAILED, FOLDER_DELETED)

    def _end(self, state: JobState, error: str | None) -> None:
        """End the job by force; what is on disk stays."""
        if self._store.finish(self._job_id, self._token, state, error=error):
            # Never released: the end must not come while another job is being started.
            self._supervising.acquire()
            self._supervise_or_log()
            end_own_group()


def _log_end(error: BaseException) -> None:
    if isinstance(error, StaleClaimError):
        print("Another worker has this job now. This one ends.", flush=True)
    else:
        traceback.print_exception(error)


def _memory_of_children(process: psutil.Process) -> float:
    total = 0.0
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            # Not a worker of another job that this one started: it leads a group of its own.
            if os.getpgid(child.pid) == os.getpgrp():
                total += child.memory_info().rss / _MEGABYTE
    return total


def retry_while_busy(write: Callable[[], Any], *, seconds: float = 60.0) -> Any:
    """Call a function that writes to the store again until the store is not busy or full."""
    give_up_at = time.monotonic() + seconds
    while time.monotonic() < give_up_at:
        with _ignore_database_errors():
            return write()
        time.sleep(0.5)
    return write()


@contextmanager
def _ignore_database_errors() -> Iterator[None]:
    """Only log errors of the store's file, which may be locked, or the disk full."""
    try:
        yield
    except JobError as error:
        if error.code != DATABASE_FAILED:
            raise
        print(error, flush=True)


def end_own_group() -> NoReturn:
    """Kill this process and, if it leads a group, everything that it started."""
    if os.getpgrp() == os.getpid():
        signal_group(os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")
