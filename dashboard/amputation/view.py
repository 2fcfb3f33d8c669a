"""What the Amputation lab draws: settings at the left, the missing values at the right."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.amputation.caches import facts_of, made_in
from dashboard.amputation.chances import (
    SCORE,
    ChanceCurve,
    chances_sentence,
    driver_curve,
    drivers_first,
    has_other_drivers,
    own_curve,
    score_curve,
)
from dashboard.amputation.controls import shareable_values
from dashboard.amputation.lab import (
    COUPLING_WORDS,
    MECHANISM_WORDS,
    MOST_ROWS,
    PATTERN_WORDS,
    TrueValues,
    most_missing_first,
    pattern_sentence,
    result_sentence,
    true_values,
    values_sentence,
    with_advice_of_page,
)
from dashboard.amputation.rule import (
    WEIGHT_WORDS,
    matrix_sentence,
    rule_matrix,
    rule_sentence,
    weights_table,
)
from dashboard.amputation.scenario import Scenario, TableFacts, base_sentence
from dashboard.amputation.scenarios_view import show_scenarios
from dashboard.amputation.settings_view import SECTION, choose_scenario
from dashboard.figures.amputation import (
    MOST_COLUMNS,
    chances_by_column,
    chances_by_column_figure,
    chances_figure,
    density_data,
    density_figure,
    missing_cells_figure,
    row_bands,
    rule_figure,
    value_shares,
    values_figure,
)
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.text import file_stem
from dashboard.widgets import fragment, share_button, show_figure, show_tabs, shown_errors
from dashboard.widgets.focus import choose_column
from pmae_core.amputation import Amputation
from pmae_core.errors import AmputationError
from pmae_core.plots.labels import figure_text
from pmae_core.words import count

INTRODUCTION = (
    "Remove values on purpose: the truth is kept, so imputed values can be compared with it."
)
NO_COLUMNS = (
    "No column of this table can lose values: all are identifiers, ignored or empty. Change their "
    "roles on the Data page, or open another table."
)
EXPLANATION, CELLS, COLUMNS, WEIGHTS, SCENARIOS, DOWNLOADS = (
    "Settings explained",
    "Removed values",
    "All columns",
    "All weights",
    "Scenarios",
    "Download",
)


def show_title() -> None:
    """Draw the title of the page and what the lab is for."""
    title, introduction = st.columns([1, 3], gap="medium", vertical_alignment="center")
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
        share_button(SECTION, shareable_values(scenario))
    made, column = None, None
    with answer, shown_errors():
        made = _make(table, scenario)
        column = _show_answer(table, facts, scenario, made)
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
    table: OpenTable, facts: TableFacts, scenario: Scenario, made: Amputation
) -> TrueValues:
    """Draw what was removed and by which rule; return the values of the highlighted column."""
    n_rows = facts.n_base_rows(scenario.base)
    result = result_sentence(made, facts.columns, min(n_rows, MOST_ROWS))
    if made.missing.to_numpy().any():
        st.markdown(f"{result} {pattern_sentence(made, scenario)}")
    else:
        st.warning(result, icon=":material/lightbulb:")
    ordered = most_missing_first(made, facts.columns)
    focus_place, against_place = st.columns(2, gap="medium")
    with focus_place:
        name = choose_column(
            "Highlighted column",
            ordered,
            section=SECTION,
            help="Columns with the most missing values come first.",
        )
    column = true_values(made, name, table.schema.role(name))
    if made.rule is None:
        st.markdown(rule_sentence(made, name, table.schema))
        _show_cells_and_values(facts, made, column)
    else:
        _show_rule(table, made, ordered, name, against_place)
    return column


def _show_rule(
    table: OpenTable,
    made: Amputation,
    columns: list[Any],
    name: Any,
    against_place: DeltaGenerator,
) -> None:
    matrix, chances = st.columns([4, 5], gap="medium")
    with matrix:
        shown = rule_matrix(made, columns, name)
        show_figure(
            rule_figure(shown.weights, shown.has_direction, shown.own, shown.highlighted),
            question="Which columns decide?",
            key="amputation-rule",
            data=lambda: shown.weights.rename_axis("driven_by").reset_index(),
            caption=f"{rule_sentence(made, name, table.schema)} {matrix_sentence(shown)}".strip(),
        )
    with chances:
        if made.rule is not None and name in made.rule.scores:
            _show_chances(table, made, columns, name, against_place)


def _show_chances(
    table: OpenTable,
    made: Amputation,
    columns: list[Any],
    name: Any,
    against_place: DeltaGenerator,
) -> None:
    own = own_curve(made, name, table.schema)
    with against_place:
        other = _choose_other_curve(table, made, columns, name)
    curves = [own] if other is None else [own, other]
    titles = [f"value of {figure_text(name, 12)}", *(figure_text(c.name, 20) for c in curves[1:])]
    show_figure(
        chances_figure(
            [(title, c.scale, c.points) for title, c in zip(titles, curves, strict=True)]
        ),
        question="Its own value, or other columns?",
        key="amputation-chances",
        data=lambda: pd.concat([c.points.assign(against=c.name) for c in curves]),
        caption=chances_sentence(made, name, own, other),
    )


def _choose_other_curve(
    table: OpenTable, made: Amputation, columns: list[Any], name: Any
) -> ChanceCurve | None:
    """Ask what the right half of the figure has along its axis; None if there is nothing."""
    others = drivers_first(made, name, columns)
    options = [*([SCORE] if has_other_drivers(made, name) else []), *others]
    if not options:
        return None
    against = choose_column(
        "Compared with",
        options,
        section=SECTION,
        name="against",
        format_func=lambda option: "All other columns together" if option == SCORE else str(option),
        help="What the right half of the chances is drawn against. Columns that drive the missing "
        "values most come first.",
    )
    if against == SCORE:
        return score_curve(made, name)
    return driver_curve(made, name, against, table.schema)


def _show_cells_and_values(facts: TableFacts, made: Amputation, column: TrueValues) -> None:
    cells, values = st.columns(2, gap="medium")
    with cells:
        _show_cells(facts, made)
    with values:
        _show_values(column)


def _show_cells(facts: TableFacts, made: Amputation) -> None:
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
    can_save = bool(made.missing.any(axis=None))
    contents = {
        EXPLANATION: lambda: _show_explanation(facts, scenario),
        CELLS: lambda: _show_cells_and_values(facts, made, column),
        COLUMNS: lambda: _show_columns(most_missing_first(made, facts.columns), made),
        WEIGHTS: lambda: _show_weights(made),
        SCENARIOS: lambda: show_scenarios(scenario, can_save=can_save),
        DOWNLOADS: lambda: _show_downloads(table, scenario, made),
    }
    if made.rule is None:  # the cells and values stand above, and there are no weights
        contents = {name: c for name, c in contents.items() if name not in (CELLS, WEIGHTS)}
    show_tabs(contents, key=f"{SECTION}:details")


def _show_columns(columns: list[Any], made: Amputation) -> None:
    left, right = st.columns(2, gap="medium")
    by_column = chances_by_column(made.chance_missing, made.missing, columns)
    with left:
        show_figure(
            chances_by_column_figure(by_column),
            question="How likely was each cell to be missing?",
            key="amputation-columns",
            data=by_column,
            caption="The longer the line, the more the chance differs between rows. It is the "
            "chance of rows that are still in the table."
            + (f" The first {MOST_COLUMNS} columns." if len(columns) > MOST_COLUMNS else ""),
        )
    with right:
        p_obs = 1.0 - made.missing[columns].mean()
        show_figure(
            density_figure(density_data(p_obs.to_numpy()), p_obs),
            question="In how many rows are the columns observed?",
            key="amputation-proportions",
            data=lambda: p_obs.rename_axis("column").reset_index(name="p_obs"),
            caption="Where the curve is high, many columns have that share of rows observed. "
            "General patterns have the widest curves.",
        )


def _show_weights(made: Amputation) -> None:
    weights = weights_table(made)
    if weights.empty:
        st.markdown("No column drives missing values: chance alone decides.")
        return
    st.caption(WEIGHT_WORDS)
    st.dataframe(
        weights,
        column_config={
            "Driven by": st.column_config.TextColumn(pinned=True),
            **{name: st.column_config.NumberColumn(format="%.2f") for name in weights.columns[1:]},
        },
        hide_index=True,
        width="stretch",
    )


def _show_explanation(facts: TableFacts, scenario: Scenario) -> None:
    st.markdown(base_sentence(facts, scenario.base))
    n_rows = facts.n_base_rows(scenario.base)
    if n_rows > MOST_ROWS:
        st.markdown(
            f"This page uses a random {count(MOST_ROWS)} of these {count(n_rows, 'row')}; a saved "
            "scenario uses all of them."
        )
    if scenario.kind == "like-mine":
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
