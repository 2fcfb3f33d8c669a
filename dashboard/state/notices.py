"""Sentences that outlive a rerun: said in a callback, shown at the top of the page."""

from typing import Literal

import streamlit as st

NoticeKind = Literal["success", "info", "warning", "error"]

_NOTICES_KEY = "_notices"


def notify(kind: NoticeKind, sentence: str) -> None:
    """Show a sentence (Markdown) at the top of the page, now or in the next run."""
    notices = st.session_state.setdefault(_NOTICES_KEY, [])
    if (kind, sentence) not in notices:
        notices.append((kind, sentence))


def show_notices() -> None:
    """Draw the waiting sentences, once."""
    for kind, sentence in take_notices():
        getattr(st, kind)(sentence)


def take_notices() -> list[tuple[NoticeKind, str]]:
    """Return the waiting sentences and forget them."""
    return list(st.session_state.pop(_NOTICES_KEY, []))
