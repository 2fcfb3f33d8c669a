"""Sentences that outlive a rerun: said in a callback, shown by the next run."""

from typing import Literal

import streamlit as st

NoticeKind = Literal["success", "info", "warning", "error"]

_NOTICES_KEY = "_notices"


def notify(kind: NoticeKind, sentence: str) -> None:
    """Show a sentence (Markdown), now or in the next run.

    A success floats over the page for some seconds; anything else stays at the top of the page
    until the next run.
    """
    notices = st.session_state.setdefault(_NOTICES_KEY, [])
    if (kind, sentence) not in notices:
        notices.append((kind, sentence))


def show_notices() -> None:
    """Draw the waiting sentences, once."""
    for kind, sentence in take_notices():
        if kind == "success":
            # What the page shows anyway must not push its answer down.
            st.toast(sentence, icon=":material/check_circle:")
        else:
            getattr(st, kind)(sentence)


def take_notices() -> list[tuple[NoticeKind, str]]:
    """Return the waiting sentences and forget them."""
    return list(st.session_state.pop(_NOTICES_KEY, []))
