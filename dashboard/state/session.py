"""Which workspace and which table this browser session works on.

Streamlit forgets: a page switch drops the widgets of the page before, a reload is a new session.
So the browser keeps the workspace's token in a cookie.
"""

import time
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from dashboard.classroom.store import sweep as sweep_classes
from dashboard.components.browser_cookie import write_cookie
from dashboard.state.notices import notify
from dashboard.state.table_state import OpenTable, TableState
from dashboard.state.workspace import Workspace, sweep
from pmae_core.table import Schema, load_dataset

TOKEN_PARAMETER = "w"
FIRST_SAMPLE = "cirrhosis"

_TOKEN_KEY = "_workspace_token"
_SWEEP_SECONDS = 3600
_COOKIE_DAYS = 400  # browsers keep none for longer
_GONE = "Your workspace no longer exists, because unused workspaces are removed after some time."


def workspace() -> Workspace:
    """Return the visitor's workspace: of a link, this session, the browser, or a new one."""
    asked = st.query_params.get(TOKEN_PARAMETER, "")
    token = asked or st.session_state.get(_TOKEN_KEY) or token_in_browser()
    found = Workspace.open(token) if token else None
    if found is None:
        found = _new_workspace()
        if token:
            notify("info", f"{_GONE} You have a new one, with a sample table.")
    if st.session_state.get(_TOKEN_KEY) != found.token:
        st.session_state[_TOKEN_KEY] = found.token
    if asked:  # an address is copied, shown on projectors and kept in histories
        del st.query_params[TOKEN_PARAMETER]
    return found


def known_workspace() -> Workspace | None:
    """Return the workspace that the visitor has already; none is made for those without one."""
    token = st.session_state.get(_TOKEN_KEY) or token_in_browser()
    return Workspace.open(token) if token else None


def token_in_browser() -> str:
    """Return the token that this browser kept from an earlier visit; empty if there is none."""
    return str(st.context.cookies.get(cookie_name(), ""))


def cookie_name() -> str:
    """Return the name of the cookie with the token: cookies know no ports, and studios differ."""
    port = urlsplit(st.context.url or "").port
    return f"pmae_workspace_{port}" if port else "pmae_workspace"


def keep_token_in_browser() -> None:
    """Let the browser find the workspace again at the bare address."""
    token = workspace().token
    if token_in_browser() != token:
        write_cookie(cookie_name(), token, days=_COOKIE_DAYS)


def link_to_workspace() -> str:
    """Return a link that opens this workspace, its table and its runs on another device."""
    here = urlsplit(st.context.url or "")
    return urlunsplit(
        (here.scheme, here.netloc, here.path, f"{TOKEN_PARAMETER}={workspace().token}", "")
    )


def _new_workspace() -> Workspace:
    _sweep_now_and_then(int(time.time() // _SWEEP_SECONDS))
    created = Workspace.create()
    open_sample(created, FIRST_SAMPLE)
    return created


@st.cache_data(max_entries=1, show_spinner=False)
def _sweep_now_and_then(hour: int) -> int:
    return sweep() + sweep_classes()


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
        If it can no longer be read.
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
