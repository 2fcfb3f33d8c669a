"""The engine that runs the work of jobs on a Ray cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pmae_core.jobs.engines.local import LocalEngine
from pmae_core.jobs.engines.ray_cluster import connected, import_ray
from pmae_core.jobs.engines.ray_tasks import RayTaskPool, fit_on_ray
from pmae_core.jobs.spec import JobSpec, Resources
from pmae_core.jobs.store import JobRecord, JobStore
from pmae_core.jobs.store.part import DEFAULT_WORKSPACE
from pmae_core.jobs.worker.context import JobContext

MAX_JOBS = 8


class RayEngine(LocalEngine):
    """Runs the work of jobs on the Ray cluster that ``RAY_ADDRESS`` names.

    A job has its worker on this machine, as with :class:`LocalEngine`: it keeps the store up to
    date, handles a cancellation, and can be resumed. The work itself goes to the cluster: each
    method and seed of a comparison, and each training, is a Ray task with the threads (as CPUs),
    GPUs and memory of the job's resources. Ray decides where it runs, and starts it again when a
    node dies.

    This machine must have joined the cluster (``ray start --address=...``), and every node must
    have the same installation of ``pmae[ray]``. Results equal those of the local engine bit for
    bit on processors of the same kind. Tables and results travel in the cluster as Ray's own
    (pickled) objects, so everyone who may use the cluster must be trusted.

    Parameters
    ----------
    store : JobStore
        The store.
    concurrency : int, optional
        Jobs on the cluster at a time; by default PMAE_JOBS, or 8.
    **options
        As for :class:`LocalEngine`.
    """

    name = "ray"

    def __init__(self, store: JobStore, *, concurrency: int | None = None, **options: Any) -> None:
        if concurrency is None and not os.environ.get("PMAE_JOBS"):
            concurrency = MAX_JOBS
        super().__init__(store, concurrency=concurrency, **options)

    def default_resources(self) -> Resources:
        """Return one CPU per task: many small tasks use a cluster best."""
        return Resources(threads=1)

    def submit(
        self, spec: JobSpec, workspace: str = DEFAULT_WORKSPACE, name: str | None = None
    ) -> JobRecord:
        """Put a job into the queue, and start it if there is room."""
        import_ray()  # if it is not installed, say so before the job fails
        record = self.store.submit(spec, workspace, engine=self.name, name=name)
        return self._supervised(record.id)

    @contextmanager
    def equip(self, spec: JobSpec, context: JobContext) -> Iterator[JobContext]:
        """Give a context whose work goes to the cluster, to which the worker is connected."""

        def task_pool() -> RayTaskPool:
            return RayTaskPool(
                resources=spec.resources, callbacks=(context.emit,), cancel=context.cancel
            )

        with connected():
            yield replace(context, task_pool=task_pool, fit_remote=fit_on_ray)

    # The cluster limits what tasks may take, not this machine.

    def _gpu_limit(self) -> int:
        return sys.maxsize

    def _thread_limit(self) -> int | None:
        return None
