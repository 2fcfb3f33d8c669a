"""The Masking lab as a live figure: it follows the hand in the browser, Python hears the release.

Its scripts are one module for the browser, each of them a part with one concern.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_SCRIPTS = ("masking_functions", "words", "labels", "curve", "cells", "masking_lab")


def browser_module() -> str:
    """Return the JavaScript of the component: a module whose exports tests can import, too."""
    return "\n".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)


_mount = st.components.v2.component(
    "pmae_masking_lab",
    html=(_HERE / "masking_lab.html").read_text(encoding="utf-8"),
    css=(_HERE / "masking_lab.css").read_text(encoding="utf-8"),
    js=browser_module(),
)


def masking_lab(
    data: Mapping[str, Any], *, key: str, on_release: Callable[[Mapping[str, Any]], None]
) -> None:
    """Draw the lab.

    Parameters
    ----------
    data
        From :func:`dashboard.masking.live.lab_data`.
    key
        Of the component, unique on the page.
    on_release
        Called with the settings when the hand lets go: the name of the ``function``, its
        parameters by name, and the highlighted column as ``focus`` if one was chosen. They come
        from a browser, so they may hold anything.
    """

    def receive() -> None:
        released = st.session_state[key]["released"]
        if isinstance(released, Mapping):
            on_release(released)

    _mount(key=key, data=data, on_released_change=receive)
