"""Links that carry settings, never data."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import streamlit as st

from dashboard.state.allowed_values import AllowedValues, usable
from dashboard.state.memory import remember
from dashboard.state.notices import notify
from dashboard.text import code
from pmae_core.words import count, listed

SHARED_PARAMETER = "s"

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


@dataclass(frozen=True)
class SharedSettings:
    """What a link contains, after a check against what its section allows.

    Attributes
    ----------
    section
        Whose settings they are; a text that nobody checked.
    usable
        Values by name.
    refused
        Names of settings that exist, with values that they may not have.
    n_unknown
        How many names do not exist.
    """

    section: str
    usable: Mapping[str, Any]
    refused: tuple[str, ...]
    n_unknown: int


AllowedInSection = Callable[[str], Mapping[str, AllowedValues]]
"""Returns what links may set in a section, by name; nothing for sections that links do not set."""


def apply_shared_settings(allowed: AllowedInSection) -> None:
    """Apply the settings of a link, once; say so if some or all of them cannot be used."""
    shared = st.query_params.get(SHARED_PARAMETER)
    if shared is None:
        return
    del st.query_params[SHARED_PARAMETER]
    try:
        found = read_shared(shared, allowed)
    except ValueError:
        notify(
            "warning",
            "The settings in this link cannot be read, so yours are unchanged. "
            "Ask for the link again: part of it may be missing.",
        )
        return
    if found.usable:
        remember(found.section, **found.usable)
        notify("info", "This page has the settings of the link. Your table is unchanged.")
    if found.refused or found.n_unknown:
        notify("warning", f"This link had settings we could not use: {_refused_words(found)}.")


def _refused_words(found: SharedSettings) -> str:
    """Return what cannot be used; unknown names are counted, as anybody may have written them."""
    words = [code(name) for name in found.refused]
    if found.n_unknown:
        words.append(count(found.n_unknown, "unknown setting"))
    return listed(words)


def read_shared(shared: str, allowed: AllowedInSection) -> SharedSettings:
    """Return the settings of a value in an address.

    Raises
    ------
    ValueError
        If it cannot be one of ours.
    """
    section, settings = decoded(shared)
    declared = allowed(section)
    accepted = usable(settings, declared)
    known = [name for name in settings if name in declared]
    refused = tuple(name for name in known if name not in accepted)
    return SharedSettings(section, accepted, refused, n_unknown=len(settings) - len(known))


def decoded(shared: str) -> tuple[str, dict[str, Any]]:
    """Return the section and the settings of a value in an address; nothing in them is checked.

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
        case [str(section), dict(settings)]:
            return section, settings
        case _:
            raise ValueError("not a link of ours")
