"""Between Streamlit's session and the workspace on disk.

Streamlit forgets: a page switch drops the widgets of the page before, a reload is a new session.
So the workspace's token stands in the address, values of widgets are written to the workspace
when they change, and a widget starts from what is written there.
"""

import base64
import binascii
import json
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote, urlsplit, urlunsplit

import streamlit as st

from dashboard.workspace import OpenTable, TableState, Workspace, sweep
from pmae_core.table import Schema, load_dataset

TOKEN_PARAMETER = "w"
SHARED_PARAMETER = "s"
FIRST_SAMPLE = "penguins"

_TOKEN_KEY = "_workspace_token"
_NOTICES_KEY = "_notices"
_TIMES_DRAWN_ANEW_KEY = "_times_drawn_anew"
_SETTING_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_LONGEST_SHARED = 8_000
_SWEEP_SECONDS = 3600

NoticeKind = Literal["success", "info", "warning", "error"]


# The workspace


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


# The table


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


# Notices: sentences that outlive a rerun


def notify(kind: NoticeKind, sentence: str) -> None:
    """Show a sentence (Markdown) at the top of the page, now or in the next run."""
    notices = st.session_state.setdefault(_NOTICES_KEY, [])
    if (kind, sentence) not in notices:
        notices.append((kind, sentence))


def take_notices() -> list[tuple[NoticeKind, str]]:
    """Return the waiting sentences and forget them."""
    return list(st.session_state.pop(_NOTICES_KEY, []))


# Widgets that remember


def remembered(
    widget: Callable[..., Any],
    label: str,
    *,
    section: str,
    name: str,
    default: Any,
    on_change: Callable[[], None] | None = None,
    **kwargs: Any,
) -> Any:
    """Draw a widget whose value survives page switches, reloads and restarts.

    Parameters
    ----------
    widget
        ``st.slider``, ``st.selectbox``, ``st.toggle`` and so on.
    label
        The widget's label.
    section, name
        Where the workspace keeps the value: one section a page, names unique within it.
    default
        The value at first, and whenever the kept one does not fit (any more): another type, not
        among ``options``. Numbers are moved between ``min_value`` and ``max_value``.
    on_change
        Called after the value is kept.
    **kwargs
        For the widget; neither ``key`` nor its own default (``value``, ``index``).

    Returns
    -------
    object
        What the widget returns.

    Examples
    --------
    ``a = remembered(st.slider, "a", section="masking", name="a", default=0.05, min_value=0.0,
    max_value=0.5, help="...")``
    """
    key = setting_key(section, name)
    if key in st.session_state:
        wanted = st.session_state[key]
    else:
        wanted = workspace().get(section).get(name, default)
    fitted = _fitted(wanted, default, kwargs)
    if key not in st.session_state or st.session_state[key] != fitted:
        st.session_state[key] = fitted
    return widget(label, key=key, on_change=_keep, args=(section, name, on_change), **kwargs)


def remember(section: str, **values: Any) -> None:
    """Set remembered values, for presets and links. Call it in a callback (``on_click``).

    A widget whose value is set is drawn as a new one. Parts of a page that refresh by themselves
    send the values of all widgets along, and may have sent the old value a moment ago.
    """
    workspace().update(section, **values)
    drawn = st.session_state.setdefault(_TIMES_DRAWN_ANEW_KEY, {})
    for name, value in values.items():
        if st.session_state.get(setting_key(section, name)) != value:
            drawn[section, name] = drawn.get((section, name), 0) + 1


def setting_key(section: str, name: str) -> str:
    """Return the key of a remembered widget, as it is drawn now."""
    times = st.session_state.get(_TIMES_DRAWN_ANEW_KEY, {}).get((section, name), 0)
    return f"{section}:{name}:{times}" if times else f"{section}:{name}"


def _keep(section: str, name: str, then: Callable[[], None] | None) -> None:
    # Only on a change: a tab with an old value must not overwrite what another one set since.
    workspace().update(section, **{name: st.session_state[setting_key(section, name)]})
    if then is not None:
        then()


def _fitted(value: Any, default: Any, limits: Mapping[str, Any]) -> Any:
    """Return the value if a widget with these limits can show it, else the nearest or default."""
    if "options" in limits:
        options = list(limits["options"])
        if isinstance(default, list):
            chosen = value if isinstance(value, list | tuple) else default
            return [option for option in chosen if option in options]
        if isinstance(default, tuple):
            return tuple(value) if _is_pair_of(value, options) else default
        fallback = default if default in options or default is None else next(iter(options), None)
        return value if value in options else fallback
    if isinstance(default, tuple) and isinstance(value, list | tuple):
        if len(value) != len(default):
            return default
        parts = zip(value, default, strict=True)
        return tuple(sorted(_fitted_number(part, normal, limits) for part, normal in parts))
    if isinstance(default, bool) or not isinstance(default, int | float):
        return value if type(value) is type(default) or default is None else default
    return _fitted_number(value, default, limits)


def _is_pair_of(value: Any, options: Sequence[Any]) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(v in options for v in value)


def _fitted_number(value: Any, default: Any, limits: Mapping[str, Any]) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return default
    number = type(default)(value)
    low, high = limits.get("min_value"), limits.get("max_value")
    number = number if low is None else max(number, low)
    return number if high is None else min(number, high)


# Links that carry settings, never data


def share_link(page: str, settings: Mapping[str, Any], *, section: str | None = None) -> str:
    """Return a link that opens a page with these settings in the visitor's own workspace.

    Parameters
    ----------
    page
        The page's path in the address, such as ``"masking_lab"``.
    settings
        Values by name, as `remembered` has them.
    section
        Their section; the page's name by default.
    """
    content = json.dumps([section or page, dict(settings)], separators=(",", ":"), allow_nan=False)
    shared = base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")
    here = urlsplit(st.context.url or "")
    # The default page has no path of its own; an app below a path of a server keeps that path.
    folder = here.path.rsplit("/", 1)[0]
    query = f"{SHARED_PARAMETER}={shared}"
    return urlunsplit((here.scheme, here.netloc, f"{folder}/{quote(page)}", query, ""))


def apply_shared_settings() -> None:
    """Take over the settings of a link, once; what cannot be read is said and changes nothing."""
    shared = st.query_params.get(SHARED_PARAMETER)
    if shared is None:
        return
    del st.query_params[SHARED_PARAMETER]
    try:
        section, settings = _decoded(shared)
    except ValueError:
        notify(
            "warning",
            "The settings in this link cannot be read; yours are as they were. "
            "Ask for the link again: a part of it may be missing.",
        )
        return
    remember(section, **settings)
    notify("info", "This view has the settings of the link; your table is as it was.")


def _decoded(shared: str) -> tuple[str, dict[str, Any]]:
    if len(shared) > _LONGEST_SHARED:
        raise ValueError("too long")
    try:
        content = json.loads(base64.urlsafe_b64decode(shared + "=" * (-len(shared) % 4)))
    except (binascii.Error, UnicodeDecodeError, RecursionError) as error:
        raise ValueError("not a link of ours") from error
    match content:
        case [str(section), dict(settings)] if re.fullmatch(r"[a-z][a-z0-9_]{0,63}", section):
            pass
        case _:
            raise ValueError("not a link of ours")
    if not all(_SETTING_NAME.fullmatch(name) and _is_plain(v) for name, v in settings.items()):
        raise ValueError("not a link of ours")
    return section, settings


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_plain(part) and not isinstance(part, list) for part in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | bool | int)
