"""Brings the reader to a part of the page: the focus moves there, and it scrolls into view."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

_mount = st.components.v2.component(
    "pmae_attention",
    js=(Path(__file__).parent / "attention.js").read_text(encoding="utf-8"),
)


def bring_reader_here(
    container: str, *, occasion: str | None, scroll: Literal["top", "near"] = "near"
) -> None:
    """Move the focus to the container that this is called in, once per occasion.

    A page that changes under a reader's hands leaves the focus on a button that is gone: the
    keyboard starts at the top again, and a screen reader says nothing.

    Parameters
    ----------
    container
        The key of the container around it.
    occasion
        Another one for each time that the reader is to be brought here; None leaves the focus
        where it is.
    scroll
        "top" scrolls to the top of the page, "near" only as far as needed to see the container.
    """
    _mount(
        key=f"{container}:attention",
        data={"container": container, "occasion": occasion, "scroll": scroll},
        height=0,
    )
