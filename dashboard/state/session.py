"""Which workspace and which table this browser session works on.

Streamlit forgets: a page switch drops the widgets of the page before, a reload is a new session.
So the workspace's token stands in the address.
"""

import time

import streamlit as st

from dashboard.state.notices import notify
from dashboard.state.workspace import OpenTable, TableState, Workspace, sweep
from pmae_core.table import Schema, load_dataset

TOKEN_PARAMETER = "w"
FIRST_SAMPLE = "penguins"

_TOKEN_KEY = "_workspace_token"
_SWEEP_SECONDS = 3600


def workspace() -> Workspace:
    """Return the user's workspace: that of the address, of this session, or a new one."""
    token = st.query_params.get(TOKEN_PARAMETER) or st.session_state.get(_TOKEN_KEY, "")
    found = Workspace.open(token) if token else None
    if found is None:
        found = _new_workspace()
        if token:
            notify(
                "info",
                "The workspace in this address does not exist (any more): workspaces that nobody "
                "uses are removed after some time. You have a new one, with a sample table.",
            )
    _remember_token(found.token)
    return found


def _new_workspace() -> Workspace:
    _sweep_now_and_then(int(time.time() // _SWEEP_SECONDS))
    created = Workspace.create()
    open_sample(created, FIRST_SAMPLE)
    return created


@st.cache_data(max_entries=1, show_spinner=False)
def _sweep_now_and_then(hour: int) -> int:
    return sweep()


def _remember_token(token: str) -> None:
    """Write the token where a reload and the next page find it; a page switch drops it."""
    if st.session_state.get(_TOKEN_KEY) != token:
        st.session_state[_TOKEN_KEY] = token
    if st.query_params.get(TOKEN_PARAMETER) != token:
        st.query_params[TOKEN_PARAMETER] = token


def open_sample(target: Workspace, name: str) -> TableState:
    """Open a table of `list_datasets` in a workspace."""
    dataset = load_dataset(name)
    inferred = Schema.infer(dataset.frame)
    known = {c.name: c.role for c in dataset.schema if c.role != inferred.role(c.name)}
    return target.save_table(
        dataset.frame,
        name=name,
        source=f"a sample: {dataset.info.title}",
        roles=known,
    )


def open_table() -> OpenTable:
    """Return the open table; read-only, and read from disk only when it changed.

    Raises
    ------
    TableError
        If it cannot be read any more.
    """
    own = workspace()
    state = own.table_state()
    if state is None:
        state = open_sample(own, FIRST_SAMPLE)
    loaded = _load(own, state.digest, state)
    # Names differ between users who opened the same content. Shallow copies are cheap, and
    # writing into one leaves the others as they are.
    return OpenTable(
        name=state.name,
        digest=loaded.digest,
        frame=loaded.frame.copy(deep=False),
        schema=loaded.schema,
        sentinels=loaded.sentinels,
        source=state.source,
        state=state,
    )


@st.cache_resource(max_entries=4, show_spinner="Opening the table …")
def _load(_workspace: Workspace, digest: str, _state: TableState) -> OpenTable:
    return _workspace.load(_state)
