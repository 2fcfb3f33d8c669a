"""Running a comparison: tasks one by one or in a pool, results as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from pmae_core.errors import Cancelled
from pmae_core.evaluation.parallel import Pool
from pmae_core.evaluation.store import ResultStore
from pmae_core.evaluation.tasks import Task, TaskFinished, TaskResult, TaskStarted, run_task
from pmae_core.events import Callback, Event

NOT_RUN = "not run: time budget"


@dataclass
class ComparisonRun:
    """Runs the tasks of a comparison, and keeps their results on disk if there is a store.

    Attributes
    ----------
    tasks : sequence of Task
        What to run; results are in this order.
    store : ResultStore or None
        Where results are kept.
    retry_failed : bool
        Whether to run tasks again that failed earlier.
    deadline : float or None
        No task starts after this time (of ``time.monotonic``).
    callbacks : sequence of callables
        Each is called with :class:`TaskStarted` and :class:`TaskFinished`.
    cancel : callable
        Returns ``True`` to stop.
    pool : Pool or None
        Runs the tasks; None runs them here, one after the other.
    run_order : iterable of str or None
        The methods in the order in which they run, each with all its seeds; None runs the tasks in
        their own order. The next one is asked for when the last task of a method has started.
    """

    tasks: Sequence[Task]
    store: ResultStore | None
    retry_failed: bool
    deadline: float | None
    callbacks: Sequence[Callback]
    cancel: Callable[[], bool]
    pool: Pool | None
    run_order: Iterable[str] | None = None
    n_done: int = 0
    unstarted: list[Task] = field(default_factory=list)
    _methods: Iterator[str] | None = field(default=None, init=False)
    _method: str | None = field(default=None, init=False)
    _started: float = field(default_factory=lambda: time.monotonic(), init=False)
    _seconds: dict[tuple[str, int], float] = field(default_factory=dict, init=False)
    _reported: set[tuple[str, int]] = field(default_factory=set, init=False)

    def results(self) -> list[TaskResult]:
        """Read what is on disk, run the rest, and return all in the order of the tasks."""
        found = {}
        for task in self.tasks:
            result = self._from_disk(task)
            if result is not None:
                found[task.method, task.seed] = result
                self._report(result, from_disk=True)
            else:
                self.unstarted.append(task)
        self._methods = None if self.run_order is None else iter(self.run_order)
        for result in self._run():
            if self.store is not None and self._is_final(result):
                self.store.save(result, _identity(self._task_of(result)))
            found[result.method, result.seed] = result
            self._report(result)
        return [found[task.method, task.seed] for task in self.tasks]

    def _run(self) -> Iterator[TaskResult]:
        if self.pool is not None:
            yield from self.pool.run(self._next_task)
        else:
            while (task := self._next_task()) is not None:
                yield run_task(task, callbacks=self.callbacks, cancel=self.cancel)
        for task in self.unstarted:
            yield TaskResult(method=task.method, seed=task.seed, status="not run", error=NOT_RUN)

    def _next_task(self) -> Task | None:
        """Return the next task with the time left for it; None if no task or no time is left."""
        if self.cancel():
            raise Cancelled("The comparison was stopped.")
        remaining = None if self.deadline is None else self.deadline - time.monotonic()
        if not self.unstarted or (remaining is not None and remaining <= 0):
            return None
        task = self._take()
        self._notify(TaskStarted(method=task.method, seed=task.seed))
        budgets = [one for one in (task.budget_seconds, remaining) if one is not None]
        return replace(task, budget_seconds=min(budgets, default=None))

    def _take(self) -> Task:
        """Take the next task off the list: the next of the same method while an order is given."""
        while self._methods is not None:
            for place, task in enumerate(self.unstarted):
                if task.method == self._method:
                    return self.unstarted.pop(place)
            self._method = next(self._methods, None)
            if self._method is None:
                self._methods = None
        return self.unstarted.pop(0)

    def _from_disk(self, task: Task) -> TaskResult | None:
        if self.store is None:
            return None
        result = self.store.load(task.method, task.seed, _identity(task))
        if result is None or (result.status == "failed" and self.retry_failed):
            return None
        if result.status == "done" and not _scored_as_asked(result, task):
            return None
        if result.status == "stopped" and _more_time(task.budget_seconds, result.budget_seconds):
            return None
        return result

    def _is_final(self, result: TaskResult) -> bool:
        """Say whether a result is worth keeping: not if the comparison ran out of time."""
        if result.status != "stopped":
            return result.status != "not run"
        return result.budget_seconds == self._task_of(result).budget_seconds

    def _task_of(self, result: TaskResult) -> Task:
        return next(t for t in self.tasks if (t.method, t.seed) == (result.method, result.seed))

    def _report(self, result: TaskResult, *, from_disk: bool = False) -> None:
        self.n_done += 1
        self._reported.add((result.method, result.seed))
        if not from_disk:
            self._seconds[result.method, result.seed] = _seconds_of(result)
        self._notify(
            TaskFinished(
                result=result,
                n_done=self.n_done,
                n_tasks=len(self.tasks),
                from_disk=from_disk,
                eta_seconds=self._seconds_left(),
            )
        )

    def _seconds_left(self) -> float | None:
        """Return a forecast for the other tasks; None before a task has been run.

        A method is expected to take as long as on other seeds, or else as long as the others do;
        all of that at the pace so far, which counts how many tasks run at once.
        """
        spent = sum(self._seconds.values())
        if not spent:
            return None
        by_method: dict[str, list[float]] = {}
        for (method, _), seconds in self._seconds.items():
            by_method.setdefault(method, []).append(seconds)
        typical = spent / len(self._seconds)
        left = [
            fmean(by_method.get(task.method, [typical]))
            for task in self.tasks
            if (task.method, task.seed) not in self._reported
        ]
        return sum(left) * (time.monotonic() - self._started) / spent

    def _notify(self, event: Event) -> None:
        for callback in self.callbacks:
            callback(event)


def _seconds_of(result: TaskResult) -> float:
    parts = (result.fit_seconds, result.impute_seconds, result.sample_seconds)
    return sum(seconds for seconds in parts if seconds is not None)


def _identity(task: Task) -> dict[str, Any]:
    """Return the settings that a result on disk must share with the task."""
    named = {} if task.imputer in (None, task.method) else {"imputer": task.imputer}
    return {**named, **task.params}


def _scored_as_asked(result: TaskResult, task: Task) -> bool:
    """Say whether a result on disk has the scores of random imputations that the task asks for."""
    has_i_score = "i_score" in result.scores
    same_number = result.imputations == task.imputations
    return (same_number or not task.imputations) and (has_i_score or not task.i_score)


def _more_time(now: float | None, then: float | None) -> bool:
    return now is None or (then is not None and now > then)
