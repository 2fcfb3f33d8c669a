"""The number that all randomness follows from."""

from typing import Any

import streamlit as st

from dashboard.state.allowed_values import NumberWithin
from dashboard.state.memory import remembered

SEEDS = NumberWithin(0, 2**31 - 1)


def choose_seed(
    label: str = "Seed",
    *,
    section: str,
    name: str = "seed",
    default: int = 0,
    allowed: NumberWithin = SEEDS,
    **kwargs: Any,
) -> int:
    """Ask for one of the `allowed` seeds.

    All other parameters are those of :func:`dashboard.state.memory.remembered`.
    """
    seed = remembered(
        st.number_input,
        label,
        section=section,
        name=name,
        default=default,
        **allowed.limits(),
        step=1,
        **kwargs,
    )
    return int(seed)
