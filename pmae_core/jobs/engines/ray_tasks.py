"""The work of a job as Ray tasks: one per method and seed of a comparison, one per training."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pmae_core.errors import Cancelled, JobError, PMAEError
from pmae_core.events import Callback, CheckpointSaved, Event
from pmae_core.jobs.engines.ray_cluster import (
    MAX_RETRIES,
    Checkpoint,
    TaskListener,
    TaskReporter,
    import_ray,
    open_mailbox,
    remote_function,
)
from pmae_core.jobs.spec import JobSpec, Resources, installed_versions
from pmae_core.jobs.worker.context import JobContext, PhaseStarted
from pmae_core.jobs.worker.results import MODEL_FILE
from pmae_core.jobs.worker.run import fit_and_impute, table_of
from pmae_core.storage.files import replacing

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.evaluation import Task, TaskResult

POLL_SECONDS = 0.2
# Less than the time after which the worker of the job itself is ended.
CANCEL_GRACE_SECONDS = 4.0
LONG_WAIT_SECONDS = 15.0
_ENDED = (
    f"its process or its node ended {MAX_RETRIES + 1} times without a result. Perhaps there was "
    "not enough memory."
)


class RayTaskPool:
    """Runs the tasks of a comparison on the cluster to which this process is connected.

    Ray starts a task whose process or node dies again, up to five times. The table goes to the
    cluster once. The time that a task waits for room there does not count against its budget.

    Parameters
    ----------
    resources : Resources, optional
        What each task may use of a node.
    callbacks : sequence of callables
        Each receives the methods' own events.
    cancel : callable, optional
        Returns ``True`` when the user wants to stop.
    """

    def __init__(
        self,
        *,
        resources: Resources | None = None,
        callbacks: Sequence[Callback] = (),
        cancel: Callable[[], bool] = lambda: False,
    ) -> None:
        self.resources = resources or Resources()
        self.callbacks = callbacks
        self.cancel = cancel
        self._running: dict[Any, Task] = {}
        self._tables: dict[int, tuple[Any, Any]] = {}

    def run(self, next_task: Callable[[], Task | None]) -> Iterator[TaskResult]:
        """Yield results in the order in which they arrive.

        Parameters
        ----------
        next_task : callable
            Returns the next task whenever there is room for one; None when there are no more.
        """
        ray = import_ray()
        with open_mailbox() as mailbox:
            listener = TaskListener(mailbox, self.resources, self._emit)
            try:
                exhausted = False
                while self._running or not exhausted:
                    while not exhausted and len(self._running) < self._room():
                        task = next_task()
                        exhausted = task is None
                        if task is not None:
                            self._start(task, mailbox)
                    yield from self._collect(listener)
            finally:
                for reference in self._running:
                    ray.cancel(reference, force=True)
                self._running.clear()
                self._tables.clear()

    def _room(self) -> int:
        """Return how many tasks to submit to Ray, which decides where and when they run.

        One more than there is room for: no node idles between two tasks, and a cluster that can
        grow does so. Not with a time budget, which counts from the submission.
        """
        total = import_ray().cluster_resources()
        room = int(total.get("CPU", 0) // self.resources.threads)
        if self.resources.gpus:
            room = min(room, int(total.get("GPU", 0) // self.resources.gpus))
        timed = any(task.budget_seconds is not None for task in self._running.values())
        return max(1, room if timed else room + 1)

    def _start(self, task: Task, mailbox: Any) -> None:
        plain = {
            field.name: getattr(task, field.name)
            for field in fields(task)
            if field.name not in ("table", "truth")
        }
        reference = remote_function(_run_task, self.resources).remote(
            mailbox,
            installed_versions(),
            self.resources.memory_mb,
            plain,
            self._shared(task.table),
            self._shared(task.truth),
        )
        self._running[reference] = task

    def _shared(self, table: pd.DataFrame | None) -> Any:
        """Return a reference to a table in the cluster, where each is put once."""
        if id(table) not in self._tables:
            # The table is referenced too, or another one could get its id.
            self._tables[id(table)] = table, import_ray().put(table)
        return self._tables[id(table)][1]

    def _collect(self, listener: TaskListener) -> Iterator[TaskResult]:
        if self.cancel():
            raise Cancelled("The comparison was stopped.")
        ray = import_ray()
        ready, _ = ray.wait(
            list(self._running), num_returns=len(self._running), timeout=POLL_SECONDS
        )
        listener.listen()
        for reference, task in list(self._running.items()):
            if reference in ready:
                result: TaskResult | None = _result_of(reference, task)
            else:
                result = self._overdue(task, listener)
                if result is not None:
                    ray.cancel(reference, force=True)
            if result is not None:
                del self._running[reference]
                yield result

    def _overdue(self, task: Task, listener: TaskListener) -> TaskResult | None:
        from pmae_core.evaluation.parallel import overdue

        started = listener.started_at.get((task.method, task.seed))
        return None if started is None else overdue(task, time.monotonic() - started)

    def _emit(self, event: Event) -> None:
        for callback in self.callbacks:
            callback(event)


def _run_task(
    mailbox: Any,
    versions: Mapping[str, str],
    memory_mb: int | None,
    plain: Mapping[str, Any],
    table: pd.DataFrame,
    truth: pd.DataFrame | None,
) -> dict[str, Any]:
    """Run a task of a comparison; this happens on a node."""
    from pmae_core.evaluation import Task, run_task

    # The cluster's shared memory is read-only; a method may change its own table.
    task = Task(table=table.copy(), truth=None if truth is None else truth.copy(), **dict(plain))
    with TaskReporter(mailbox, (task.method, task.seed), versions, memory_mb) as reporter:
        return run_task(task, callbacks=(reporter.emit,), cancel=reporter.cancelled).to_dict()


def _result_of(reference: Any, task: Task) -> TaskResult:
    from pmae_core.evaluation import TaskResult
    from pmae_core.evaluation.parallel import no_result

    ray = import_ray()
    try:
        return TaskResult.from_dict(ray.get(reference))
    except ray.exceptions.RayTaskError as error:
        raise _cause_of(error) from error
    except ray.exceptions.RayError:
        return no_result(task, "failed", f"The method returned no result: {_ENDED}")


def _cause_of(error: Any) -> Exception:
    """Return the error of a node outside of the work itself."""
    if isinstance(error.cause, PMAEError):
        return error.cause
    return JobError(
        f"A node of the cluster could not run a task ({type(error.cause).__name__}: "
        f"{error.cause}). Every node needs the same installation of pmae[ray] as this machine."
    )


# ------------------------------------------------------------------ training and imputation


def fit_on_ray(spec: JobSpec, context: JobContext, out: Path) -> dict[str, Any]:
    """Do the work of a ``train`` or ``impute`` job as one Ray task.

    Checkpoints come back as they are made: a task that is started again, on another node or in
    a later attempt of the job, continues from the newest. Answers of a fit that goes on stay on
    the node: their events come back, their tables do not.

    Parameters
    ----------
    spec, context, out
        As for :func:`~pmae_core.jobs.worker.run.fit_and_impute`, which the node calls.

    Returns
    -------
    dict
        The small result.
    """
    checkpoint = context.folder / "checkpoint"

    def keep(message: Checkpoint) -> None:
        _write(checkpoint / message.name, message.content, keep_previous=True)

    def emit(event: Event) -> None:
        if isinstance(event, CheckpointSaved):
            event = replace(event, path=str(checkpoint / Path(event.path).name))
        context.emit(event)

    with open_mailbox(_contents(checkpoint)) as mailbox:
        listener = TaskListener(mailbox, spec.resources, emit, keep)
        reference = remote_function(_fit, spec.resources).remote(
            mailbox,
            installed_versions(),
            spec.to_json(),
            table_of(spec, context),
            None if spec.model is None else context.model_path(spec.model).read_bytes(),
        )
        try:
            result, files = _fit_result(reference, mailbox, listener, context)
        finally:
            import_ray().cancel(reference, force=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return dict(result)


def _fit_result(
    reference: Any, mailbox: Any, listener: TaskListener, context: JobContext
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Wait for a task, and return its small result and its files."""
    ray = import_ray()
    try:
        _wait(reference, mailbox, listener, context)
        result, files = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise _cause_of(error) from error
    except ray.exceptions.TaskCancelledError:
        raise Cancelled("The job was stopped.") from None
    except ray.exceptions.RayError as error:
        raise JobError(f"The job returned no result on the cluster: {_ENDED}") from error
    return result, files


