"""The sliders of a masking function, wherever one is chosen."""

import streamlit as st

from dashboard import session
from dashboard.labs.masking import slider_range, slider_words
from pmae_core.masking import MaskingFunction


def choose_params(function: MaskingFunction, *, section: str) -> dict[str, float]:
    """Ask for each parameter of a masking function; a section remembers its own."""
    params = {}
    for parameter, default in function.parameters.items():
        low, high, step = slider_range(parameter, default)
        label, explanation = slider_words(parameter)
        params[parameter] = session.remembered(
            st.slider,
            label,
            section=section,
            name=parameter,
            default=float(default),
            min_value=float(low),
            max_value=float(high),
            step=float(step),
            help=explanation,
        )
    return params
