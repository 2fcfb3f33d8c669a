"""What the Masking lab draws: settings at the left, the curve and the cells at the right."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.amputation.scenario import Scenario
from dashboard.figures.masking import (
    MOST_BARS,
    STATES,
    cell_states,
    cells_figure,
    curve_data,
    curve_figure,
    weights_figure,
)
from dashboard.masking.caches import columns_of
from dashboard.masking.lab import (
    NOTHING_TO_LEARN,
    PICTURE_ROWS,
    PRESETS,
    UNIFORM_RATE,
    Masking,
    MaskingTable,
    column_sentence,
    column_weights,
    notes,
    paper_sentence,
    table_sentence,
)
from dashboard.masking.sliders import choose_function, choose_params
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import code, plain, shorten
from dashboard.widgets import calm, fragment, share_button, show_figure
from dashboard.widgets.focus import choose_column
from pmae_core.words import count, percent

SECTION = "masking_lab"
OPEN_TABLE = "The open table"
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
    with st.container(key="settings-beside"):
        settings, answer = st.columns([1, 3], gap="medium")
    with settings:
        scenario = _choose_missing_values()
        columns = columns_of(table, scenario)
        masking = _choose_masking()
    if not columns.names:
        answer.info(NOTHING_TO_LEARN)
        return
    weights = column_weights(columns, masking)
    with settings:
        _show_presets(masking)
        focus = _choose_focus(weights)
        share_button(SECTION, masking.to_dict())
    with answer:
        _show_answer(columns, masking, weights, focus)
    source = None if scenario is None else scenario.to_dict()
    _show_details(json.dumps([table.digest, source]), columns, masking, weights)


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


def _choose_masking() -> Masking:
    function = choose_function(
        section=SECTION,
        help="How the share of cells to mask in a column (M_j) depends on the share of rows in "
        "which the column is observed (p_obs).",
    )
    return Masking(function.name, choose_params(function, section=SECTION))


def _show_presets(masking: Masking) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        for preset in PRESETS:
            st.button(
                preset.title,
                help=preset.why,
                type="primary" if preset.masking.to_dict() == masking.to_dict() else "secondary",
                key=f"{SECTION}:preset:{preset.title}",
                on_click=calm(memory.remember),
                args=(SECTION,),
                kwargs=preset.masking.to_dict(),
            )


def _choose_focus(weights: pd.DataFrame) -> str:
    return choose_column(
        "Highlighted column",
        list(weights["column"]),
        section=SECTION,
        help="The ring in the figure marks this column. Columns with the most missing values come "
        "first.",
    )


# The answer


def _show_answer(
    columns: MaskingTable, masking: Masking, weights: pd.DataFrame, focus: str
) -> None:
    chosen = weights.set_index("column").loc[focus]
    st.markdown(
        f"{table_sentence(columns, masking)} "
        f"{column_sentence(focus, chosen['p_obs'], chosen['M_j'])}"
    )
    curve, cells = st.columns([3, 2], gap="medium")
    with curve:
        _show_curve(masking, weights, focus)
    with cells:
        probability = masking.probability(columns.p_obs)
        show_figure(
            _picture(columns, probability),
            question="What gets masked?",
            key="masking-cells-yours",
            data=lambda: _cells(columns, probability),
            caption=_rows_caption(columns),
        )
    _show_notes(columns, masking)


def _show_curve(masking: Masking, weights: pd.DataFrame, focus: str) -> None:
    show_figure(
        curve_figure(curve_data(masking.probability), weights, uniform=UNIFORM_RATE, focus=focus),
        question="What share is masked?",
        key="masking-curve",
        data=weights,
        caption="Each point is one or more columns of the table. Drag to zoom in; double-click to "
        "reset.",
    )


def _rows_caption(columns: MaskingTable) -> str:
    rows = min(PICTURE_ROWS, columns.n_rows)
    return f"A random {count(rows)} of {count(columns.n_rows, 'row')}, masked once."


def _show_notes(columns: MaskingTable, masking: Masking) -> None:
    for note in notes(columns, masking):
        show, icon = {
            "good": (st.success, ":material/check_circle:"),
            "warning": (st.warning, ":material/lightbulb:"),
        }[note.level]
        show(note.text, icon=icon)


# Details


def _show_details(key: str, columns: MaskingTable, masking: Masking, weights: pd.DataFrame) -> None:
    loss, uniform, formula = st.tabs(["Loss per column", "Uniform masking", "Formula"])
    with loss:
        _show_weights(weights)
    with uniform:
        _show_uniform(key, columns)
    with formula:
        _show_formula(masking)
        if columns.left_out:
            reasons = "; ".join(f"{code(name)}: {why}" for name, why in columns.left_out.items())
            st.caption(f"Not learned, so not shown: {reasons}.")


def _show_weights(weights: pd.DataFrame) -> None:
    shown = ""
    if len(weights) > MOST_BARS:
        shown = (
            f" Shown are the {MOST_BARS} of {count(len(weights))} columns with the most missing "
            "values."
        )
    show_figure(
        weights_figure(weights, uniform=UNIFORM_RATE),
        question="How much does each task weigh in the loss of a column?",
        key="masking-weights",
        data=weights,
        caption="Bars are expected weights; the white mark is uniform masking, "
        f"{percent(UNIFORM_RATE)} in every column.{shown}",
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
        "The rows and random numbers are those of the figure above, so the pictures differ only by "
        "the masking function."
    )


def _show_formula(masking: Masking) -> None:
    function = masking.info
    st.markdown(
        f"Share masked (M_j) = {code(function.formula)}, where p_obs is the share of rows in which "
        f"the column is observed. {plain(function.explanation)} {paper_sentence(function.name)}"
    )
    st.caption("Training takes p_obs from each batch; this page takes it from the whole table.")


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
