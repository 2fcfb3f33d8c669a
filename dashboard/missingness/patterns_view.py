"""The section "Patterns": which columns are missing together in a row, and which can help."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.missingness import controls
from dashboard.missingness.facts import MissingnessFacts
from dashboard.missingness.lines import matching
from dashboard.state.table_state import OpenTable
from dashboard.widgets import choose_page, fragment, show_figure
from pmae_core.missingness import MissingPatterns, measure_flux
from pmae_core.plots import missingness as figures
from pmae_core.plots.missingness.patterns import MOST_LINES
from pmae_core.words import count, percent

PATTERNS, HELPERS = "Patterns of rows", "Helpful columns"
PATTERNS_PER_PAGE = 15
MONOTONE_HELP = (
    "Monotone: the columns can be ordered so that a row that misses one misses all later ones, as "
    "when people leave a study. The distance is the share of missing cells that would have to "
    "change for that."
)


@fragment
def show_patterns(table: OpenTable, facts: MissingnessFacts) -> None:
    """Draw the most frequent patterns, or which columns can help to impute others."""
    settings, answer = controls.beside()
    with settings:
        view = controls.choose_one("Show", "patterns_view", [PATTERNS, HELPERS])
        st.metric(
            "Distance from monotone",
            percent(facts.summary.distance_from_monotone),
            help=MONOTONE_HELP,
        )
    if view == PATTERNS:
        _show_rows(facts, settings, answer)
    else:
        with answer:
            _show_helpers(facts.patterns)


def _show_rows(facts: MissingnessFacts, settings: DeltaGenerator, answer: DeltaGenerator) -> None:
    patterns = facts.patterns
    with settings:
        columns = matching(patterns.columns, controls.search_columns())
        shown = choose_page(
            controls.SECTION, "patterns", patterns.n_patterns, PATTERNS_PER_PAGE, "patterns"
        )
    with answer:
        st.markdown(facts.summary.pattern_sentence())
        if not columns:
            controls.say_nothing_found()
            return
        show_figure(
            figures.patterns_figure(patterns, shown, columns),
            question="Which values are missing together in a row?",
            key="missingness-patterns",
            data=lambda: _patterns_data(patterns),
            caption=_how_to_read(patterns, shown, columns),
        )


def _how_to_read(patterns: MissingPatterns, shown: slice, columns: list[str]) -> str:
    share = patterns.counts[shown].sum() / patterns.n_rows
    groups, _ = figures.pattern_lines(patterns, shown, columns)
    last = (
        "; columns beyond the last line share it: search to see them one by one"
        if len(groups) == MOST_LINES
        else ""
    )
    n_shown = len(patterns.counts[shown])
    return (
        f"Bars: rows with each of {count(n_shown, 'pattern')} ({percent(share)} of all rows); "
        f"blue: nothing is missing. Points: the columns that the pattern misses{last}."
    )


def _patterns_data(patterns: MissingPatterns) -> pd.DataFrame:
    listed = patterns.table(1000)
    listed["missing_columns"] = ["; ".join(map(str, names)) for names in listed["missing_columns"]]
    return listed


def _show_helpers(patterns: MissingPatterns) -> None:
    flux = measure_flux(patterns)
    show_figure(
        figures.flux_figure(flux),
        question="Which columns can help to impute the others?",
        key="missingness-flux",
        data=lambda: flux.rename_axis("column").reset_index(),
        caption="High: observed where others are missing, so it can help them. "
        "Far to the right: others are observed where it is missing, so they can help it.",
    )
