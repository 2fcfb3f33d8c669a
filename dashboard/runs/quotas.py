"""How much a workspace and all of them together may take: room on disk, runs, uploads.

A limit refuses what would be added. Nothing that is there already is removed for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.classroom.store import classes_folder
from dashboard.runs.service import store, store_exists
from dashboard.state.environment import environment_number
from dashboard.state.workspace import Workspace
from pmae_core.errors import PMAEError
from pmae_core.jobs import JobPaths
from pmae_core.storage.disk import bytes_of
from pmae_core.storage.home import pmae_home
from pmae_core.storage.workspaces import workspaces_folder
from pmae_core.words import count

MEGABYTE = 1_000_000
HOME_MEASURED_SECONDS = 60

_OWN = 'Remove runs that you no longer need under "Your storage" on the Data page'
_SERVER = "ask those who run this server for more room"


class QuotaError(PMAEError):
    """A limit of the server is reached."""


@dataclass(frozen=True)
class Quota:
    """A limit that the administrator may set.

    Attributes
    ----------
    variable
        The environment variable that sets it; 0 is no limit.
    default
        The limit if it is not set.
    """

    variable: str
    default: float

    def limit(self) -> float:
        """Return the limit; infinite if there is none."""
        number = environment_number(
            self.variable,
            self.default,
            advice="a number, or to 0 for no limit",
            error=QuotaError,
        )
        return number or float("inf")


WORKSPACE_MEGABYTES = Quota("PMAE_WORKSPACE_MB", 4_000)
WORKSPACE_RUNS = Quota("PMAE_WORKSPACE_RUNS", 500)
TOTAL_MEGABYTES = Quota("PMAE_TOTAL_MB", 50_000)
TOTAL_RUNS = Quota("PMAE_TOTAL_RUNS", 20_000)
UPLOAD_MEGABYTES = Quota("PMAE_UPLOAD_HELD_MB", 2_000)


@dataclass(frozen=True)
class Usage:
    """What a workspace takes: megabytes on disk, and runs."""

    megabytes: float
    n_runs: int


def usage(workspace: Workspace) -> Usage:
    """Measure what a workspace takes."""
    n_bytes, n_runs = bytes_of(workspace.folder), 0
    if store_exists():
        n_bytes += store().bytes_of_workspace(workspace.id)
        n_runs = store().count(workspace.id)
    return Usage(n_bytes / MEGABYTE, n_runs)


def check_run(workspace: Workspace) -> None:
    """Refuse another run where a limit is reached.

    Raises
    ------
    QuotaError
        A sentence that names the limit and says what to do.
    """
    taken = usage(workspace)
    most = WORKSPACE_RUNS.limit()
    if taken.n_runs >= most:
        raise QuotaError(
            f"You have {count(taken.n_runs, 'run')}; the limit is {most:,.0f}. {_OWN}."
        )
    most = TOTAL_RUNS.limit()
    if store_exists() and store().count() >= most:
        raise QuotaError(
            f"This server has {count(store().count(), 'run')}; the limit is {most:,.0f}. "
            f"{_OWN}, or {_SERVER}."
        )
    _check_room(taken, 0.0, "start another run")


def check_upload(workspace: Workspace, n_bytes: int) -> None:
    """Refuse an upload where a limit is reached.

    Raises
    ------
    QuotaError
        A sentence that names the limit and says what to do.
    """
    held, most = _megabytes_held(), UPLOAD_MEGABYTES.limit()
    if held > most:
        raise QuotaError(
            f"This server holds {held:,.0f} MB of uploads in memory; the limit is "
            f"{most:,.0f} MB. Wait a minute, then upload the file again, or take a smaller one."
        )
    # The file takes the place of the upload before it.
    more = (n_bytes - bytes_of(workspace.upload_path)) / MEGABYTE
    _check_room(usage(workspace), more, "upload this file")


def _check_room(taken: Usage, more: float, to_do: str) -> None:
    """Refuse to take more megabytes of disk than a workspace, or all together, may."""
    most = WORKSPACE_MEGABYTES.limit()
    if taken.megabytes + more > most:
        raise QuotaError(
            f"Your workspace takes {taken.megabytes:,.0f} MB; the limit is {most:,.0f} MB, which "
            f"leaves too little room to {to_do}. {_OWN}."
        )
    most = TOTAL_MEGABYTES.limit()
    if _megabytes_in_all(str(pmae_home())) + more > most:
        raise QuotaError(
            f"The tables and runs of all visitors have reached the limit of {most:,.0f} MB, which "
            f"leaves too little room to {to_do}. {_OWN}, or {_SERVER}."
        )


@st.cache_data(ttl=HOME_MEASURED_SECONDS, max_entries=4, show_spinner=False)
def _megabytes_in_all(home: str) -> float:
    """Measure what the server keeps for all users; a large home takes a second, so not always."""
    paths = JobPaths(home)
    # Samples that were downloaded are the server's own.
    kept_for_users = (
        workspaces_folder(paths.home),
        classes_folder(paths.home),
        *(paths.jobs, paths.tables, paths.database),
    )
    return sum(map(bytes_of, kept_for_users)) / MEGABYTE


def _megabytes_held() -> float:
    """Return how much Streamlit holds of uploads that are on their way."""
    manager = _upload_manager()
    stats = manager.get_stats() if manager else {}
    return sum(stat.byte_length for family in stats.values() for stat in family) / MEGABYTE


def _upload_manager() -> Any:
    """Return what holds the uploads of all sessions; None in a script without a server."""
    return st.runtime.get_instance().uploaded_file_mgr if st.runtime.exists() else None
