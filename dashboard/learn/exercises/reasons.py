"""Lesson 1 on the page: a small table, and what decides which of its values are missing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Axis, Bars, Cells, Mark, Panel, Scene
from dashboard.learn import Lesson, reasons
from dashboard.learn.exercises.exercise import Exercise, choose_setting
from dashboard.state.allowed_values import AllowedValues, AnyText
from pmae_core.table.samples.clinic import Clinic, make_clinic
from pmae_core.words import listed, percent

SETTINGS: Mapping[str, AllowedValues] = {
    "cell": AnyText(),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask for a missing cell; the question is why it is missing."""
    clinic = _clinic(seed)
    cells = {f"{row}:{column}": (row, column) for row, column in reasons.missing_cells(clinic)}
    chosen = choose_setting(
        st.selectbox,
        "Missing cell",
        lesson,
        "cell",
        SETTINGS["cell"],
        default=next(iter(cells)),
        options=list(cells),
        format_func=lambda key: f"{cells[key][1]} of patient {cells[key][0]}",
    )
    row, column = cells[chosen]
    st.caption(f":material/info: {reasons.clue_sentence(_clues(seed, column), column)}")
    solution = patients_scene(clinic, row, column)
    return Exercise(
        right=reasons.kind_of(column),
        question=solution.first(),
        solution=solution,
        sentence=f"{reasons.reason(column)} {reasons.cell_details(clinic, row, column)}",
        luck=repetitions_scene(clinic, row, column, seed),
        settings={"cell": chosen},
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _clinic(seed: int) -> Clinic:
    return make_clinic(seed=seed)


@st.cache_resource(max_entries=64, show_spinner=False)
def _clues(seed: int, column: str) -> list[str]:
    return reasons.clear_clues(_clinic(seed), column)


def patients_scene(clinic: Clinic, row: int, column: str) -> Scene:
    """Return some patients; only deciding columns keep their color, and rows sort by them."""
    table = reasons.patients(clinic)
    names = list(table.columns)
    words = [[reasons.cell_words(name, table.loc[k, name]) for name in names] for k in table.index]
    asked = np.where(table.isna(), "missing", "observed").astype(object)
    asked[row, names.index(column)] = "accent"
    deciding = reasons.DECIDED_BY[column]
    # Whatever does not matter loses its color.
    matters = np.isin(names, [column, *deciding])
    solved = np.where(matters, asked, "neutral")
    in_order = np.arange(len(table))
    colors, places = [asked, solved], [in_order, in_order]
    states = ["The table", "What decides"]
    captions = [
        f"{len(table)} of {len(clinic.frame)} patients. The question is about {column} of "
        f"patient {row}.",
        _decision(clinic, column),
    ]
    if deciding:
        colors.append(solved)
        places.append(np.argsort(reasons.order_by_reason(clinic, column)))
        states.append("Most likely first")
        captions.append(f"Sorted by the probability that {column} is missing, highest at the top.")
    cells = Cells(
        columns=[name.replace("_", " ") for name in names],
        color=np.array(colors),
        place=np.array(places),
        words=words,
        row_words=[str(k) for k in table.index],
    )
    return Scene(
        [Panel([cells])],
        states=states,
        captions=captions,
        description=f"A table of {len(table)} patients with missing values.",
    )


def _decision(clinic: Clinic, column: str) -> str:
    deciding = reasons.DECIDED_BY[column]
    if not deciding:
        chance = percent(clinic.p_missing[column].iloc[0])
        return f"No column decides: {column} is missing with probability {chance} in every row."
    if column in deciding:
        return f"The {column} itself decides whether it is reported. The table does not show it."
    verb = "decides" if len(deciding) == 1 else "decide"
    return f"Only {listed(deciding)} {verb} how likely {column} is to be missing."


def repetitions_scene(clinic: Clinic, row: int, column: str, seed: int) -> Scene:
    """Return how often each patient's value is missing when the same reason acts again."""
    shares = reasons.repeated_shares(clinic, column, seed)
    order = reasons.order_by_reason(clinic, column)
    chance = float(clinic.p_missing.loc[row, column])
    places = np.arange(len(order))
    heights = shares[order].to_numpy()
    panel = Panel(
        [
            Bars(
                places - 0.4,
                places + 0.4,
                height=[np.zeros(len(order)), heights],
                color=["accent" if k == row else "missing" for k in order],
                opacity=0.85,
            ),
            Mark(
                chance,
                axis="y",
                words=f"probability of patient {row}: {percent(chance)}",
                color="text",
                dashed=True,
            ),
        ],
        x=Axis(
            _ticks_label(column),
            -0.6,
            len(order) - 0.4,
            ticks=places.tolist(),
            tick_words=[_tick(clinic, k, column) for k in order],
        ),
        y=Axis(f"repetitions without {column}", 0, 1, percent=True),
    )
    return Scene(
        [panel],
        states=["Before", f"{reasons.N_REPETITIONS} times"],
        captions=[
            f"How often would {column} be missing, if the same patients came again?",
            f"The same {len(order)} patients {reasons.N_REPETITIONS} times: {column} of patient "
            f"{row} was missing in {percent(shares[row])} of them. A reason changes probabilities; "
            "chance decides the single cell.",
        ],
        description=f"Bars: share of repetitions in which {column} is missing, by patient.",
    )


def _ticks_label(column: str) -> str:
    deciding = reasons.DECIDED_BY[column]
    if not deciding:
        return "patient"
    return ", ".join(f"true {name}" if name == column else name for name in deciding)


def _tick(clinic: Clinic, row: int, column: str) -> str:
    deciding = reasons.DECIDED_BY[column]
    if not deciding:
        return str(row)
    return ", ".join(reasons.cell_words(name, clinic.truth.loc[row, name]) for name in deciding)
