"""What a page needs in order to be printed, besides its style sheet."""

from pathlib import Path

import streamlit as st

_mount = st.components.v2.component(
    "pmae_paper", js=(Path(__file__).parent / "paper.js").read_text(encoding="utf-8")
)


def prepare_paper() -> None:
    """Let the page fit its figures to the paper when somebody prints it."""
    with st.container(key="paper"):
        _mount(key="paper:listeners")
