"""The section "Clues": what goes with missingness in a column, and Little's test."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.missingness import controls, lines, words
from dashboard.missingness.controls import SECTION
from dashboard.missingness.facts import (
    MissingnessFacts,
    comparison_of,
    distribution_of,
    little_of,
    prediction_of,
)
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.text import code, plain
from dashboard.widgets import choose_page, fragment, show_figure
from pmae_core.missingness import LITTLE_CAUTION
from pmae_core.plots import missingness as figures
from pmae_core.table import Role
from pmae_core.words import shorten

DIFFERENCES, PREDICTION, LITTLE = "Differences", "Prediction", "Little's test"
EFFECTS_PER_PAGE = 8


@fragment
def show_clues(table: OpenTable, facts: MissingnessFacts) -> None:
    """Draw what goes with missingness in a column, or test all numerical ones at once."""
    settings, answer = controls.beside()
    with settings:
        view = controls.choose_one("Show", "clues_view", [DIFFERENCES, PREDICTION, LITTLE])
    if view == LITTLE:
        _show_little(table, facts, settings, answer)
        return
    with settings:
        column = _choose_column(facts)
    if column is None:
        answer.info(
            "Every column is complete or has no values at all, so there are no rows to compare.",
            icon=":material/info:",
        )
    elif view == DIFFERENCES:
        with answer, controls.reasons():
            _show_differences(table, column, settings)
    else:
        with answer, controls.reasons():
            _show_prediction(table, column)


def _choose_column(facts: MissingnessFacts) -> str | None:
    blocks = {block.columns[0]: block for block in lines.partly_missing(facts.exact_blocks)}
    if not blocks:
        return None
    column: str = memory.remembered(
        st.selectbox,
        "Missing column",
        section=SECTION,
        name="column",
        default=next(iter(blocks)),
        options=list(blocks),
        format_func=lambda name: lines.plain_label(blocks[name]),
        help="Rows that miss this column are compared with the others. Columns that are missing in "
        "exactly the same rows have the same answer; those with most missing values come first.",
    )
    return column


# Differences


def _show_differences(table: OpenTable, column: str, settings: DeltaGenerator) -> None:
    compared = comparison_of(table.digest, column, table)
    measured = compared[compared["effect"].notna()]
    if measured.empty:
        st.info(
            f"No other column has values both in rows that miss {code(column)} and in rows that "
            "do not.",
            icon=":material/info:",
        )
        return
    st.markdown(words.differences(column, measured[measured["beyond_chance"]]))
    with settings:
        shown = choose_page(SECTION, "effects", len(measured), EFFECTS_PER_PAGE, "columns")
        other = _choose_other(list(measured.index))
    show_figure(
        figures.differences_figure(measured.iloc[shown]),
        question=f"How do rows that miss {code(shorten(column, 40))} differ from the others?",
        key="missingness-effects",
        data=lambda: compared.rename_axis("column").reset_index(),
        caption="Right of 0: higher where the column is missing. By chance alone, no bar leaves "
        "its gray band in 19 of 20 tables.",
    )
    _show_distribution(table, column, other)


def _choose_other(others: list[str]) -> str:
    other: str = memory.remembered(
        st.selectbox,
        "Values to compare",
        section=SECTION,
        name="other",
        default=others[0],
        options=others,
        format_func=lambda name: shorten(name, 60),
        help="The columns that differ most come first. The second figure shows their values.",
    )
    return other


def _show_distribution(table: OpenTable, column: str, other: str) -> None:
    compared = distribution_of(table.digest, column, other, table)
    show_figure(
        figures.distribution_figure(compared, column=column, other=other),
        question=f"Which values of {code(shorten(other, 40))} go with missing "
        f"{code(shorten(column, 40))}?",
        key="missingness-distribution",
        data=lambda: pd.DataFrame(
            {
                "value": compared.labels,
                "share_where_observed": compared.share_observed,
                "share_where_missing": compared.share_missing,
            }
        ),
        caption="The first and the last bar include the few values beyond them."
        if compared.clipped
        else None,
    )


# Prediction


def _show_prediction(table: OpenTable, column: str) -> None:
    st.subheader(f"What predicts that {code(shorten(column, 40))} is missing?", anchor=False)
    tree = prediction_of(table.digest, column, table)
    st.markdown(plain(tree.sentence()))
    if tree.better_than_guessing:
        st.markdown(words.rules(tree))
    st.caption(words.about_tree(tree))


# Little's test


def _show_little(
    table: OpenTable, facts: MissingnessFacts, settings: DeltaGenerator, answer: DeltaGenerator
) -> None:
    numerical = _numerical(table, facts)
    with answer:
        st.subheader("Are values missing completely at random?", anchor=False)
        if len(numerical) < 2:
            st.info(
                "Little's test compares the means of numerical columns. This table has fewer than "
                "two with values.",
                icon=":material/info:",
            )
            return
    with settings:
        chosen = memory.remembered(
            st.multiselect,
            "Numerical columns to test",
            section=SECTION,
            name="little_columns",
            default=[],
            options=numerical,
            wrap=True,
            format_func=lambda name: shorten(name, 40),
            placeholder="All numerical columns",
            help="Leave this empty to test all numerical columns. Choose fewer if nearly every row "
            "has a missing pattern of its own: then there is nothing to compare.",
        )
    with answer:
        if len(chosen) == 1:
            st.info("Choose at least two columns.", icon=":material/info:")
            return
        with controls.reasons():
            test = little_of(table.digest, tuple(chosen or numerical), table)
            st.markdown(f"**{plain(test.sentence())}**")
            st.markdown(words.little_columns(test))
        st.warning(f"**What this test cannot say.** {LITTLE_CAUTION}", icon=":material/warning:")


def _numerical(table: OpenTable, facts: MissingnessFacts) -> list[str]:
    """Return the numerical columns with values, as in the table."""
    patterns = facts.patterns
    with_values = set(patterns.columns[patterns.n_missing < patterns.n_rows])
    return [name for name in table.schema.names(Role.NUMERICAL) if name in with_values]
