"""The clean-up of a home: workspaces that nobody uses go with their jobs and tables."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from pmae_core.jobs.store import GarbageReport, JobStore
from pmae_core.jobs.store.retention import GRACE_SECONDS
from pmae_core.storage.disk import bytes_of, remove_path
from pmae_core.storage.workspaces import (
    abandoned_files,
    is_unused,
    is_workspace_id,
    last_used,
    note_use,
    remove_workspace,
    workspace_folders,
    workspace_id,
)


class JobLimits(TypedDict, total=False):
    """Limits of :meth:`~pmae_core.jobs.JobStore.collect_garbage`, which apply to all jobs."""

    max_age_days: float | None
    max_bytes: int | None
    max_jobs: int | None


def collect(
    store: JobStore,
    *,
    unused_days: float = 0.0,
    now: float | None = None,
    dry_run: bool = False,
    **limits: Unpack[JobLimits],
) -> GarbageReport:
    """Remove workspaces that nobody uses, with their jobs and tables, and all leftovers.

    A workspace is in use when somebody opens it, and as long as one of its jobs waits or runs.
    Jobs and tables whose workspace is gone already go as well, once they are as old. Jobs of the
    command line and of library users belong to no workspace of the dashboard, and stay.

    Parameters
    ----------
    store : JobStore
        The store of the home.
    unused_days : float, default 0
        For how many days nobody used a workspace that goes; 0 keeps all.
    now : float, optional
        The time to count from; the clock's by default.
    dry_run : bool, default False
        Only report what would be removed.
    **limits
        As :meth:`JobStore.collect_garbage` takes them.

    Returns
    -------
    GarbageReport
        What was removed.
    """
    now = time.time() if now is None else now
    unused = _find_unused(store, unused_days, now, note=not dry_run)
    report = store.collect_garbage(
        unused_workspaces=unused, unused_days=unused_days, now=now, dry_run=dry_run, **limits
    )
    folders = [folder for folder in unused.values() if folder is not None]
    leftovers = sorted(abandoned_files(store.home, now - GRACE_SECONDS))
    n_bytes = sum(map(bytes_of, (*folders, *leftovers)))
    if not dry_run:
        for folder in folders:
            if is_unused(folder, unused_days, now):  # nobody came back meanwhile
                remove_workspace(folder)
        for path in leftovers:
            remove_path(path)
        if store.is_sparse():
            store.compact()
    return replace(
        report,
        workspaces=sorted(workspace_id(folder.name) for folder in folders),
        leftovers=[*report.leftovers, *leftovers],
        bytes_freed=report.bytes_freed + n_bytes,
    )


def _find_unused(store: JobStore, days: float, now: float, *, note: bool) -> dict[str, Path | None]:
    """Return the owners of jobs and tables to remove, with their folders if there are any.

    Parameters
    ----------
    store, days, now
        As for :func:`collect`.
    note
        Whether to note the use by jobs in the folders, where the dashboard looks.
    """
    if days <= 0:
        return {}
    since = now - days * 86400
    used_by_jobs = store.last_uses(days, now)
    unused: dict[str, Path | None] = {}
    present = set()
    for folder in workspace_folders(store.home):
        owner = workspace_id(folder.name)
        present.add(owner)
        if note:
            note_use(folder, used_by_jobs.get(owner, 0.0))
        if max(last_used(folder), used_by_jobs.get(owner, 0.0)) < since:
            unused[owner] = folder
    for owner, used_at in used_by_jobs.items():
        if is_workspace_id(owner) and owner not in present and used_at < since:
            unused[owner] = None
    return unused
