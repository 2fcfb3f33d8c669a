"""The answers of a comparison: which method to use, and whether the choice changes a result."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import runs
from dashboard.compare.detail_view import show_details
from dashboard.compare.plan import holdout_words, uses_scenario
from dashboard.compare.results import ComparisonResults, read_results
from dashboard.compare.settings_view import SECTION
from dashboard.compare.tables import (
    failures_table,
    forest_rows,
    in_order_of,
    usable_metrics,
)
from dashboard.compare.titles import method_titles, with_titles
from dashboard.compare.words import conclusion_sentence, intervals_caption, verdict
from dashboard.figures.comparison import forest_figure
from dashboard.runs.staleness import stale_sentence
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.text import plain
from dashboard.widgets import show_figure
from pmae_core.evaluation.comparison import RANKED_BY
from pmae_core.jobs import JobRecord, JobState
from pmae_core.jobs.worker.consequences import FOLDER, Consequences, read_consequences
from pmae_core.plots.ranking import METRIC_WORDS, ranking_figure
from pmae_core.words import count

QUESTION = "Does the method change my result?"


def show_results(run: JobRecord, table: OpenTable) -> None:
    """Draw a run: its state until it is done, its answers, and the details below them."""
    is_own_table = not uses_scenario(run.spec.params)
    if changed := stale_sentence(run, table, is_own_table=is_own_table):
        st.warning(changed, icon=":material/history:")
    shown = _version(run)

    def draw(found: list[JobRecord]) -> None:
        for job in found:
            if job.state is not JobState.SUCCEEDED:
                runs.show_job(job, key=SECTION)
            if _version(job) != shown:
                st.rerun()  # there are new results: the answers below are drawn again

    runs.watch(draw, [run.id])
    with runs.shown_result(run, section=SECTION, choice="run"):
        results, consequences = _read(shown, run)
        _show_answers(run, results, consequences)
        show_details(run, results, consequences)


def _version(run: JobRecord) -> tuple[Any, ...]:
    """Return what changes with every new result of a run."""
    files = [
        *(run.folder / "tasks").glob("*-seed*.json"),
        *(run.folder / FOLDER).glob("*-*.json"),
    ]
    times = [0.0]
    for file in files:
        with suppress(FileNotFoundError):  # the folder may be deleted at any moment
            times.append(file.stat().st_mtime)
    return run.id, run.state, len(files), max(times)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(version: tuple[Any, ...], _run: JobRecord) -> tuple[ComparisonResults, Consequences]:
    return read_results(_run), read_consequences(_run.folder)


def _show_answers(run: JobRecord, results: ComparisonResults, consequences: Consequences) -> None:
    is_active = run.state in runs.ACTIVE
    if not results.has_scores:
        text = "The ranking appears here when the first method has finished."
        st.info(text if is_active else "No method gave a result.")
        return
    st.markdown(verdict(results, method_titles()))
    sentence_place = st.container()
    _show_failures_note(results)
    # Without a conclusion the ranking has the whole width.
    has_conclusions = is_active or not consequences.conclusions.empty
    has_conclusions = has_conclusions and bool(run.spec.params.get("conclusions"))
    places = st.columns(2 if has_conclusions else 1, gap="medium")
    with places[0]:
        ranked = _show_ranking(run, results)
    if has_conclusions:
        with places[1]:
            _show_conclusion(in_order_of(ranked, consequences.conclusions), sentence_place)


def _show_failures_note(results: ComparisonResults) -> None:
    failed = with_titles(failures_table(results.comparison))
    if not failed.empty:
        names = list(dict.fromkeys(failed["method"]))
        st.warning(
            f"{count(len(names), 'method')} without all results ({plain(', '.join(names))}): "
            "**Runs** below shows why."
        )


# Which method


def _show_ranking(run: JobRecord, results: ComparisonResults) -> list[str]:
    """Draw the ranking, and return its methods, best first."""
    comparison = results.ranked
    metrics = usable_metrics(comparison, list(METRIC_WORDS))
    place = st.container()
    with st.popover("Rank by another score", icon=":material/swap_vert:", type="tertiary"):
        metric = memory.remembered(
            st.selectbox,
            "Rank by",
            section=SECTION,
            name="metric",
            default=RANKED_BY,
            options=metrics,
            format_func=lambda name: METRIC_WORDS[name][0][0].upper() + METRIC_WORDS[name][0][1:],
            help="Skill compares the squared error of numbers, or the share of wrong categories, "
            "with that of imputing the mean or mode. Distribution skill and energy distance score "
            "several random imputations; a single one is scored as a point mass. Imputation "
            "accuracy is the paper's: R² (negative as 0) or the share of correct categories.",
        )
    ranking = comparison.ranking_table(metric)
    with place:
        show_figure(
            ranking_figure(ranking, comparison.seed_scores(metric), metric, method_titles()),
            question="Which method is most accurate?",
            key="comparison-ranking",
            data=ranking,
            caption="Tied methods share a band: the 95% interval of their difference reaches "
            f"the leader's dotted line. Scored on {plain(holdout_words(run.spec.params))}.",
        )
    return list(ranking["method"])


# Does it matter


def _show_conclusion(conclusions: pd.DataFrame, sentence_place: DeltaGenerator) -> None:
    found = forest_rows(with_titles(conclusions))
    if not found:
        st.info(
            "The result of each method appears here as soon as it has finished.",
            icon=":material/forest:",
        )
        return
    figure_place = st.container()
    name = _choose_estimand(list(found))
    rows = found[name]
    done = rows[rows["status"] == "done"]
    with figure_place:
        show_figure(
            forest_figure(done, name),
            question=QUESTION,
            key="comparison-forest",
            data=rows,
            caption=intervals_caption(done),
        )
    sentence_place.markdown(conclusion_sentence(rows))


def _choose_estimand(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return str(
        memory.remembered(
            st.selectbox,
            "Result",
            section=SECTION,
            name="estimand",
            default=names[0],
            options=names,
        )
    )
