"""Masking lab: how many cells of each column a network has to predict, and why it matters."""

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
OPEN_TABLE = "The open table as it is"


@fragment
def lab(table: OpenTable) -> None:
    controls, picture = st.columns([1, 2], gap="large")
    with controls:
        scenario = _choose_holes()
        columns = columns_of(table, scenario)
        masking = _choose_masking()
    if not columns.names:
        st.info(NOTHING_TO_LEARN)
        return
    weights = column_weights(columns, masking)
    with controls:
        focus = _choose_focus(weights)
        _show_presets(masking)
    with picture:
        _show_curve(masking, weights, focus)
        st.markdown(table_sentence(columns, masking))
        _show_notes(columns, masking)
    _show_weights(weights)
    source = None if scenario is None else scenario.to_dict()
    _show_cells(json.dumps([table.digest, source]), columns, masking)
    if columns.left_out:
        reasons = "; ".join(f"{code(name)}: {why}" for name, why in columns.left_out.items())
        st.caption(f"Not learned, and therefore not shown: {reasons}.")


def _choose_holes() -> Scenario | None:
    """Ask whose holes to look at: the table's own, or those of a kept scenario."""
    scenarios = session.workspace().scenarios()
    chosen = OPEN_TABLE
    if scenarios:
        chosen = memory.remembered(
            st.selectbox,
            "Whose holes?",
            section=SECTION,
            name="source",
            default=OPEN_TABLE,
            options=[OPEN_TABLE, *scenarios],
            format_func=lambda name: shorten(name, 40),
            help="The open table with its own holes, or with those of a scenario that you kept in "
            "the Amputation lab.",
        )
    return None if chosen == OPEN_TABLE else Scenario.from_dict(scenarios[chosen])


def _choose_masking() -> Masking:
    function = choose_function(
        section=SECTION,
        help="How the share of cells to mask in a column (M_j) follows from the share of rows in "
        "which the column is observed (p_obs).",
    )
    st.caption(
        f"Share masked (M_j) = {code(function.formula)}, where p_obs is the share of rows "
        f"observed. {plain(function.explanation)} {paper_sentence(function.name)}"
    )
    return Masking(function.name, choose_params(function, section=SECTION))


def _choose_focus(weights: pd.DataFrame) -> str:
    """Ask for one column and say in words what happens to it, right below the sliders."""
    focus = choose_column(
        "One column in words",
        list(weights["column"]),
        section=SECTION,
        help="The ring in the figure marks this column. The columns with most holes come first.",
    )
    row = weights.set_index("column").loc[focus]
    st.markdown(column_sentence(focus, row["p_obs"], row["M_j"]))
    return focus


def _show_presets(masking: Masking) -> None:
    st.markdown("**Settings worth seeing**")
    with st.container(horizontal=True, gap="small"):
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
    share_button(SECTION, masking.to_dict())


def _show_curve(masking: Masking, weights: pd.DataFrame, focus: str) -> None:
    show_figure(
        curve_figure(curve_data(masking.probability), weights, uniform=UNIFORM_RATE, focus=focus),
        question="How many cells of a column are masked, given how much of it is observed?",
        key="masking-curve",
        data=weights,
        caption="Each point is a column of the table, or several alike. Drag over the figure to "
        "look closer, press twice to go back. In training, the share of rows observed is taken "
        "from each batch; here it is that of the whole table.",
    )


def _show_notes(columns: MaskingTable, masking: Masking) -> None:
    for note in notes(columns, masking):
        show, icon = {
            "good": (st.success, ":material/check_circle:"),
            "warning": (st.warning, ":material/lightbulb:"),
        }[note.level]
        show(note.text, icon=icon)


def _show_weights(weights: pd.DataFrame) -> None:
    shown = ""
    if len(weights) > MOST_BARS:
        shown = f" Shown: the {MOST_BARS} of {count(len(weights))} columns with most holes."
    show_figure(
        weights_figure(weights, uniform=UNIFORM_RATE),
        question="What does the network practise on each column?",
        key="masking-weights",
        data=weights,
        caption="Masked cells must be predicted, as the holes will have to be; seen cells must "
        "only be given back. Both shares are their expected weights in the column's loss. The "
        f"white stroke is uniform masking, {percent(UNIFORM_RATE)} everywhere.{shown}",
    )


def _show_cells(key: str, columns: MaskingTable, masking: Masking) -> None:
    before, yours, beside = st.columns(3)
    with before:
        show_figure(
            _lasting_picture(key, None, columns),
            question="What is known before?",
            key="masking-cells-before",
            data=lambda: _cells(columns, None),
        )
    probability = masking.probability(columns.p_obs)
    with yours:
        show_figure(
            _picture(columns, probability),
            question="What does your masking show?",
            key="masking-cells-yours",
            data=lambda: _cells(columns, probability),
        )
    with beside:
        show_figure(
            _lasting_picture(key, UNIFORM_RATE, columns),
            question="What does uniform show?",
            key="masking-cells-uniform",
            data=lambda: _cells(columns, UNIFORM_RATE),
        )
    rows = min(PICTURE_ROWS, columns.n_rows)
    st.caption(
        f"{count(rows)} of {count(columns.n_rows, 'row')}, drawn at random. Both maskings use the "
        "same random numbers: what differs, differs by the functions alone."
    )


def _cells(columns: MaskingTable, probability: np.ndarray | float | None) -> pd.DataFrame:
    """Return what the cells of some rows are, in words."""
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


st.title("Masking lab")
st.markdown(
    "A network learns to fill holes by practice: some cells that it knows are **masked**, and it "
    "must **predict** them; the others it sees and only has to **give back**. How many cells to "
    "mask in which column is what the masking function decides."
)
lab(session.open_table())
