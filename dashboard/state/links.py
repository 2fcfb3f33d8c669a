"""Links that carry settings, never data."""

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import streamlit as st

from dashboard.state.memory import remember
from dashboard.state.notices import notify

SHARED_PARAMETER = "s"

_SETTING_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_LONGEST_SHARED = 8_000


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
    return page_address(page, f"{SHARED_PARAMETER}={encoded(section or page, settings)}")


def page_address(page: str, query: str) -> str:
    """Return the address of a page of this studio with a query.

    Parameters
    ----------
    page
        The page's path in the address, such as ``"masking_lab"``.
    query
        What follows the question mark.
    """
    here = urlsplit(st.context.url or "")
    # The default page has no path of its own; an app below a path of a server keeps that path.
    folder = here.path.rsplit("/", 1)[0]
    return urlunsplit((here.scheme, here.netloc, f"{folder}/{quote(page)}", query, ""))


def encoded(section: str, settings: Mapping[str, Any]) -> str:
    """Return settings as a value in an address."""
    content = json.dumps([section, dict(settings)], separators=(",", ":"), allow_nan=False)
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def apply_shared_settings() -> None:
    """Apply the settings of a link, once; one that cannot be read changes nothing but says so."""
    shared = st.query_params.get(SHARED_PARAMETER)
    if shared is None:
        return
    del st.query_params[SHARED_PARAMETER]
    try:
        section, settings = decoded(shared)
    except ValueError:
        notify(
            "warning",
            "The settings in this link cannot be read, so yours are unchanged. "
            "Ask for the link again: part of it may be missing.",
        )
        return
    remember(section, **settings)
    notify("info", "This page has the settings of the link. Your table is unchanged.")


def decoded(shared: str) -> tuple[str, dict[str, Any]]:
    """Return the section and the settings of a value in an address.

    Raises
    ------
    ValueError
        If it cannot be one of ours.
    """
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
