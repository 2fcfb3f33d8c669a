"""Complete cases in the reader's own table, on the page: two columns to choose, and their line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.components.stage.scene import Axis, Line, Panel, Points, Scene
from dashboard.errors import sentence_of
from dashboard.learn import Lesson, own
from dashboard.learn.exercises.dots import SMALL, range_of
from dashboard.learn.exercises.exercise import Exercise, choose_setting, fixed_rows
from dashboard.learn.luck import luck_scene
from dashboard.learn.own import OwnRows, Rule
from dashboard.learn.own_table import FEWEST_ROWS, OwnColumns, only_pair, own_columns, sampled
from dashboard.state import session
from dashboard.state.allowed_values import AllowedValues, AnyText, Choice
from dashboard.state.table_state import OpenTable
from dashboard.text import code
from pmae_core.errors import PMAEError
from pmae_core.table import load_dataset
from pmae_core.words import shorten

_MOST_DOTS = 600
_LONGEST_NAME = 24
_KEPT = "rows that remain"

SETTINGS: Mapping[str, AllowedValues] = {
    "outcome": AnyText(),
    "predictor": AnyText(),
    "rule": Choice(own.RULES),
}


def exercise(lesson: Lesson, seed: int) -> Exercise:
    """Ask for two columns and a rule; the question is what dropping rows does to the slope."""
    columns = _columns_to_choose_from()
    left, right = st.columns(2, gap="small")
    with left:
        outcome = choose_setting(
            st.selectbox,
            "Outcome",
            lesson,
            "outcome",
            SETTINGS["outcome"],
            default=columns.first_outcome(),
            options=columns.outcomes(),
        )
    with right:
        predictor = choose_setting(
            st.selectbox,
            "Predictor",
            lesson,
            "predictor",
            SETTINGS["predictor"],
            default=columns.first_predictor(outcome),
            options=columns.predictors(outcome),
        )
    names = {"outcome": f"By {outcome}", "predictor": f"By {predictor}", "chance": "By chance"}
    rule = choose_setting(
        st.selectbox,
        "Why do rows lose a value?",
        lesson,
        "rule",
        SETTINGS["rule"],
        default="outcome",
        format_func=names.get,
    )
    st.caption(f":material/info: {own.rule_words(rule, predictor, outcome)}")
    return exercise_on(columns.rows(predictor, outcome), rule, seed)


def exercise_on(rows: pd.DataFrame, rule: str, seed: int) -> Exercise:
    """Return the exercise on two columns: also those that a teacher chose for a class.

    Parameters
    ----------
    rows
        Complete rows of two columns of numbers: the predictor, then the outcome.
    rule
        One of ``own.RULES``.
    seed
        Decides, for equal chances, which rows lose a value.
    """
    made = own.drop_own_rows(rows, cast(Rule, rule), seed)
    predictor, outcome = rows.columns
    solution = dropped_scene(made)
    return Exercise(
        right=made.answer,
        question=solution.first(),
        solution=solution,
        sentence=made.sentence(),
        luck=repeated_scene(made),
        settings={"outcome": outcome, "predictor": predictor, "rule": rule},
        rows=rows,
    )


# The reader's columns


def _columns_to_choose_from() -> OwnColumns:
    """Return the columns of the open table, or say why those of a sample are used."""
    if (rows := fixed_rows()) is not None:
        return only_pair(rows)
    try:
        table = session.open_table()
    except PMAEError as error:
        return _columns_of_sample(sentence_of(error))
    columns = _columns(table.digest, table)
    if not columns.outcomes():
        return _columns_of_sample(
            "Your table has no two numerical columns that are both observed in at least "
            f"{FEWEST_ROWS} rows."
        )
    return columns


@st.cache_resource(max_entries=4, show_spinner=False)
def _columns(digest: str, _table: OpenTable) -> OwnColumns:
    return own_columns(_table.frame, _table.schema)


def _columns_of_sample(why: str) -> OwnColumns:
    st.info(f"{why} The sample table {code(session.FIRST_SAMPLE)} is used instead.")
    sample = load_dataset(session.FIRST_SAMPLE)
    return own_columns(sample.frame, sample.schema)


# The pictures


def dropped_scene(made: OwnRows) -> Scene:
    """Return all rows with their line, then the rows that remain with theirs."""
    predictor, outcome = (shorten(name, _LONGEST_NAME) for name in made.rows.columns)
    drawn = sampled(pd.DataFrame({"row": range(len(made.rows))}), _MOST_DOTS)["row"].to_numpy()
    x, y = made.rows.to_numpy(dtype=float)[drawn].T
    kept = made.kept[drawn]
    ends = np.array([x.min(), x.max()])
    lines = [slope * ends + level for slope, level in (made.true_line, made.kept_line)]
    panel = Panel(
        layers=[
            Line(ends, lines[0], color="text", width=2, dashed=True, label="line of all rows"),
            Points(x[kept], y[kept], radius=SMALL, opacity=0.5, label="complete"),
            # Two layers, one fading into the other: only dropped rows are called so.
            Points(x[~kept], y[~kept], radius=SMALL, opacity=[0.5, 0]),
            Points(x[~kept], y[~kept], "missing", radius=SMALL, opacity=[0, 0.3], label="dropped"),
            Line(ends, lines, color="observed", opacity=[0, 1], label=f"line of the {_KEPT}"),
        ],
        x=Axis(predictor, *range_of(x)),
        y=Axis(outcome, *range_of(y)),
    )
    shown = f" {len(x):,} of them are drawn." if len(x) < len(made.rows) else ""
    return Scene(
        [panel],
        states=["All rows", "After dropping"],
        captions=[
            f"{len(made.rows):,} rows of your table with both values: the truth here.{shown}",
            f"{made.kept.sum():,} rows remain. Dashed: the line of all rows.",
        ],
        description=f"{outcome} by {predictor}. Dropped rows fade, and the line moves from that "
        "of all rows to that of the rows that remain.",
    )


def repeated_scene(made: OwnRows) -> Scene:
    """Return the slopes of the rows that remain in many repetitions on the same rows."""
    predictor, outcome = (shorten(name, _LONGEST_NAME) for name in made.rows.columns)
    return luck_scene(
        {_KEPT: made.repeated_slopes},
        truth=made.true_line[0],
        label=f"slope of {outcome} on {predictor}",
        caption=f"The same rule {len(made.repeated_slopes)} times on the same rows. A change is "
        "clear if at least 90% of the slopes lie on one side of the truth.",
        colors={_KEPT: "observed"},
        of_this_table={_KEPT: made.kept_line[0]},
    )
