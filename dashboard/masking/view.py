"""What the Masking lab draws: the live lab, and details that Python computes after a release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.amputation.scenario import Scenario
from dashboard.components.masking_lab import masking_lab
from dashboard.figures.masking import (
    STATES,
    cell_states,
    cells_figure,
    weights_figure,
)
from dashboard.masking.caches import columns_of
from dashboard.masking.lab import (
    NOTHING_TO_LEARN,
    PICTURE_ROWS,
    UNIFORM_HELP,
    UNIFORM_RATE,
    Masking,
    MaskingTable,
    column_weights,
    masking_from,
    paper_sentence,
)
from dashboard.masking.live import lab_data, released_settings
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import code, plain
from dashboard.widgets import (
    choose_page,
    errors_as_notices,
    fragment,
    share_button,
    show_figure,
    show_tabs,
)
from dashboard.widgets.links import switch_to_page
from pmae_core.plots.masking import curve_data, curve_figure
from pmae_core.words import percent, shorten

SECTION = "masking_lab"
TRAIN_SECTION = "train"
OPEN_TABLE = "The open table"
COLUMNS_PER_PAGE = 15
INTRODUCTION = (
    "During training, some observed cells are **masked** and the network must **predict** them; "
    "the others it only **reconstructs**. The masking function sets the share masked in each "
    "column."
)


def show_title() -> None:
    """Draw the title of the page and what masking is."""
    title, introduction = st.columns([1, 3], gap="medium", vertical_alignment="center")
    title.title("Masking lab", anchor=False)
    introduction.markdown(INTRODUCTION)


@fragment
def show_lab(table: OpenTable) -> None:
    """Draw the lab on the open table."""
    scenario = _choose_missing_values()
    columns = columns_of(table, scenario)
    if not columns.names:
        st.info(NOTHING_TO_LEARN)
        return
    key = _key_of(table, scenario)
    settings = session.workspace().get(SECTION)
    masking = masking_from(settings)
    masking_lab(
        lab_data(columns, settings, key=key),
        key=f"{SECTION}:live",
        on_release=errors_as_notices(lambda released: _keep(released, columns)),
    )
    with st.container(horizontal=True, gap="small"):
        _offer_training(masking)
        share_button(SECTION, masking.to_dict())
    _show_details(key, columns, masking)


def _key_of(table: OpenTable, scenario: Scenario | None) -> str:
    source = None if scenario is None else scenario.to_dict()
    return hashlib.sha256(json.dumps([table.digest, source]).encode()).hexdigest()


# Settings


def _choose_missing_values() -> Scenario | None:
    """Ask whose missing values to use: the table's own, or those of a saved scenario."""
    scenarios = session.workspace().scenarios()
    chosen = OPEN_TABLE
    if scenarios:
        chosen = memory.remembered(
            st.selectbox,
            "Missing values of",
            section=SECTION,
            name="source",
            default=OPEN_TABLE,
            options=[OPEN_TABLE, *scenarios],
            format_func=lambda name: shorten(name, 40),
            help="The table's own missing values, or those of a scenario that you saved in the "
            "Amputation lab.",
        )
    return None if chosen == OPEN_TABLE else Scenario.from_dict(scenarios[chosen])


def _keep(released: Mapping[str, Any], columns: MaskingTable) -> None:
    memory.remember(SECTION, **released_settings(released, columns))


def _offer_training(masking: Masking) -> None:
    """Draw the way to Train, which then trains with this masking."""

    def use() -> None:
        memory.remember(SECTION, **masking.to_dict())
        memory.remember(TRAIN_SECTION, lab_masking=True)

    if st.button(
        "Use in Train",
        icon=":material/model_training:",
        key=f"{SECTION}:train",
        on_click=errors_as_notices(use),
        help="Opens Train with this masking function.",
    ):
        switch_to_page("train.py")


# Details


def _show_details(key: str, columns: MaskingTable, masking: Masking) -> None:
    contents = {
        "Loss per column": lambda: _show_weights(column_weights(columns, masking)),
        "Uniform masking": lambda: _show_uniform(key, columns),
        "Formula": lambda: _show_formula(columns, masking),
        "Figures to download": lambda: _show_downloads(columns, masking),
    }
    show_tabs(contents, key=f"{SECTION}:details")


def _show_weights(weights: pd.DataFrame) -> None:
    chart = st.container()
    shown = choose_page(SECTION, "weights", len(weights), COLUMNS_PER_PAGE, "columns")
    with chart:
        show_figure(
            weights_figure(weights.iloc[shown], uniform=UNIFORM_RATE),
            question="How much does each task weigh in the loss of a column?",
            key="masking-weights",
            data=weights,
            caption="Bars are expected weights; the white mark is uniform masking, "
            f"{percent(UNIFORM_RATE)} in every column.",
        )


def _show_uniform(key: str, columns: MaskingTable) -> None:
    before, uniform = st.columns(2, gap="medium")
    with before:
        show_figure(
            _lasting_picture(key, None, columns),
            question="Which cells are observed?",
            key="masking-cells-before",
            data=lambda: _cells(columns, None),
        )
    with uniform:
        show_figure(
            _lasting_picture(key, UNIFORM_RATE, columns),
            question="Which cells does uniform masking mask?",
            key="masking-cells-uniform",
            data=lambda: _cells(columns, UNIFORM_RATE),
        )
    st.caption(
        f"{UNIFORM_HELP} The rows and random numbers are those of the figure above, so the "
        "pictures differ only by the masking."
    )


def _show_formula(columns: MaskingTable, masking: Masking) -> None:
    function = masking.info
    st.markdown(
        f"Share masked (M_j) = {code(function.formula)}, where p_obs is the share of rows in which "
        f"the column is observed. {plain(function.explanation)} {paper_sentence(function.name)}"
    )
    st.caption("Training takes p_obs from each batch; this page takes it from the whole table.")
    if columns.left_out:
        reasons = "; ".join(f"{code(name)}: {why}" for name, why in columns.left_out.items())
        st.caption(f"Not learned, so not shown: {reasons}.")


def _show_downloads(columns: MaskingTable, masking: Masking) -> None:
    """Draw what the live figure shows as figures with a menu: it has none of its own."""
    weights = column_weights(columns, masking)
    probability = masking.probability(columns.p_obs)
    curve, cells = st.columns([3, 2], gap="medium")
    with curve:
        show_figure(
            curve_figure(curve_data(masking.probability), weights, uniform=UNIFORM_RATE),
            question="What share is masked?",
            key="masking-curve",
            data=weights,
            caption="Each point is one or more columns of the table.",
        )
    with cells:
        show_figure(
            _picture(columns, probability),
            question="What gets masked?",
            key="masking-cells",
            data=lambda: _cells(columns, probability),
        )


# Pictures of cells


def _cells(columns: MaskingTable, probability: np.ndarray | float | None) -> pd.DataFrame:
    """Return the states of the cells of some rows, in words."""
    return pd.DataFrame(STATES[_states(columns, probability)], columns=list(columns.names))


def _states(columns: MaskingTable, probability: np.ndarray | float | None) -> np.ndarray:
    masked = None if probability is None else columns.masked(probability)[:PICTURE_ROWS]
    return cell_states(columns.observed[:PICTURE_ROWS], masked)


def _picture(columns: MaskingTable, probability: np.ndarray | float | None) -> go.Figure:
    return cells_figure(_states(columns, probability), columns.names)


@st.cache_resource(max_entries=16, show_spinner=False)
def _lasting_picture(key: str, rate: float | None, _columns: MaskingTable) -> go.Figure:
    """Return a picture that no slider changes."""
    return _picture(_columns, rate)
