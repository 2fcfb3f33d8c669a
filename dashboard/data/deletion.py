"""Deleting what a visitor keeps on the server: all of it, or the runs that have ended."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import streamlit as st

from dashboard import runs
from dashboard.classroom.desk import delete_classes
from dashboard.data.uploads import cancel_reading
from dashboard.runs import estimates
from dashboard.runs.service import store_exists
from dashboard.state.one_time_codes import revoke_codes
from dashboard.state.workspace import Workspace
from pmae_core.errors import JobError
from pmae_core.jobs import JobState
from pmae_core.words import count, listed

TRACES_LEFT = (
    "Other runs keep the server's list of runs busy, so names of your columns may remain in its "
    "file. Delete everything once more in a minute to remove them."
)


@dataclass(frozen=True)
class Deletion:
    """What was deleted.

    Attributes
    ----------
    n_tables, n_runs, n_classes
        How many of each.
    has_traces
        Whether parts of the specifications may be left in the file that lists all runs.
    """

    n_tables: int
    n_runs: int
    n_classes: int = 0
    has_traces: bool = False

    def sentence(self) -> str:
        """Return what was deleted, in words.

        Examples
        --------
        >>> Deletion(n_tables=2, n_runs=1).sentence()
        'Deleted: 2 tables, 1 run and all your settings.'
        """
        counts = [
            count(self.n_tables, "table"),
            count(self.n_runs, "run"),
            *([count(self.n_classes, "class", "classes")] if self.n_classes else []),
        ]
        return f"Deleted: {listed([*counts, 'all your settings'])}."


def delete_everything(workspace: Workspace) -> Deletion:
    """Delete a workspace, its tables, runs, results, classes and links; runs under way end.

    Raises
    ------
    JobError
        If the runs cannot be deleted now; then nothing is deleted.
    """
    n_runs = len(runs.engine().remove_workspace(workspace.id).jobs) if store_exists() else 0
    estimates.stop(workspace.id)
    cancel_reading(workspace)
    revoke_codes(workspace)
    n_classes = delete_classes(workspace)
    n_tables = len(workspace.recent_tables())
    workspace.delete()
    has_traces = store_exists() and not _erased_traces(workspace)
    # What was computed from the tables is in memory, among that of all visitors.
    st.cache_data.clear()
    st.cache_resource.clear()
    return Deletion(n_tables, n_runs, n_classes, has_traces)


def _erased_traces(workspace: Workspace) -> bool:
    try:
        runs.store().erase_traces(workspace.id)
    except JobError:
        return False
    return True


def remove_ended_runs(workspace: Workspace) -> int:
    """Remove all runs that have ended, with their results; return how many.

    Those whose model is needed by a run that has not ended stay.
    """
    if not store_exists():
        return 0
    ended = [state for state in JobState if state.is_final]
    n_removed = 0
    for job in runs.store().jobs(workspace.id, states=ended, limit=-1):
        with contextlib.suppress(JobError):  # needed, or removed in another tab
            runs.store().delete(job.id)
            n_removed += 1
    runs.store().collect_garbage()
    return n_removed
