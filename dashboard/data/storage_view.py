"""What the visitor keeps on the server, on the Data page, and deleting it."""

import math

import streamlit as st

from dashboard.data import deletion
from dashboard.runs import quotas
from dashboard.state import notices, session
from dashboard.state.workspace import Workspace, workspace_days
from dashboard.widgets import errors_as_notices
from pmae_core.words import count

_OPEN_KEY = "data:storage"


def show_storage(own: Workspace) -> None:
    """Draw a closed panel that says how much is stored and deletes it on demand."""
    panel = st.expander(
        "Your storage", icon=":material/database:", key=_OPEN_KEY, on_change="rerun"
    )
    if panel.open:  # measuring takes a moment
        with panel:
            _show_usage(quotas.usage(own))
            _show_deletions()


def _show_usage(taken: quotas.Usage) -> None:
    megabytes = math.ceil(10 * taken.megabytes) / 10  # a small table does not take 0.0 MB
    sentence = (
        f"Your tables, settings and runs take {megabytes:,.1f} MB on this server"
        f"{_limit(quotas.WORKSPACE_MEGABYTES, ' MB')}. "
        f"You have {count(taken.n_runs, 'run')}{_limit(quotas.WORKSPACE_RUNS)}."
    )
    if days := workspace_days():
        sentence += f" They are deleted when you have not opened the studio for {days:,g} days."
    st.caption(sentence)


def _limit(quota: quotas.Quota, unit: str = "") -> str:
    limit = quota.limit()
    return "" if math.isinf(limit) else f" (limit: {limit:,.0f}{unit})"


def _show_deletions() -> None:
    with st.popover("Remove ended runs", icon=":material/delete:", type="tertiary"):
        st.markdown(
            "This removes all runs that have ended and their results. You cannot undo this."
        )
        st.button(
            "Remove ended runs permanently",
            key="data:remove_ended",
            on_click=_remove_ended_runs,
        )
    with st.popover("Delete everything of mine", icon=":material/delete_forever:", type="tertiary"):
        st.markdown(
            "This cancels your runs and deletes everything that you have on this server: tables, "
            "settings, runs, results, and classes that you started. Other browsers that opened "
            "your workspace lose it, too. You cannot undo this."
        )
        st.button(
            "Delete everything now",
            key="data:delete_everything",
            on_click=_delete_everything,
        )


@errors_as_notices
def _remove_ended_runs() -> None:
    n_removed = deletion.remove_ended_runs(session.workspace())
    notices.notify("success", f"Removed {count(n_removed, 'run')}.")


@errors_as_notices
def _delete_everything() -> None:
    deleted = deletion.delete_everything(session.workspace())
    session.leave_deleted_workspace()
    notices.notify("info", f"{deleted.sentence()} You have a new workspace.")
    if deleted.has_traces:
        notices.notify("warning", deletion.TRACES_LEFT)
