"""What every engine can do, and how one is chosen."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from pmae_core.errors import JobError

if TYPE_CHECKING:
    from pmae_core.jobs.spec import JobSpec, Resources
    from pmae_core.jobs.store import JobRecord, JobStore
    from pmae_core.jobs.worker.context import JobContext

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Starts jobs of a store and looks after them. There is no daemon: whoever looks, tends."""

    name: str

    def default_resources(self) -> Resources:
        """Return what a job should take of the machine when its user does not say."""
        ...

    def submit(self, spec: JobSpec, workspace: str = "local", name: str | None = None) -> JobRecord:
        """Put a job into the queue, and start it if there is room."""
        ...

    def cancel(self, job_id: str) -> JobRecord:
        """Ask a job to stop; what it has done so far stays. Soon it is ended by force."""
        ...

    def resume(self, job_id: str) -> JobRecord:
        """Put a job that was interrupted, cancelled or failed into the queue again."""
        ...

    def tend(self) -> None:
        """Notice workers that died, end those that should have stopped, start what fits."""
        ...

    def wait(self, job_id: str, timeout: float | None = None) -> JobRecord:
        """Tend until the job ended or was interrupted, or the time is up; return it as it is."""
        ...

    def equip(self, spec: JobSpec, context: JobContext) -> AbstractContextManager[JobContext]:
        """Give the worker of a job the context in which to run it."""
        ...


def make_engine(store: JobStore, name: str | None = None, **options: Any) -> Engine:
    """Return an engine by its name.

    Parameters
    ----------
    store : JobStore
        Whose jobs it runs.
    name : {"local", "ray"}, optional
        By default what the environment variable PMAE_ENGINE says, else "local".
    **options
        Those of :class:`~pmae_core.jobs.engines.local.LocalEngine`.

    Raises
    ------
    JobError
        If there is no such engine.
    """
    name = name or os.environ.get("PMAE_ENGINE") or "local"
    if name == "local":
        from pmae_core.jobs.engines.local import LocalEngine

        return LocalEngine(store, **options)
    if name == "ray":
        from pmae_core.jobs.engines.ray import RayEngine

        return RayEngine(store, **options)
    raise JobError(f"There is no engine {name!r}; choose one of: {', '.join(ENGINES)}.")
