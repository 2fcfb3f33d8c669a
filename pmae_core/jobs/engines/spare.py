"""Spare workers: processes that have imported what jobs need and wait for one job.

Most of the time between submitting a job and its start goes into imports. A spare worker has done
them before, and nothing else: it knows no table, no claim and no other job. It gets one job through
a socket, see :mod:`pmae_core.jobs.worker.spare`, and from then on is a worker like any other.
"""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping

from pmae_core.documents import Document
from pmae_core.errors import JobError

# -P: modules in the current folder must not be imported.
COMMAND = (sys.executable, "-P", "-m", "pmae_core.jobs.worker.spare")
# What a spare worker sends when its imports are done.
READY = b"r"
# A spare worker listens for longer than its engine hands jobs to it, so that none arrives too late.
LISTEN_LONGER_SECONDS = 5.0
# One that ended before it got a job, perhaps for want of memory, is not replaced at once.
RETRY_SECONDS = 60.0


class Handover(Document):
    """What a spare worker is told to become the worker of a job.

    Attributes
    ----------
    arguments : list of str
        Those of :func:`pmae_core.jobs.worker.process.main`.
    token : str
        The claim on the job.
    log : str
        The file that receives what the worker prints.
    """

    error_class = JobError
    document_name = "The handover to a spare worker"

    arguments: list[str]
    token: str
    log: str


class SpareWorker:
    """A spare worker, as the engine that started it sees it.

    It ends when this object does: its socket closes.

    Parameters
    ----------
    environment : mapping
        Its environment.
    seconds : float
        How long it waits for a job.
    """

    def __init__(self, environment: Mapping[str, str], seconds: float) -> None:
        self._environment = dict(environment)
        self._usable_until = time.monotonic() + seconds
        self._is_ready = False
        self._socket, its_end = socket.socketpair()
        weakref.finalize(self, self._socket.close)
        with its_end:
            self.process = subprocess.Popen(
                [*COMMAND, str(seconds)],
                stdin=its_end.fileno(),
                env=self._environment,
                start_new_session=True,
            )

    def serves(self, environment: Mapping[str, str]) -> bool:
        """Return whether it can become, now or soon, a worker with this environment.

        Libraries read the environment when they are imported, so it must be the same.
        """
        is_alive = self.process.poll() is None and time.monotonic() < self._usable_until
        return is_alive and self._environment == environment

    def is_ready(self) -> bool:
        """Return whether its imports are done."""
        if not self._is_ready and select.select([self._socket], [], [], 0)[0]:
            with contextlib.suppress(ConnectionError):
                self._is_ready = self._socket.recv(1) == READY
        return self._is_ready

    def hand_over(self, job: Handover) -> bool:
        """Give it a job; False if it has just died."""
        try:
            self._socket.sendall(job.model_dump_json().encode())
        except ConnectionError:
            return False
        finally:
            self._socket.close()
        return True


class SpareKeeper:
    """Keeps one spare worker ready; any number of threads may use it.

    Parameters
    ----------
    seconds : float
        How long a spare worker waits for a job; 0 for none.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._spare: SpareWorker | None = None
        self._next_start = 0.0
        self._lock = threading.Lock()

    def keep(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes] | None:
        """Start a spare worker unless there is one; return the new process, if any.

        Raises
        ------
        OSError
            If the process cannot be started.
        """
        with self._lock:
            if self.seconds <= 0 or time.monotonic() < self._next_start:
                return None
            if self._spare is not None and self._spare.serves(environment):
                return None
            self._next_start = time.monotonic() + RETRY_SECONDS
            self._spare = SpareWorker(environment, self.seconds)
            return self._spare.process

    def hand_over(
        self, job: Handover, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes] | None:
        """Give a job to the spare worker; None if none is ready for this environment."""
        with self._lock:
            spare = self._spare
            if spare is None or not (spare.serves(environment) and spare.is_ready()):
                return None
            self._spare, self._next_start = None, 0.0
        return spare.process if spare.hand_over(job) else None

    def close(self) -> None:
        """End the spare worker."""
        with self._lock:
            self._spare = None
