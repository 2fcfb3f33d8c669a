"""What the Amputation lab draws: settings at the left, the missing values at the right."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.amputation.caches import facts_of, made_in
from dashboard.amputation.controls import shareable_values
from dashboard.amputation.lab import (
    COUPLING_WORDS,
    MECHANISM_WORDS,
    MOST_ROWS,
    PATTERN_WORDS,
    TrueValues,
    most_missing_first,
    pattern_sentence,
    probability_sentence,
    result_sentence,
    true_values,
    values_sentence,
    with_advice_of_page,
)
from dashboard.amputation.scenario import Scenario, TableFacts, base_sentence
from dashboard.amputation.scenarios_view import show_scenarios
from dashboard.amputation.settings_view import SECTION, choose_scenario
from dashboard.figures.amputation import (
    MOST_COLUMNS,
    density_data,
    density_figure,
    missing_cells_figure,
    probability_data,
    probability_figure,
    propensity_data,
    propensity_figure,
    row_bands,
    value_shares,
    values_figure,
)
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.text import file_stem
from dashboard.widgets import fragment, share_button, show_figure, shown_errors
from dashboard.widgets.focus import choose_column
from pmae_core.amputation import Amputation
from pmae_core.errors import AmputationError
from pmae_core.words import count

INTRODUCTION = (
    "The true value behind a missing cell is unknown. **Simulate** missing values where the truth "
    "is known, and every method that imputes them can be judged."
)
NO_COLUMNS = (
    "No column of this table can lose values: all are identifiers, ignored or empty. Change their "
    "roles on the Data page, or open another table."
)
PROBABILITIES, SHARES, RULE, SCENARIOS, DOWNLOADS = (
    "Probabilities",
    "Share observed",
    "Rule",
    "Scenarios",
    "Download",
)


def show_title() -> None:
    """Draw the title of the page and what the lab is for."""
    title, introduction = st.columns([1, 2], gap="medium", vertical_alignment="center")
    title.title("Amputation lab", anchor=False)
    introduction.markdown(INTRODUCTION)


@fragment
def show_lab(table: OpenTable) -> None:
    """Draw the lab on the open table."""
    facts = facts_of(table)
    if not facts.columns:
        st.info(NO_COLUMNS)
        return
    with st.container(key="settings-beside"):
        settings, answer = st.columns([1, 3], gap="medium")
    with settings:
        scenario = choose_scenario(table, facts)
        focus_place = st.container()
        share_button(SECTION, shareable_values(scenario))
    made, column = None, None
    with answer, shown_errors():
        made = _make(table, scenario)
        column = _show_answer(table, facts, scenario, made, focus_place)
    if made is not None and column is not None:
        _show_details(table, facts, scenario, made, column)
    else:
        show_scenarios(scenario, can_save=False)


def _make(table: OpenTable, scenario: Scenario) -> Amputation:
    try:
        if scenario.columns == ():
            raise AmputationError("Enter less than 100% for at least one column.")
        return made_in(table, scenario)
    except AmputationError as error:
        raise with_advice_of_page(error) from error


# The answer


def _show_answer(
    table: OpenTable,
    facts: TableFacts,
    scenario: Scenario,
    made: Amputation,
    focus_place: DeltaGenerator,
) -> TrueValues:
    """Draw what was removed; return the values of the highlighted column."""
    n_rows = facts.n_base_rows(scenario.base)
    result = result_sentence(made, facts.columns, min(n_rows, MOST_ROWS))
    if made.missing.to_numpy().any():
        st.markdown(f"{result} {pattern_sentence(made)}")
    else:
        st.warning(result, icon=":material/lightbulb:")
    with focus_place:
        name = choose_column(
            "Highlighted column",
            most_missing_first(made, facts.columns),
            section=SECTION,
            help="Columns with the most missing values come first.",
        )
    column = true_values(made, name, table.schema.role(name))
    cells, values = st.columns(2, gap="medium")
    with cells:
        _show_cells(facts, scenario, made)
    with values:
        _show_values(column)
    return column


def _show_cells(facts: TableFacts, scenario: Scenario, made: Amputation) -> None:
    place = st.container()
    ordered = memory.remembered(
        st.toggle,
        "Sort by missing values",
        section=SECTION,
        name="ordered",
        default=True,
        help="Sorts rows and columns by their number of missing values, which shows a monotone "
        "pattern as a staircase.",
    )
    bands = row_bands(made.missing[list(facts.columns)], ordered=ordered)
    with place:
        show_figure(
            missing_cells_figure(bands),
            question="Which cells were removed?",
            key="amputation-cells",
            data=lambda: pd.DataFrame(bands.share_missing, columns=bands.columns),
            caption=(
                f"Each line is about {count(round(bands.rows_per_band), 'row')}."
                if bands.rows_per_band > 1.5
                else None
            ),
        )


def _show_values(column: TrueValues) -> None:
    shares = value_shares(column.values, column.missing, column.scale)
    show_figure(
        values_figure(shares, column.name, column.scale),
        question="Do removed values differ?",
        key="amputation-values",
        data=shares,
        caption=values_sentence(column),
    )


# Details


def _show_details(
    table: OpenTable, facts: TableFacts, scenario: Scenario, made: Amputation, column: TrueValues
) -> None:
    names = (PROBABILITIES, SHARES, RULE, SCENARIOS, DOWNLOADS)
    places = dict(zip(names, st.tabs(list(names)), strict=True))
    ordered = most_missing_first(made, facts.columns)
    with places[PROBABILITIES]:
        _show_probabilities(ordered, made, column)
    with places[SHARES]:
        _show_shares(ordered, made)
    with places[RULE]:
        _show_rule(facts, scenario)
    with places[SCENARIOS]:
        show_scenarios(scenario, can_save=bool(made.missing.any(axis=None)))
    with places[DOWNLOADS]:
        _show_downloads(table, scenario, made)


def _show_probabilities(columns: list[Any], made: Amputation, column: TrueValues) -> None:
    left, right = st.columns(2, gap="medium")
    by_column = propensity_data(made.propensity, columns)
    with left:
        show_figure(
            propensity_figure(by_column),
            question="How likely was each cell to be observed?",
            key="amputation-propensity",
            data=by_column,
            caption="The longer the line, the more the probability differs between rows."
            + (f" The first {MOST_COLUMNS} columns." if len(columns) > MOST_COLUMNS else ""),
        )
    with right, shown_errors():
        by_value = probability_data(column.values, column.propensity, column.scale)
        show_figure(
            probability_figure(by_value, column.name, column.scale),
            question="Does it depend on the value?",
            key="amputation-dependence",
            data=by_value,
            caption=probability_sentence(column),
        )


def _show_shares(columns: list[Any], made: Amputation) -> None:
    p_obs = 1.0 - made.missing[columns].mean()
    show_figure(
        density_figure(density_data(p_obs.to_numpy()), p_obs),
        question="In how many rows are the columns observed?",
        key="amputation-proportions",
        data=lambda: p_obs.rename_axis("column").reset_index(name="p_obs"),
        caption="Where the curve is high, many columns have that share of rows observed. General "
        "patterns have the widest curves.",
    )


def _show_rule(facts: TableFacts, scenario: Scenario) -> None:
    st.markdown(base_sentence(facts, scenario.base))
    n_rows = facts.n_base_rows(scenario.base)
    if n_rows > MOST_ROWS:
        st.markdown(
            f"This page uses a random {count(MOST_ROWS)} of these {count(n_rows, 'row')}; a saved "
            "scenario uses all of them."
        )
    if scenario.kind == "like-mine":
        st.markdown("Each row takes the missing values of a random row of this table.")
        return
    rule = (
        ("Pattern", PATTERN_WORDS[scenario.pattern]),
        ("Mechanism", MECHANISM_WORDS[scenario.mechanism]),
        ("Coupling", COUPLING_WORDS[scenario.coupling or "nested"]),
    )
    st.markdown("\n".join(f"- {name}: **{title}**. {meaning}" for name, (title, meaning) in rule))


def _show_downloads(table: OpenTable, scenario: Scenario, made: Amputation) -> None:
    stem = file_stem(table.name.rsplit(".", 1)[0], "table")
    settings = {"table": table.name, "rows": len(made.truth), **scenario.to_dict()}
    files = {
        "Incomplete table": (f"{stem}-incomplete.csv", lambda: _csv(made.incomplete), "text/csv"),
        "Missing cells": (f"{stem}-missing.csv", lambda: _csv(made.missing), "text/csv"),
        "Settings": (
            f"{stem}-amputation.json",
            lambda: json.dumps(settings, indent=2),
            "application/json",
        ),
    }
    with st.container(horizontal=True, gap="small"):
        for label, (file_name, content, mime) in files.items():
            st.download_button(
                label,
                data=content,
                file_name=file_name,
                mime=mime,
                on_click="ignore",
                key=f"{SECTION}:download:{label}",
                icon=":material/download:",
                help=f"{file_name}, {count(len(made.truth), 'row')}.",
            )


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()
