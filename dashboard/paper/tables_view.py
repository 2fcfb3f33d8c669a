"""The paper's tables of methods: imputation (Table 2) and the downstream task."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.figures import paper as figures
from dashboard.paper import measured, words
from dashboard.paper.caches import results_of, table_2_means
from dashboard.paper.measured import Measured
from dashboard.paper.record_view import RUNS, show_coverage, show_not_run
from dashboard.paper.settings_view import choose, with_chosen_preset, with_chosen_rows
from dashboard.widgets import fragment, show_figure, show_tabs
from pmae_core.replication.printed_figures import DATASETS, PAPER_NAMES, PATTERNS, printed_figure
from pmae_core.words import count

METRICS = {
    "imputation_accuracy": "Imputation accuracy",
    "r2": "R² of numbers",
    "accuracy": "Accuracy of categories",
}
TASKS = {"downstream_auroc": "Classification (AUROC)", "downstream_r2": "Regression (R²)"}
_METRIC_HELP = (
    "Imputation accuracy is the mean over columns of R² (numbers; negative values count as 0) and "
    "of the share of correct categories. All results are multiplied by 100."
)
_PATTERN_HELP = (
    "Monotone: 60% of the columns have missing values, in the same half of the rows. "
    "Quasi-monotone: three of five columns miss much, the others little. General: every column "
    "misses between 10% and 90%."
)
_UNTIL_RUN = "Until then, the table shows the printed results, in parentheses."


# Table 2


@fragment
def show_all_methods() -> None:
    """Draw Table 2: printed and measured results of all methods."""
    headline = st.container()
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        with st.popover("Settings", icon=":material/tune:"):
            metric = choose("Metric", "metric", METRICS, help=_METRIC_HELP)
            means = with_chosen_rows(with_chosen_preset(table_2_means(metric)))
        st.caption(_shown(metric, means))
    both = measured.beside_paper(means, metric)
    with headline:
        if both.empty:
            show_not_run("table2", _UNTIL_RUN)
        else:
            st.markdown(words.agreement(both))
    methods = _best_first(both)
    contents = {
        "Table": lambda: _show_table(both, metric, "paper-table2"),
        "Spread": lambda: _show_spread(both, methods, METRICS[metric]),
        "Ranks": lambda: _show_ranks(both, methods),
        "Why results differ": lambda: _show_reasons(both),
        RUNS: lambda: show_coverage("table2", results_of("table2"), means),
    }
    show_tabs(contents, key="paper:table2")


def _shown(metric: str, means: pd.DataFrame) -> str:
    """Return the chosen settings in a few words."""
    presets = measured.presets_of(means)
    return f"{METRICS[metric]} × 100" + (f"; PMAE preset: {presets[0]}" if presets else "")


def _show_table(both: pd.DataFrame, metric: str, key: str) -> None:
    pattern = choose(
        "Pattern of missing values",
        f"{key}-pattern",
        {name: name for name in reversed(PATTERNS)},
        help=_PATTERN_HELP,
    )
    printed = pd.DataFrame(
        [
            {"method": method, "dataset": name, "printed": figure}
            for method in PAPER_NAMES
            for name in DATASETS
            if (figure := printed_figure(method, name, pattern, metric)) is not None
        ]
    )
    shown = both[both["pattern"] == pattern]
    # A table without numbers has no R², for example, and is left out.
    with_results = {*printed["dataset"], *shown["dataset"]}
    datasets = [name for name in DATASETS if name in with_results]
    data = figures.table_data(shown, printed, datasets, list(reversed(PAPER_NAMES)))
    show_figure(
        figures.table_figure(data, PAPER_NAMES),
        question="How close are our results to the printed ones?",
        key=key,
        data=data,
        caption="Top: measured here. Bottom: points above (▲, blue) or below (▼, orange) the "
        "printed result; in parentheses: printed only.",
    )


def _best_first(both: pd.DataFrame) -> list[str]:
    """Return the methods with both results, the highest measured mean first."""
    known = both.dropna(subset=["mean", "printed"])
    means = known.groupby("method")["mean"].mean().sort_values(ascending=False)
    return [str(method) for method in means.index]


def _show_spread(both: pd.DataFrame, methods: list[str], title: str) -> None:
    known = both.dropna(subset=["mean", "printed"])
    n_cells = known.groupby(["dataset", "pattern"]).ngroups
    if n_cells < 2:
        st.caption("This needs results on at least two tables or patterns.")
        return
    show_figure(
        figures.boxes_figure(known, methods, PAPER_NAMES, f"{title.lower()} × 100"),
        question="How much do results vary over tables and patterns?",
        key="paper-boxes",
        data=known,
        caption=f"Both boxes of a method have the same points: at most {_cells(n_cells)}, those "
        "measured here. The dashed line in a box is its mean.",
    )


def _show_ranks(both: pd.DataFrame, methods: list[str]) -> None:
    ranks = measured.mean_ranks(both)
    n_cells = both.dropna(subset=["mean", "printed"]).groupby(["dataset", "pattern"]).ngroups
    if n_cells < 2 or ranks["method"].nunique() < 2:
        st.caption("This needs two methods with results on at least two tables or patterns.")
        return
    pattern = choose(
        "Patterns",
        "rank-pattern",
        {name: name for name in ("all", *PATTERNS) if name in set(ranks["pattern"])},
        help="The paper claims that the order of methods is similar in all patterns.",
    )
    shown = ranks[ranks["pattern"] == pattern].sort_values("measured")
    pairs = shown.assign(name=[PAPER_NAMES[method] for method in shown["method"]])
    left_out = sorted({*methods} - {*shown["method"]})
    show_figure(
        figures.pairs_figure(pairs, "mean rank (1 is best)", less_is_better=True),
        question="Is the order of methods that of the paper?",
        key="paper-ranks",
        data=pairs,
        caption=f"Ranks of the same methods, mean over {_cells(int(shown['n_cells'].max()))}."
        + (f" Left out because results are missing: {_listed(left_out)}." if left_out else ""),
    )


def _cells(number: int) -> str:
    return count(number, "table and pattern", "pairs of a table and a pattern")


def _listed(methods: list[str]) -> str:
    return ", ".join(measured.title_of(method) for method in methods)


def _show_reasons(both: pd.DataFrame) -> None:
    for title, sentence in words.DIFFERENCES.items():
        st.markdown(f"**{title}.** {sentence}")
    if sentence := words.near_in_general(both):
        st.markdown(sentence)
    for sentence in words.why_far(measured.far_methods(both)):
        st.markdown(sentence)


# Downstream


@fragment
def show_downstream() -> None:
    """Draw the downstream task: how well a target is predicted from imputed features."""
    results = results_of("downstream")
    headline = st.container()
    left, right = st.columns(2, gap="medium")
    with left:
        metric = choose(
            "Task",
            "task",
            TASKS,
            help="Whether a class or a number is predicted from the imputed table. An AUROC of 50 "
            "is guessing, an R² of 0 is the mean; 100 is perfect.",
        )
    means = _downstream_means(results, metric)
    if not means.empty:
        with right:
            means = with_chosen_preset(means)
    both = measured.beside_paper(means, metric)
    with headline:
        if means.empty:
            show_not_run("downstream", _UNTIL_RUN)
        else:
            st.markdown(words.agreement(both))
    table, split, runs = st.tabs(["Table", "Split first", RUNS])
    with table:
        _show_table(both, metric, "paper-downstream")
    with split:
        _show_split_first(means, metric)
    with runs:
        st.caption(
            "Each table is imputed and then split, which is how we read the paper. A linear model "
            "and gradient boosting (scikit-learn's here, XGBoost in the paper) are trained on 70% "
            "of the rows and scored on the others; the result is their mean. Imputers therefore "
            "see the features of the test rows, which can make scores too high."
        )
        show_coverage("downstream", results, means)


def _downstream_means(results: Measured, metric: str) -> pd.DataFrame:
    rows = results.rows
    if "downstream_metric" in rows:
        rows = rows[rows["downstream_metric"] == metric.removeprefix("downstream_")]
    return measured.means_of(rows, "downstream")


def _show_split_first(whole: pd.DataFrame, metric: str) -> None:
    """Show the scores with imputers that never see the test rows."""
    split = _downstream_means(results_of("downstream-split"), metric)
    pairs = measured.split_beside_whole(whole, split)
    st.subheader("What if imputers never see the test rows?", anchor=False)
    if pairs.empty:
        show_not_run("downstream-split")
        return
    st.markdown(words.split_first(pairs))
    named = pairs.assign(method=[measured.title_of(name, None) for name in pairs["method"]])
    st.dataframe(
        named,
        hide_index=True,
        column_config={
            "method": "Method",
            "whole": st.column_config.NumberColumn("Imputed first", format="%.1f"),
            "split": st.column_config.NumberColumn("Split first", format="%.1f"),
            "difference": st.column_config.NumberColumn("Difference", format="%+.1f"),
            "n_cells": "Tables and patterns",
        },
    )
    st.caption(
        "Measured here on the same tables, missing values and splits. Methods that cannot impute "
        "new rows are fitted to the features of all rows in both columns; with few seeds, "
        "differences of a few points are chance."
    )
