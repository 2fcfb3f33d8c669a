"""Choices of the page Paper: one of a few options, and which settings of PMAE to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.paper import measured, words
from dashboard.state import memory

SECTION = "paper"
_ROWS_HELP = (
    "Large tables were subsampled. With few rows, the paper's 600 epochs can be run on a "
    "processor; with many rows, results are closer to those of whole tables. All methods had the "
    "same rows."
)


def choose(
    label: str, name: str, options: Mapping[Any, str], *, help: str, hide_label: bool = False
) -> Any:
    """Ask for one of a few options, the first by default."""
    keys = list(options)
    return memory.remembered(
        st.segmented_control,
        label,
        section=SECTION,
        name=name,
        default=keys[0],
        options=keys,
        format_func=lambda key: options.get(key, str(key)),
        help=help,
        required=True,
        wrap=True,
        label_visibility="collapsed" if hide_label else "visible",
    )


def with_chosen_preset(means: pd.DataFrame) -> pd.DataFrame:
    """Ask which preset of PMAE to show, if there is a choice."""
    presets = measured.presets_of(means)
    preset = choose_preset("Preset of PMAE", "preset", presets) if presets else "balanced"
    return measured.with_preset(means, preset)


def choose_preset(label: str, name: str, presets: Sequence[str]) -> str:
    """Ask for a preset if there are several, and say what it is."""
    preset = presets[0]
    if len(presets) > 1:
        explained = " ".join(f"**{one}**: {words.PRESETS[one]}." for one in presets)
        preset = choose(label, name, {one: one for one in presets}, help=explained)
    st.caption(f"PMAE with the preset {preset}: {words.PRESETS[preset]}.")
    return str(preset)


def with_chosen_rows(means: pd.DataFrame) -> pd.DataFrame:
    """Ask up to how many rows of a table to show, if there is a choice."""
    caps = measured.caps_of(means)
    if len(caps) < 2:
        return measured.at_most(means, None)
    options = {cap: f"at most {cap:,}" for cap in caps}
    return measured.at_most(means, choose("Rows per table", "rows", options, help=_ROWS_HELP))
