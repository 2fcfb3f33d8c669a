"""Widgets that remember: their values are written to the workspace when they change.

A widget starts from what is written there, after a page switch, a reload and a restart.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.errors import errors_as_notices
from dashboard.state import session
from dashboard.state.allowed_values import Choice, is_number

_TIMES_DRAWN_ANEW_KEY = "_times_drawn_anew"


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
        The value at first, and whenever the kept one no longer fits: another type, not among
        ``options``. Numbers are moved between ``min_value`` and ``max_value``.
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
        wanted = session.workspace().get(section).get(name, default)
    value = fitted(wanted, default, kwargs)
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    kept = {"key": key, "on_change": _keep, "args": (section, name, on_change)}
    return widget(label, **kept, **_as_default(widget, value, kwargs), **kwargs)


def _as_default(widget: Callable[..., Any], value: Any, kwargs: Mapping[str, Any]) -> dict:
    """Return a value as the widget's own default, too.

    A browser hears of a value in the session state once, with the run that sets it. If the next run
    comes before it has drawn that one, it would show the widget's usual default, not the value.
    """
    match widget.__name__:
        case "selectbox" | "radio":
            return {"index": None if value is None else list(kwargs["options"]).index(value)}
        case "multiselect" | "segmented_control":
            return {"default": value}
        case _:
            return {"value": value}


def remember(section: str, **values: Any) -> None:
    """Set remembered values, for presets and links. Call it in a callback (``on_click``).

    A widget whose value is set is drawn as a new one. Parts of a page that refresh by themselves
    send the values of all widgets along, and may have sent the old value a moment ago.
    """
    try:
        session.workspace().update(section, **values)
    finally:  # what could not be written holds nevertheless
        for name, value in values.items():
            if st.session_state.get(setting_key(section, name)) != value:
                draw_anew(section, name)


def draw_anew(section: str, name: str) -> None:
    """Draw a widget as a new one from now on. Call it in a callback (``on_click``).

    Browsers know the choice in a list by its words: if these change, the choice would be lost.
    """
    drawn = st.session_state.setdefault(_TIMES_DRAWN_ANEW_KEY, {})
    drawn[section, name] = drawn.get((section, name), 0) + 1


def setting_key(section: str, name: str) -> str:
    """Return the key of a remembered widget, as it is drawn now."""
    times = st.session_state.get(_TIMES_DRAWN_ANEW_KEY, {}).get((section, name), 0)
    return f"{section}:{name}:{times}" if times else f"{section}:{name}"


@errors_as_notices
def _keep(section: str, name: str, then: Callable[[], None] | None) -> None:
    # Only on a change: a tab with an old value must not overwrite what another one set since.
    try:
        session.workspace().update(section, **{name: st.session_state[setting_key(section, name)]})
    finally:  # what could not be written holds nevertheless
        if then is not None:
            then()


def fitted(value: Any, default: Any, limits: Mapping[str, Any]) -> Any:
    """Return the value if a widget with these limits can show it, else the nearest or default."""
    if "options" in limits:
        options = list(limits["options"])
        if isinstance(default, list):
            chosen = value if isinstance(value, list | tuple) else default
            fitting = [option for option in chosen if option in options]
            return list(dict.fromkeys(fitting))
        if isinstance(default, tuple):
            return tuple(value) if _is_pair_of(value, options) else default
        fallback = default if default in options or default is None else next(iter(options), None)
        return value if Choice(options).allows(value) else fallback
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
    if not is_number(value):
        return default
    number = type(default)(value)
    low, high = limits.get("min_value"), limits.get("max_value")
    number = number if low is None else max(number, low)
    return number if high is None else min(number, high)
