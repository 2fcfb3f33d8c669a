"""Tasks in processes of their own: a crash costs one task, and time budgets are enforced."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from pmae_core.errors import Cancelled
from pmae_core.evaluation.tasks import Status, Task, TaskResult, over_budget, run_task
from pmae_core.threads import THREAD_VARIABLES

_POLL_SECONDS = 0.1
# A method that does not stop when asked to is ended this long after its budget.
GRACE_SECONDS = 20.0


class Pool(Protocol):
    """Runs tasks, in processes here or elsewhere; :class:`TaskPool` is one."""

    def run(self, next_task: Callable[[], Task | None]) -> Iterator[TaskResult]:
        """Yield results in the order in which tasks finish.

        Parameters
        ----------
        next_task : callable
            Called for a task whenever there is room for one; returns None if no task is left.
        """
        ...


def no_result(task: Task, status: Status, error: str) -> TaskResult:
    """Return a result for a task that returned none itself."""
    return TaskResult(
        method=task.method,
        seed=task.seed,
        status=status,
        error=error,
        budget_seconds=task.budget_seconds,
    )


def overdue(task: Task, seconds: float) -> TaskResult | None:
    """Return the result of a task that has run too long and must be ended, or None."""
    if task.budget_seconds is None or seconds <= task.budget_seconds + GRACE_SECONDS:
        return None
    error = f"{over_budget(task.budget_seconds)} The method did not stop when asked to."
    return no_result(task, "stopped", error)


@dataclass(eq=False)
class _Running:
    task: Task
    process: Any
    results: Any
    started: float


class TaskPool:
    """Runs up to `n_jobs` tasks at a time, each in a new process.

    Processes are spawned, so a script that uses this needs the usual
    ``if __name__ == "__main__":``. Each gets its share of the cores as threads, unless
    ``OMP_NUM_THREADS`` and the like are already set. Methods' own events are not forwarded.

    Parameters
    ----------
    n_jobs : int
        Tasks at a time.
    cancel : callable
        Returns ``True`` to stop.
    """

    def __init__(self, n_jobs: int, cancel: Callable[[], bool]) -> None:
        self.n_jobs = n_jobs
        self.cancel = cancel
        self._context = multiprocessing.get_context("spawn")
        self._running: list[_Running] = []

    def run(self, next_task: Callable[[], Task | None]) -> Iterator[TaskResult]:
        """Yield results in the order in which tasks finish; see :meth:`Pool.run`."""
        try:
            exhausted = False
            while self._running or not exhausted:
                while not exhausted and len(self._running) < self.n_jobs:
                    task = next_task()
                    exhausted = task is None
                    if task is not None:
                        self._start(task)
                yield from self._collect()
        finally:
            for running in self._running:
                _end(running)
            self._running.clear()

    def _start(self, task: Task) -> None:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_run_and_send, args=(sender, task), daemon=True)
        with _shared_cores(self.n_jobs):
            process.start()
        sender.close()
        self._running.append(_Running(task, process, receiver, time.monotonic()))

    def _collect(self) -> Iterator[TaskResult]:
        if self.cancel():
            raise Cancelled("The comparison was stopped.")
        ready = multiprocessing.connection.wait(
            [running.results for running in self._running], timeout=_POLL_SECONDS
        )
        for running in list(self._running):
            if running.results in ready:
                result: TaskResult | None = _receive(running)
            else:
                result = overdue(running.task, time.monotonic() - running.started)
            if result is not None:
                self._running.remove(running)
                _end(running)
                yield result


def _run_and_send(results: Any, task: Task) -> None:
    # Ctrl-C reaches all processes of a terminal; the parent decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    results.send(run_task(task).to_dict())


def _receive(running: _Running) -> TaskResult:
    try:
        return TaskResult.from_dict(running.results.recv())
    except EOFError:
        running.process.join()
        return no_result(
            running.task,
            "failed",
            "The process of the method ended without a result (exit code "
            f"{running.process.exitcode}), perhaps because memory ran out.",
        )


def _end(running: _Running) -> None:
    running.process.join(timeout=1)
    if running.process.is_alive():
        running.process.kill()
        running.process.join()
    running.results.close()


@contextmanager
def _shared_cores(n_jobs: int) -> Iterator[None]:
    """Let processes started inside share the cores: thread pools read these when loaded."""
    threads = str(max(1, (os.cpu_count() or 1) // n_jobs))
    added = [name for name in THREAD_VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(added, threads))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
