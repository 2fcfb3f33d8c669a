"""Which workspace and which table this browser session works on.

Streamlit forgets: a page switch drops the widgets of the page before, a reload is a new session.
So the browser keeps the workspace's token in a cookie.
"""

import shutil
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from dashboard.components.browser_cookie import write_cookie
from dashboard.state import one_time_codes
from dashboard.state.notices import notify
from dashboard.state.table_state import OpenTable, TableState
from dashboard.state.workspace import Workspace
from pmae_core.table import Schema, load_dataset

CODE_PARAMETER = "enter"
TOKEN_PARAMETER = "w"
TOKEN_KEY = "_workspace_token"
FIRST_SAMPLE = "cirrhosis"

_PREVIOUS_KEY = "_previous_workspace_token"
_LINK_KEY = "_one_time_link"
_USED_CODE_KEY = "_used_code"
_COOKIE_RENEWED_KEY = "_cookie_renewed"
_COOKIE_DAYS = 400  # browsers keep none for longer
_REMOVED = "because it was deleted, or nobody used it for some time."
_ELSEWHERE = "choose **Open on another device** where it is open"


def workspace() -> Workspace:
    """Return the visitor's workspace: of a link, this session, the browser, or a new one."""
    found = _workspace_of_link() or _workspace_of_browser()
    if st.session_state.get(TOKEN_KEY) != found.token:
        st.session_state[TOKEN_KEY] = found.token
    return found


def _workspace_of_browser() -> Workspace:
    found = known_workspace()
    if found is None:
        token = _known_token()
        found = _new_workspace()
        if token:
            notify(
                "info",
                f"Your workspace no longer exists, {_REMOVED} You have a new one, with a sample "
                "table.",
            )
    return found


def known_workspace() -> Workspace | None:
    """Return the workspace that the visitor has already; none is made for those without one."""
    token = _known_token()
    return Workspace.open(token) if token else None


def _known_token() -> str:
    """Return the token of this session, or of an earlier visit; empty if there is none."""
    return st.session_state.get(TOKEN_KEY) or token_in_browser()


# The browser's cookie


def token_in_browser() -> str:
    """Return the token that this browser kept from an earlier visit; empty if there is none."""
    return str(st.context.cookies.get(cookie_name(), ""))


def cookie_name() -> str:
    """Return the name of the cookie with the token: cookies know no ports, and studios differ."""
    port = urlsplit(st.context.url or "").port
    return f"pmae_workspace_{port}" if port else "pmae_workspace"


def keep_token_in_browser() -> None:
    """Let the browser find the workspace again at the bare address.

    Each visit renews the cookie: Safari forgets after a week what a page wrote.
    """
    token = workspace().token
    if token_in_browser() != token or not st.session_state.get(_COOKIE_RENEWED_KEY):
        write_cookie(cookie_name(), token, days=_COOKIE_DAYS)
    st.session_state[_COOKIE_RENEWED_KEY] = True


# Links to the workspace


@dataclass(frozen=True)
class OneTimeLink:
    """A link that opens this workspace in one other browser."""

    address: str
    made: one_time_codes.OneTimeCode

    @property
    def works(self) -> bool:
        """Whether it is neither used nor expired."""
        return one_time_codes.is_waiting(self.made)


def create_link_to_workspace() -> None:
    """Make a one-time link to this workspace, its tables and its runs. For ``on_click``."""
    made = one_time_codes.create_code(workspace())
    here = urlsplit(st.context.url or "")
    address = urlunsplit((here.scheme, here.netloc, here.path, f"{CODE_PARAMETER}={made.code}", ""))
    st.session_state[_LINK_KEY] = OneTimeLink(address, made)


def link_to_workspace() -> OneTimeLink | None:
    """Return the link that this session made last; None if it made none."""
    link: OneTimeLink | None = st.session_state.get(_LINK_KEY)
    return link


def _workspace_of_link() -> Workspace | None:
    """Return the workspace that the address opens, if any.

    What opens it leaves the address, which is copied, shown on projectors and kept in histories.
    """
    code = st.query_params.pop(CODE_PARAMETER, "")
    token = st.query_params.pop(TOKEN_PARAMETER, "")
    opened = None
    # A browser may send its address once more before it hears that the code has left it.
    if code and code != st.session_state.get(_USED_CODE_KEY):
        opened = _opened_by_code(code)
    elif token and token != st.session_state.get(TOKEN_KEY):
        opened = _opened_by_token(token)
    if opened is not None:
        _keep_previous(opened)
    return opened


def _opened_by_code(code: str) -> Workspace | None:
    st.session_state[_USED_CODE_KEY] = code
    token = one_time_codes.redeem_code(code)
    opened = Workspace.open(token) if token else None
    if opened is None:
        notify(
            "warning",
            f"This link no longer works: it opens a workspace once, within "
            f"{one_time_codes.MINUTES} minutes. This is your own workspace; to open the other "
            f"one, {_ELSEWHERE}.",
        )
    return opened


def _opened_by_token(token: str) -> Workspace | None:
    """Open a link of earlier versions, which had the token itself: once; its owner always may."""
    opened = Workspace.open(token)
    if opened is None:
        notify("info", f"The workspace of this link no longer exists, {_REMOVED}")
        return None
    if token_in_browser() == token:
        return opened
    if not opened.take_key_link():
        notify(
            "warning",
            "This link no longer works: it has opened its workspace once. This is your own "
            f"workspace; to open the other one, {_ELSEWHERE}.",
        )
        return None
    notify(
        "info",
        "This link has opened your workspace for the last time. This browser remembers the "
        f"workspace; to open it in another one, {_ELSEWHERE}.",
    )
    return opened


# The workspace that this browser had before it opened a link


def _keep_previous(opened: Workspace) -> None:
    previous = _known_token()
    if previous and previous != opened.token and Workspace.open(previous) is not None:
        st.session_state[_PREVIOUS_KEY] = previous
        notify(
            "info",
            "You are in the workspace of the link. To return to the one that this browser had "
            "before, click the name of the table.",
        )


def has_previous_workspace() -> bool:
    """Say whether a link led this browser away from a workspace of its own."""
    return _PREVIOUS_KEY in st.session_state


def return_to_previous_workspace() -> None:
    """Go back to the workspace that this browser had before. For ``on_click``."""
    _enter(st.session_state[_PREVIOUS_KEY])


def leave_deleted_workspace() -> None:
    """Go back to the workspace that this browser had before, or to a new one. For ``on_click``."""
    _enter(st.session_state.get(_PREVIOUS_KEY) or _new_workspace().token)


def _enter(token: str) -> None:
    st.session_state.clear()  # the widgets show the values of the other workspace
    st.session_state[TOKEN_KEY] = token


# Tables


def _new_workspace() -> Workspace:
    created = Workspace.create()
    try:
        open_sample(created, FIRST_SAMPLE)
    except BaseException:
        # Nobody knows its token: on a full disk each visit would leave one more.
        shutil.rmtree(created.folder, ignore_errors=True)
        raise
    return created


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
