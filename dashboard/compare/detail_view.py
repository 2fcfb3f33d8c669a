"""The details of a comparison: columns, cells, scores, predictions, runs and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.compare.exports import export_files
from dashboard.compare.results import ComparisonResults, with_progress
from dashboard.compare.settings_view import SECTION
from dashboard.compare.tables import (
    failures_table,
    hardest_first,
    points_of,
    reasons_table,
    runs_table,
    skill_table,
)
from dashboard.compare.titles import method_titles, with_titles
from dashboard.compare.words import (
    cells_sentence,
    columns_sentence,
    downstream_sentence,
    winners_table,
)
from dashboard.figures.comparison import (
    MOST_COLUMNS,
    confusion_data,
    confusion_figure,
    densities_figure,
    density_data,
    downstream_figure,
    is_category,
    skill_figure,
    truth_figure,
    truth_points,
)
from dashboard.state import memory
from dashboard.text import code, plain
from dashboard.widgets import choose_view, fragment, show_figure
from dashboard.widgets.methods import known_methods
from pmae_core.evaluation import expected_coverage
from pmae_core.evaluation.verdict import recommended
from pmae_core.evaluation.winners import without_baseline
from pmae_core.jobs import JobRecord, JobState
from pmae_core.jobs.worker.consequences import Consequences
from pmae_core.table import Role
from pmae_core.words import percent

COLUMNS, CELLS, SCORES = "Which columns?", "Which cells?", "All scores"
PREDICTION, RUNS, EXPORT = "Prediction", "Runs", "Export"
MODELS = {"linear": "Linear model", "boosting": "Gradient boosted trees"}
SCORE_COLUMNS = (
    "rank",
    "method",
    "skill",
    "imputation_accuracy",
    "accuracy",
    "balanced_accuracy",
    "rmse",
    "distribution_skill",
    "coverage",
    "energy_distance",
    "i_score",
    "n_imputations",
    "seconds",
    "memory_mb",
    "seeds",
)


@fragment
def show_details(run: JobRecord, results: ComparisonResults, consequences: Consequences) -> None:
    """Draw the chosen one of the details; the others are not computed."""
    if not results.has_scores:
        _show_runs(run, results, consequences)
        return
    views: dict[str, Callable[[], None]] = {
        COLUMNS: lambda: _show_columns(results),
        CELLS: lambda: _show_cells(run, results),
        SCORES: lambda: _show_scores(results),
    }
    if not consequences.downstream.empty:
        views[PREDICTION] = lambda: _show_prediction(run, consequences)
    views[RUNS] = lambda: _show_runs(run, results, consequences)
    views[EXPORT] = lambda: _show_exports(run, results, consequences)
    views[choose_view("Details", views, section=SECTION, name="detail")]()


# Columns


def _show_columns(results: ComparisonResults) -> None:
    comparison = results.ranked
    winners = without_baseline(comparison.column_winners())
    skill = skill_table(comparison, comparison.ranking_table()["method"].tolist())
    if skill.empty:
        return
    shown = _choose_columns(skill)
    st.markdown(columns_sentence(winners))
    show_figure(
        skill_figure(shown, winners, method_titles()),
        question="How much better than the mean is each method, column by column?",
        key="comparison-columns",
        data=lambda: skill.rename_axis("column").reset_index(),
        caption="Skill: 1 is perfect, 0 is the mean or mode, negative is worse. ● best in its "
        "column, ○ tied with it.",
    )
    with st.popover("Best method per column", icon=":material/table:", type="tertiary"):
        st.dataframe(
            winners_table(winners, method_titles()),
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:winners",
            column_config={
                "column": "Column",
                "best": "Best method",
                "tied": "Tied with it",
                "skill": _number("Skill", "Of the best method: 1 is perfect."),
            },
        )


def _choose_columns(skill: pd.DataFrame) -> pd.DataFrame:
    """Return the columns to draw: all, or of many those on the chosen page, the hardest first."""
    if len(skill) <= MOST_COLUMNS:
        return skill
    ordered = hardest_first(skill)
    starts = list(range(0, len(ordered), MOST_COLUMNS))
    first, search = st.columns([1, 2])
    with first:
        start = memory.remembered(
            st.selectbox,
            "Columns, hardest first",
            section=SECTION,
            name="columns_from",
            default=0,
            options=starts,
            format_func=lambda one: (
                f"{one + 1} to {min(one + MOST_COLUMNS, len(ordered))} of {len(ordered)}"
            ),
        )
    with search:
        wanted = st.multiselect(
            "Or search columns",
            list(ordered.index),
            key=f"{SECTION}:columns",
            max_selections=MOST_COLUMNS,
        )
    return ordered.loc[wanted] if wanted else ordered.iloc[start : start + MOST_COLUMNS]


# Cells


def _show_cells(run: JobRecord, results: ComparisonResults) -> None:
    comparison = results.ranked
    done = [t for t in comparison.tasks if t.status == "done" and t.points]
    if not done:
        st.caption("No cells were kept with these results.")
        return
    ranking = comparison.ranking_table()
    methods = [m for m in ranking["method"] if any(t.method == m for t in done)]
    best = recommended(ranking)
    if best is not None and best.method in methods:
        methods = [best.method, *(name for name in methods if name != best.method)]
    column, method = _choose_column_and_method(list(done[0].points), methods)
    cells = truth_points(points_of(comparison, method, column))
    categories = is_category({"truth": list(cells["truth"])})
    title = method_titles().get(method, method)
    about = known_methods()[method].about_imputations if method in known_methods() else ""
    st.markdown(
        cells_sentence(cells, column, title, categories=categories, about_imputations=about)
    )
    left, right = st.columns(2, gap="medium")
    with left:
        _show_truth(cells, column, categories=categories, is_date=column in _dates_of(run))
    with right:
        shares = density_data(cells)
        show_figure(
            densities_figure(shares, column),
            question="Are imputed values distributed like true ones?",
            key="comparison-density",
            data=shares,
            caption="The same held-out cells, true and imputed.",
        )


def _choose_column_and_method(columns: list[str], methods: list[str]) -> tuple[str, str]:
    """Ask for a column and a method, at first the one to use."""
    names = method_titles()
    left, right = st.columns(2)
    with left:
        column = memory.remembered(
            st.selectbox,
            "Column",
            section=SECTION,
            name="column",
            default=columns[0],
            options=columns,
        )
    with right:
        # Known by the first: while results come in, it follows the leader.
        method = st.selectbox(
            "Imputed by",
            methods,
            key=f"{SECTION}:method:{methods[0]}",
            format_func=lambda name: names.get(name, name),
            help="The recommended method comes first.",
        )
    return column, method


def _show_truth(cells: pd.DataFrame, column: str, *, categories: bool, is_date: bool) -> None:
    if categories:
        figure = confusion_figure(confusion_data(cells), column)
        how_to_read = "Larger dots are larger shares of a true category."
    else:
        figure = truth_figure(cells, column)
        how_to_read = "On the dashed line, imputed and true values are equal."
        if is_date:
            how_to_read += " Dates are in seconds since the first one."
    show_figure(
        figure,
        question="How close are the imputed values?",
        key="comparison-truth",
        data=cells,
        caption=how_to_read,
    )


def _dates_of(run: JobRecord) -> set[str]:
    """Return the columns of dates, which are scored in seconds."""
    schema = run.spec.read_schema() or ()
    return {str(column.name) for column in schema if column.role is Role.DATETIME}


# Scores


def _show_scores(results: ComparisonResults) -> None:
    ranking = results.ranked.ranking_table()
    st.dataframe(
        with_titles(ranking).assign(
            seeds=[
                f"{n} of {m}" for n, m in zip(ranking["n_done"], ranking["n_tasks"], strict=True)
            ]
        ),
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:scores",
        column_order=[
            name for name in SCORE_COLUMNS if name == "seeds" or ranking[name].notna().any()
        ],
        column_config={
            "rank": st.column_config.NumberColumn("Rank", width="small"),
            "method": "Method",
            "skill": _number("Skill", "Share of the mean's error avoided: 1 is perfect."),
            "imputation_accuracy": _number("Imputation accuracy", "The paper's: 1 is perfect."),
            "accuracy": _number("Correct categories", "Share of categories imputed exactly."),
            "balanced_accuracy": _number(
                "Balanced accuracy", "The same, with all categories weighted equally."
            ),
            "rmse": _number("RMSE", "Root mean squared error of scaled numbers: 0 is perfect."),
            "distribution_skill": _number(
                "Distribution skill", "Error of random observed values avoided: 1 is perfect."
            ),
            "coverage": _number("Coverage", _coverage_help(ranking)),
            "energy_distance": _number(
                "Energy distance", "Between imputed and true rows: 0 is perfect."
            ),
            "i_score": _number("I-Score", "Without held-out cells: lower is better."),
            "n_imputations": st.column_config.NumberColumn(
                "Imputations", format="%d", help="Scored as a distribution; 1 is a point mass."
            ),
            "seconds": st.column_config.NumberColumn(
                "Seconds", format="%.2f", help="To fit and impute, median over seeds."
            ),
            "memory_mb": st.column_config.NumberColumn("Memory, MB", format="%.0f"),
            "seeds": "Seeds done",
        },
    )


def _coverage_help(ranking: pd.DataFrame) -> str:
    most = ranking["n_imputations"].max()
    if pd.isna(most):
        return ""
    reached = percent(expected_coverage(int(most)))
    return (
        f"How often the interval from {int(most)} imputations includes the true number; perfect "
        f"ones reach {reached}."
    )


def _number(label: str, explanation: str) -> Any:
    return st.column_config.NumberColumn(label, format="%.3f", help=explanation)


# Prediction


def _show_prediction(run: JobRecord, consequences: Consequences) -> None:
    scores = with_titles(consequences.downstream)
    target = str(run.spec.params["target"])
    done = scores[scores["status"] == "done"]
    if done.empty:
        st.info("No method gave a prediction. **Runs** shows why.")
        return
    models = [model for model in MODELS if model in set(done["model"])]
    model = memory.remembered(
        st.radio,
        "Predicted by",
        section=SECTION,
        name="model",
        default=models[0],
        options=models,
        format_func=MODELS.get,
        horizontal=True,
    )
    shown = done[done["model"] == model]
    st.markdown(downstream_sentence(shown, target))
    show_figure(
        downstream_figure(shown),
        question=f"How well is {code(target)} predicted from each imputed table?",
        key="comparison-downstream",
        data=scores,
        caption="In rows held out. Blue: the true data (where known) and complete cases, which "
        "are tested on fewer and perhaps easier rows.",
    )


# Runs


def _show_runs(run: JobRecord, results: ComparisonResults, consequences: Consequences) -> None:
    if run.state is JobState.SUCCEEDED:
        runs.show_job(run, key=f"{SECTION}:ended")
    runs.watch(lambda found: _show_states(found, results), [run.id])
    st.caption("Skill of each finished run: 1 is perfect, 0 is the mean or mode.")
    failed = with_titles(failures_table(results.comparison))
    if not failed.empty:
        st.subheader("Which runs have no result, and why?", anchor=False)
        st.dataframe(
            failed,
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:failures",
            column_config={
                "method": "Method",
                "seeds": "Seeds",
                "status": "Status",
                "reason": st.column_config.TextColumn("Reason", width="large"),
            },
        )
    for part in ("conclusions", "downstream"):
        _show_reasons(with_titles(getattr(consequences, part)), part)
    for note in consequences.notes:
        st.warning(plain(note))


def _show_states(found: list[JobRecord], results: ComparisonResults) -> None:
    for run in found:
        states = with_titles(runs_table(with_progress(results, run.progress)))
        st.dataframe(
            states.rename(columns={"method": "Method"}),
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:runs",
        )


def _show_reasons(rows: pd.DataFrame, part: str) -> None:
    reasons = reasons_table(rows)
    if not reasons.empty:
        what = {"conclusions": "estimate", "downstream": "prediction"}[part]
        st.dataframe(
            reasons,
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:{part}-failed",
            column_config={"method": f"Without {what}", "error": "Reason"},
        )


# Export


def _show_exports(run: JobRecord, results: ComparisonResults, consequences: Consequences) -> None:
    with st.container(horizontal=True, gap="small"):
        for file in export_files(run, results, consequences):
            st.download_button(
                file.label,
                data=file.content,
                file_name=file.name,
                mime=file.mime,
                on_click="ignore",
                key=f"{SECTION}:download:{file.label}",
                icon=":material/download:",
                help=file.explanation,
            )
    if results.pending:
        st.caption("These files contain the results so far; pending runs are marked as not run.")
