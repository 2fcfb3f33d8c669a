"""The clean-up of a home: workspaces that nobody uses go with their jobs and tables."""

from __future__ import annotations

import time
from dataclasses import replace
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
    uses = store.last_uses(unused_days, now) if unused_days > 0 else {}
    folders = {workspace_id(folder.name): folder for folder in workspace_folders(store.home)}
    if not dry_run:
        for owner, folder in folders.items():
            note_use(folder, uses.get(owner, 0.0))
    since = now - unused_days * 86400
    unused = {
        owner: folder
        for owner, folder in folders.items()
        if unused_days > 0 and max(last_used(folder), uses.get(owner, 0.0)) < since
    }
    without_folder = [
        owner
        for owner, used_at in uses.items()
        if is_workspace_id(owner) and owner not in folders and used_at < since
    ]
    report = store.collect_garbage(
        unused_workspaces=[*unused, *without_folder],
        unused_days=unused_days,
        now=now,
        dry_run=dry_run,
        **limits,
    )
    leftovers = sorted(abandoned_files(store.home, now - GRACE_SECONDS))
    n_bytes = sum(map(bytes_of, (*unused.values(), *leftovers)))
    if not dry_run:
        for folder in unused.values():
            if is_unused(folder, unused_days, now):  # nobody came back meanwhile
                remove_workspace(folder)
        for path in leftovers:
            remove_path(path)
        if store.is_sparse():
            store.compact()
    return replace(
        report,
        workspaces=sorted(unused),
        leftovers=[*report.leftovers, *leftovers],
        bytes_freed=report.bytes_freed + n_bytes,
    )
