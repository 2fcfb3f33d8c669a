"""The voice of a worker: one thread that writes events, tells its health and hears wishes."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import psutil

from pmae_core.errors import JobError
from pmae_core.events import Event
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store import JobStore, StaleClaimError
from pmae_core.jobs.worker.progress import ProgressTracker, describe_event, progress_key

TICK_SECONDS = 0.2
HEARTBEAT_SECONDS = 1.0
TEND_SECONDS = 5.0
_MEGABYTE = 1024 * 1024


class Reporter:
    """Speaks for a job while its work runs in the main thread.

    Every 0.2 s what was emitted since is appended to the store, of the same kind of progress
    only the newest; every second there is a heartbeat. Work itself never waits for the store and
    never sees its errors.

    Parameters
    ----------
    store : JobStore
        The store.
    job_id, token : str
        The job and the claim on it. Without the claim this process has no right to go on: it
        ends itself and all it started.
    memory_mb : int or None
        With more than this the job fails.
    cancel_grace : float
        Seconds between the wish to cancel and the end by force.
    tend : callable
        Looks after all jobs; called now and then, so that queued ones start even if no user looks.

    Attributes
    ----------
    cancel_requested : bool
        Whether the user wants the job to stop.
    """

    def __init__(
        self,
        store: JobStore,
        job_id: str,
        token: str,
        *,
        memory_mb: int | None,
        cancel_grace: float,
        tend: Callable[[], None],
    ) -> None:
        self.cancel_requested = False
        self._store, self._job_id, self._token = store, job_id, token
        self._memory_limit = memory_mb
        self._cancel_grace = cancel_grace
        self._tend = tend
        self._tending = threading.Lock()
        self._process = psutil.Process()
        self._children_mb = 0.0
        self._tracker = ProgressTracker()
        self._pending: dict[object, tuple[str, dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._speak, name="reporter", daemon=True)

    def start(self) -> None:
        """Begin to report."""
        self._thread.start()

    def stop(self) -> None:
        """Report what is left, and fall silent."""
        self._stopped.set()
        self._thread.join()
        with contextlib.suppress(StaleClaimError):  # then the job has its end already
            retry_while_busy(self._write_events)

    def emit(self, event: Event) -> None:
        """Take an event to be written soon."""
        entry = describe_event(event)
        key = progress_key(*entry) or object()
        with self._lock:
            self._tracker.hear(*entry)
            self._pending.pop(key, None)  # the newer one stands at the end
            self._pending[key] = entry

    def tend(self) -> None:
        """Look after all jobs; what goes wrong with others is no trouble of this one."""
        with self._tending:
            self._tend_or_complain()

    def _tend_or_complain(self) -> None:
        try:
            self._tend()
        except Exception:
            traceback.print_exc()

    def _speak(self) -> None:
        now = time.monotonic()
        next_heartbeat, next_tend, force_at = now, now + TEND_SECONDS, None
        try:
            while not self._stopped.wait(TICK_SECONDS):
                now = time.monotonic()
                # A store that is busy for long or has no room is asked again at the next tick.
                with _forgive_busy_store():
                    self._check_memory()
                    self._write_events()
                    if now >= next_heartbeat:
                        self._beat()
                        next_heartbeat = now + HEARTBEAT_SECONDS
                    if self.cancel_requested:
                        force_at = force_at or now + self._cancel_grace
                        if now >= force_at:
                            self._end(JobState.CANCELLED, None)
                if now >= next_tend:
                    self.tend()
                    next_tend = time.monotonic() + TEND_SECONDS
        except StaleClaimError:
            print("Another worker has this job now; this one ends.", flush=True)
            end_own_group()
        except BaseException:
            # Work that nobody hears of any more is worth nothing; the job can be resumed.
            traceback.print_exc()
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
        wish = self._store.heartbeat(
            self._job_id, self._token, memory_mb=self._memory_mb(), progress=progress
        )
        if not wish.holds_claim:
            raise StaleClaimError(self._job_id)
        self.cancel_requested = self.cancel_requested or wish.cancel_requested

    def _memory_mb(self) -> float:
        return self._process.memory_info().rss / _MEGABYTE + self._children_mb

    def _check_memory(self) -> None:
        used = self._memory_mb()
        if self._memory_limit is not None and used > self._memory_limit:
            self._end(
                JobState.FAILED,
                f"The job needs more than the {self._memory_limit:,} MB of memory it may use "
                f"(it had {used:,.0f} MB). Allow it more, or take fewer rows or a smaller method.",
            )

    def _end(self, state: JobState, error: str | None) -> None:
        """End the job by force; what is on disk stays."""
        if self._store.finish(self._job_id, self._token, state, error=error):
            # For good: nobody may be in the middle of starting another job when the end comes.
            self._tending.acquire()
            self._tend_or_complain()
            end_own_group()


def _memory_of_children(process: psutil.Process) -> float:
    total = 0.0
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            # A worker of another job that this one has started leads a group of its own.
            if os.getpgid(child.pid) == os.getpgrp():
                total += child.memory_info().rss / _MEGABYTE
    return total


def retry_while_busy(write: Callable[[], Any], *, seconds: float = 60.0) -> Any:
    """Call a function that writes to the store until the store has room and time for it."""
    give_up_at = time.monotonic() + seconds
    while time.monotonic() < give_up_at:
        with _forgive_busy_store():
            return write()
        time.sleep(0.5)
    return write()


@contextmanager
def _forgive_busy_store() -> Iterator[None]:
    """Pass over errors of the file below the store; it may be locked, or the disk full."""
    try:
        yield
    except JobError as error:
        if not isinstance(error.__cause__, sqlite3.Error):
            raise
        print(error, flush=True)


def end_own_group() -> NoReturn:
    """Kill this process and, if it leads a group, all that it started."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")