def _wait(reference: Any, mailbox: Any, listener: TaskListener, context: JobContext) -> None:
    """Listen until the task has ended, by itself or by force."""
    ray = import_ray()
    begun = time.monotonic()
    is_announced = False
    force_at = None
    while True:
        ready, _ = ray.wait([reference], timeout=POLL_SECONDS)
        listener.listen()
        if ready:
            return
        now = time.monotonic()
        if not (is_announced or listener.started_at) and now - begun > LONG_WAIT_SECONDS:
            context.emit(PhaseStarted(phase="Waiting for room on the cluster"))
            is_announced = True
        if context.cancel():
            if force_at is None:
                mailbox.cancel.remote()
                force_at = now + (CANCEL_GRACE_SECONDS if listener.started_at else 0.0)
            if now >= force_at:
                raise Cancelled("The job was stopped.")


def _fit(
    mailbox: Any,
    versions: Mapping[str, str],
    spec_json: str,
    table: pd.DataFrame,
    model: bytes | None,
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Fit and impute, and return the small result and its files; this happens on a node."""
    spec = JobSpec.from_json(spec_json)
    key = (spec.params.get("method", "The model"), spec.seed)
    with (
        tempfile.TemporaryDirectory(prefix="pmae-") as temporary,
        TaskReporter(mailbox, key, versions, spec.resources.memory_mb) as reporter,
    ):
        folder = Path(temporary)
        for name, content in import_ray().get(mailbox.checkpoints.remote()).items():
            _write(folder / "checkpoint" / name, content)
        model_path = folder / MODEL_FILE
        if model is not None:
            model_path.write_bytes(model)

        def emit(event: Event) -> None:
            if isinstance(event, CheckpointSaved):
                path = Path(event.path)
                reporter.emit(Checkpoint(path.name, path.read_bytes()))
            reporter.emit(event)

        context = JobContext(
            folder=folder,
            load_table=lambda _: table.copy(),
            model_path=lambda _: model_path,
            emit=emit,
            cancel=reporter.cancelled,
        )
        out = folder / "out"
        out.mkdir()
        result = fit_and_impute(spec, context, out)
        return result, _contents(out)


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, without those that are still being written."""
    if not folder.exists():
        return {}
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(".")
    }


def _write(path: Path, content: bytes, *, keep_previous: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, lasting=True, keep_previous=keep_previous) as unfinished:
        unfinished.write_bytes(content)
