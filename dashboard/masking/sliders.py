"""The controls for a masking function and its parameters, outside the live lab."""

import streamlit as st

from dashboard.masking.lab import slider_range, slider_words
from dashboard.state import memory
from pmae_core.masking import MaskingFunction, list_masking_functions


def choose_function(*, section: str, help: str) -> MaskingFunction:
    """Ask for a masking function; the default is the paper's."""
    functions = {function.name: function for function in list_masking_functions()}
    name = memory.remembered(
        st.selectbox,
        "Masking function",
        section=section,
        name="function",
        default="logit",
        options=list(functions),
        format_func=lambda key: functions[key].title,
        help=help,
    )
    return functions[name]


def choose_params(function: MaskingFunction, *, section: str) -> dict[str, float]:
    """Ask for each parameter of a masking function; each section remembers its own values."""
    params = {}
    for parameter, default in function.parameters.items():
        low, high, step = slider_range(parameter, default)
        label, explanation = slider_words(parameter)
        params[parameter] = memory.remembered(
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
