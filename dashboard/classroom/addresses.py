"""The addresses of classes and handouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from dashboard.state.links import encoded, page_address

CLASS_PARAMETER = "class"
HANDOUT_PARAMETER = "handout"

_PAGE = "learn"
_THIS_COMPUTER = ("localhost", "127.0.0.1", "::1")


def class_link(code: str) -> str:
    """Return the link that opens a class."""
    return page_address(_PAGE, f"{CLASS_PARAMETER}={code}")


def typed_address() -> str:
    """Return the address to type by hand, which asks for the code."""
    return page_address(_PAGE, CLASS_PARAMETER).split("://")[-1]


def is_for_this_computer_only() -> bool:
    """Say whether other devices cannot open the address that the teacher has open."""
    return urlsplit(st.context.url or "").hostname in _THIS_COMPUTER


def handout_link(settings: Mapping[str, Any]) -> str:
    """Return the link that opens a lesson for printing.

    Parameters
    ----------
    settings
        As in the link that shares the lesson.
    """
    return page_address(_PAGE, f"{HANDOUT_PARAMETER}={encoded(_PAGE, settings)}")
