"""The interface of every engine, and how one is chosen."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from pmae_core.errors import JobError
from pmae_core.jobs.store.part import DEFAULT_WORKSPACE
from pmae_core.words import listed

if TYPE_CHECKING:
    from pmae_core.jobs.spec import JobSpec, Resources
    from pmae_core.jobs.store import GarbageReport, JobRecord, JobStore
    from pmae_core.jobs.worker.context import JobContext

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Starts and supervises the jobs of a store.

    There is no daemon: every process that looks at jobs also calls :meth:`supervise`.
    """

    name: str

    def default_resources(self) -> Resources:
        """Return the resources of a job whose user names none."""
        ...

    def prepare(self) -> None:
        """Get ready for a job that will be submitted soon, so that it starts faster."""
        ...

    def submit(
        self, spec: JobSpec, workspace: str = DEFAULT_WORKSPACE, name: str | None = None
    ) -> JobRecord:
        """Put a job into the queue, and start it if there is room."""
        ...

    def cancel(self, job_id: str) -> JobRecord:
        """Ask a job to stop, and end it by force if it does not; its files stay."""
        ...

    def resume(self, job_id: str) -> JobRecord:
        """Put a job that was interrupted, cancelled or failed into the queue again."""
        ...

    def supervise(self) -> None:
        """Note workers that died, end those that should have stopped, start jobs that fit."""
        ...

    def remove_workspace(self, workspace: str) -> GarbageReport:
        """Remove all jobs and tables of a workspace with their files; end those that run."""
        ...

    def wait(self, job_id: str, timeout: float | None = None) -> JobRecord:
        """Supervise until the job ends, is interrupted, or the time is up; return the job."""
        ...

    def equip(self, spec: JobSpec, context: JobContext) -> AbstractContextManager[JobContext]:
        """Give the context in which a worker runs its job."""
        ...


def make_engine(store: JobStore, name: str | None = None, **options: Any) -> Engine:
    """Return an engine by its name.

    Parameters
    ----------
    store : JobStore
        The store of the jobs to run.
    name : {"local", "ray"}, optional
        By default the environment variable PMAE_ENGINE, or "local".
    **options
        Those of :class:`~pmae_core.jobs.engines.local.LocalEngine`.

    Raises
    ------
    JobError
        If there is no such engine, or the system cannot run jobs in the background.
    """
    name = name or os.environ.get("PMAE_ENGINE") or "local"
    if name == "local":
        from pmae_core.jobs.engines.local import LocalEngine

        return LocalEngine(store, **options)
    if name == "ray":
        from pmae_core.jobs.engines.ray import RayEngine

        return RayEngine(store, **options)
    raise JobError(f"There is no engine {name!r}. Choose {listed(ENGINES, last='or')}.")
