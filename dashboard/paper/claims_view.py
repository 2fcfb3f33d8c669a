"""The claims of the paper with their verdicts, at the top of the page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.paper.caches import claims
from dashboard.widgets import shown_errors

_STYLE = Path(__file__).with_name("claims.css")
_HELP = (
    "Reproduced: the whole 95% interval of the difference agrees with the claim. Not reproduced: "
    "the whole interval contradicts it. Not decided: it reaches both sides. Not tested: too few "
    "results. Intervals of one claim hold together; select a claim to see what it stands on."
)


def show_claims() -> None:
    """Draw one line per claim: verdict, claim, and what it stands on."""
    with shown_errors():
        sentence, lines = claims()
        st.html(_STYLE)
        st.markdown(f"**{sentence}**", help=_HELP)
        st.html(lines)
