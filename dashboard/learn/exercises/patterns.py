"""Lesson 3 on the page: a table whose rows and columns sort into a staircase, or not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dashboard.components.stage.scene import Cells, Color, Panel, Scene
from dashboard.learn import Lesson, patterns
from dashboard.learn.exercises.exercise import Exercise
from dashboard.learn.luck import luck_scene
from dashboard.learn.patterns import PatternTable
from dashboard.state.allowed_values import AllowedValues
from pmae_core.words import count, percent

_COLORS: Mapping[str, Color] = {
    "monotone": "observed",
    "quasi-monotone": "imputed",
    "general": "missing",
}

SETTINGS: Mapping[str, AllowedValues] = {}  # the seed decides everything


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Let the reader sort the table; the question is which pattern it has."""
    made = _pattern(patterns.kind_of_seed(seed), seed)
    return Exercise(
        right=made.kind,
        question=cells_scene(made, with_breaks=False),
        solution=cells_scene(made, with_breaks=True),
        sentence=made.sentence(),
        luck=distances_scene(made, _repeated_distances()),
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _pattern(kind: str, seed: int) -> PatternTable:
    return patterns.make_pattern(kind, seed)


@st.cache_resource(show_spinner=False)
def _repeated_distances() -> Mapping[str, np.ndarray]:
    return patterns.repeated_distances()


def cells_scene(made: PatternTable, *, with_breaks: bool) -> Scene:
    """Return the table as it was collected, sorted, and with the cells that break the staircase."""
    n_rows, n_columns = made.missing.shape
    collected, columns = np.arange(n_rows), np.arange(n_columns)
    shown = np.where(made.missing, "missing", "observed")
    rows_sorted, columns_sorted = made.row_places(), made.column_places()
    states = ["As collected", "Rows sorted", "Columns too"]
    captions = [
        "Rows and columns in the order in which they were collected.",
        "Rows that miss least are at the top.",
        "Columns that miss least are at the left.",
    ]
    colors = [shown] * len(states)
    places = [collected, rows_sorted, rows_sorted]
    column_places = [columns, columns, columns_sorted]
    if with_breaks:
        n_breaks = int(made.breaks().sum())
        states.append("Exceptions")
        captions.append(
            f"{count(n_breaks, 'cell')} of {int(made.missing.sum())} missing ones "
            f"{'breaks' if n_breaks == 1 else 'break'} the staircase."
            if n_breaks
            else "No cell breaks the staircase."
        )
        colors.append(np.where(made.breaks(), "text", shown))
        places.append(rows_sorted)
        column_places.append(columns_sorted)
    cells = Cells(
        columns=list(made.incomplete.columns),
        color=np.array(colors),
        place=np.array(places),
        column_place=np.array(column_places),
    )
    return Scene(
        [Panel([cells])],
        states=states,
        captions=captions,
        description=f"The cells of a table of {n_rows} rows and {n_columns} columns: observed or "
        "missing.",
    )


def distances_scene(made: PatternTable, repeated: Mapping[str, np.ndarray]) -> Scene:
    """Return how far many tables of each pattern are from a staircase."""
    least, most = repeated["general"].min(), repeated["quasi-monotone"].max()
    n = len(repeated["general"])
    return luck_scene(
        repeated,
        truth=made.summary.distance_from_monotone,
        truth_words="this table",
        label="share of missing cells that break the staircase",
        caption=f"{n} tables of each pattern: exceptions are at most {percent(most)} in "
        f"quasi-monotone ones and at least {percent(least)} in general ones. Chance alone makes no "
        "staircase.",
        colors=_COLORS,
    )
