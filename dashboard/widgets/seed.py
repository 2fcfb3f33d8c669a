"""The number that all randomness follows from."""

from typing import Any

import streamlit as st

from dashboard.state.memory import remembered

LARGEST_SEED = 2**31 - 1


def choose_seed(
    label: str = "Seed",
    *,
    section: str,
    name: str = "seed",
    default: int = 0,
    largest: int = LARGEST_SEED,
    **kwargs: Any,
) -> int:
    """Ask for a seed up to the `largest`.

    All other parameters are those of :func:`dashboard.state.memory.remembered`.
    """
    seed = remembered(
        st.number_input,
        label,
        section=section,
        name=name,
        default=default,
        min_value=0,
        max_value=largest,
        step=1,
        **kwargs,
    )
    return int(seed)
