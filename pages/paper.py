"""Paper: its tables and figures beside those measured here, with the settings of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.figures import paper as figures
from dashboard.paper import measured, words
from dashboard.paper.measured import Measured
from dashboard.state import memory
from dashboard.text import plain
from dashboard.widgets import fragment, show_figure
from pmae_core.masking import list_masking_functions
from pmae_core.replication.printed_figures import (
    DATASETS,
    PAPER_NAMES,
    PATTERNS,
    printed_ablation,
    printed_figure,
    printed_masking,
)
from pmae_core.words import count

SECTION = "paper"
ACCURACY = "imputation accuracy × 100"
METRICS = {
    "imputation_accuracy": "Imputation accuracy",
    "r2": "R² of numbers",
    "accuracy": "Categories right",
}
TASKS = {"downstream_auroc": "Classification (AUROC)", "downstream_r2": "Regression (R²)"}
ABLATION_STEPS = {
    "remasker": "ReMasker",
    "loss": "with PMAE's loss",
    "masking": "and its masking",
    "architecture": "and its mixer",
}
CHOSEN_A, CHOSEN_B = 0.05, 0.5


# Results are read once as long as the files stay the same


@st.cache_data(max_entries=16, show_spinner=False)
def _measured(folder: str, stamp: Any, experiment: str) -> Measured:
    return measured.read_measured(Path(folder), experiment)


@st.cache_data(max_entries=8, show_spinner=False)
def _all_methods(folder: str, stamp: Any, metric: str) -> pd.DataFrame:
    return measured.all_methods(Path(folder), metric)


def _results(experiment: str) -> Measured:
    folder = measured.results_folder()
    return _measured(str(folder), measured.stamp(folder), experiment)


# Table 2


@fragment
def all_methods() -> None:
    left, right = st.columns(2)
    with left:
        metric = _choice("What is compared?", "metric", METRICS, help=_METRIC_HELP)
    folder = measured.results_folder()
    means = _all_methods(str(folder), measured.stamp(folder), metric)
    with right:
        means = _with_chosen_preset(means)
        means = _with_chosen_rows(means)
    both = measured.beside_paper(means, metric)
    if both.empty:
        _show_not_run("table2", "Until then the table has the printed figures, in brackets.")
    else:
        st.markdown(words.agreement(both))
    _show_table(both, metric, "paper-table2")
    if not both.empty:
        _show_spread(both, METRICS[metric])
    _show_reasons(both)
    _show_coverage("table2", _results("table2"), means)


_METRIC_HELP = (
    "Imputation accuracy is the mean over columns of R² (numbers, negative as 0) and of the "
    "share of right categories. All figures are multiplied by 100."
)


def _with_chosen_preset(means: pd.DataFrame) -> pd.DataFrame:
    """Ask under which preset to show PMAE, where there is a choice."""
    presets = measured.presets_of(means)
    if not presets:
        return measured.with_preset(means, "balanced")
    preset = _chosen_preset("Settings of PMAE", "preset", presets)
    return measured.with_preset(means, preset)


def _with_chosen_rows(means: pd.DataFrame) -> pd.DataFrame:
    """Ask how many rows of a table to look at, where there is a choice."""
    caps = measured.caps_of(means)
    if len(caps) < 2:
        return measured.at_most(means, None)
    options = {cap: f"at most {cap:,}" for cap in caps}
    cap = _choice("Rows of a table", "rows", options, help=_ROWS_HELP)
    return measured.at_most(means, cap)


_ROWS_HELP = (
    "Large tables were sampled down. With few rows the paper's own 600 epochs can be run on a "
    "processor; with many rows figures are nearer to those of whole tables. All methods had the "
    "same rows."
)


def _chosen_preset(label: str, name: str, presets: list[str]) -> str:
    preset = presets[0]
    if len(presets) > 1:
        explained = " ".join(f"**{one}**: {words.PRESETS[one]}." for one in presets)
        preset = _choice(label, name, {one: one for one in presets}, help=explained)
    st.caption(f"PMAE with the preset {preset}: {words.PRESETS[preset]}.")
    return preset


def _show_table(both: pd.DataFrame, metric: str, key: str) -> None:
    pattern = _choice(
        "Pattern of the holes",
        f"{key}-pattern",
        {name: name for name in reversed(PATTERNS)},
        help="Monotone: 60% of the columns have holes, in the same half of the rows. "
        "Quasi-monotone: three in five columns miss much, the others little. General: every "
        "column misses between a tenth and nine tenths.",
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
    # Tables for which there is no figure are left out, as those without numbers have no R².
    known = {*printed["dataset"], *shown["dataset"]}
    datasets = [name for name in DATASETS if name in known]
    data = figures.table_data(shown, printed, datasets, list(reversed(PAPER_NAMES)))
    show_figure(
        figures.table_figure(data, PAPER_NAMES),
        question="How near do we come to the printed figures?",
        key=key,
        data=data,
        caption="On top: measured here. Below it ▲ and blue: so many points above the printed "
        "figure, ▼ and orange: below. In brackets: printed, but not measured here. "
        "The last column is the mean over the measured tables.",
    )


def _show_spread(both: pd.DataFrame, title: str) -> None:
    known = both.dropna(subset=["mean", "printed"])
    n_cells = known.groupby(["dataset", "pattern"]).ngroups
    if n_cells < 2:
        return
    order = known.groupby("method")["mean"].mean().sort_values(ascending=False).index.tolist()
    show_figure(
        figures.boxes_figure(known, order, PAPER_NAMES, f"{title.lower()} × 100"),
        question="How much do the figures of a method vary over tables and patterns?",
        key="paper-boxes",
        data=known,
        caption=f"Both boxes of a method have the same points: {_cells(n_cells)} at most, those "
        "that were measured here. The dashed line in a box is its mean.",
    )
    _show_ranks(both, order)


def _show_ranks(both: pd.DataFrame, methods: list[str]) -> None:
    ranks = measured.mean_ranks(both)
    if ranks["method"].nunique() < 2:
        return
    pattern = _choice(
        "Ranks over which patterns?",
        "rank-pattern",
        {name: name for name in ("all", *PATTERNS) if name in set(ranks["pattern"])},
        help="The paper claims that the order of methods is much the same in all patterns.",
    )
    shown = ranks[ranks["pattern"] == pattern].sort_values("measured")
    pairs = shown.assign(name=[PAPER_NAMES[method] for method in shown["method"]])
    left_out = sorted({*methods} - {*shown["method"]})
    show_figure(
        figures.pairs_figure(pairs, "mean rank (1 is best)", less_is_better=True),
        question="Is the order of methods that of the paper?",
        key="paper-ranks",
        data=pairs,
        caption=f"Ranks among the same methods, mean over {_cells(int(shown['n_cells'].max()))}."
        + (f" Left out for lack of some figures: {_listed(left_out)}." if left_out else ""),
    )


def _cells(number: int) -> str:
    return count(number, "table and pattern", "pairs of a table and a pattern")


def _listed(methods: list[str]) -> str:
    return ", ".join(measured.title_of(method) for method in methods)


def _show_reasons(both: pd.DataFrame) -> None:
    with st.expander("Why do figures differ?", icon=":material/help:"):
        for title, sentence in words.DIFFERENCES.items():
            st.markdown(f"**{title}.** {sentence}")
        for sentence in words.why_far(measured.far_methods(both)):
            st.markdown(sentence)


# Table 3


@fragment
def masking_functions() -> None:
    results = _results("table3")
    means = _ablation_means(results, "table3")
    printed = printed_masking().set_index("masking")["accuracy_x100"]
    titles = {function.name: function.title for function in list_masking_functions()}
    pairs = pd.DataFrame({"masking": list(titles), "name": list(titles.values())})
    pairs["printed"] = pairs["masking"].map(printed)
    shared = _add_measured(pairs, means, "masking")
    pairs = pairs.sort_values(["measured", "printed"], ascending=False)
    show_figure(
        figures.pairs_figure(pairs, ACCURACY),
        question="Does it matter how masking follows the observed proportion?",
        key="paper-masking",
        data=pairs,
        caption="The paper averages shoppers, wine and diabetes; it does not say over which "
        f"patterns, but its figures fit all three. {words.mean_over(shared)} "
        + words.not_the_height(shared, set(means.get("preset", [])), "table3"),
    )
    _show_coverage("table3", results, means)


def _ablation_means(results: Measured, experiment: str) -> pd.DataFrame:
    """Return the means of one method and preset, which the reader chooses where there are more."""
    means = measured.means_of(results.rows)
    if means.empty:
        _show_not_run(experiment, "Until then the figure has the printed values.")
        return means
    means["network"] = [measured.title_of(row.method, row.preset) for row in means.itertuples()]
    options = {name: name for name in dict.fromkeys(means["network"])}
    if len(options) == 1:
        st.caption(f"Measured with {next(iter(options))}.")
        return means
    network = _choice(
        "Network", f"{experiment}-network", options, help="Which network was trained, and how."
    )
    return means[means["network"] == network]


def _add_measured(pairs: pd.DataFrame, means: pd.DataFrame, by: str) -> pd.DataFrame:
    """Put the mean over shared cells beside the printed figures; return these cells."""
    averaged, shared = measured.common_means(means, [by])
    averaged = averaged.set_index(by)
    for ours, column in (("measured", "mean"), ("error", "error")):
        pairs[ours] = pairs[by].map(averaged[column]).astype(float)
    return shared


# Table 4


@fragment
def ablation() -> None:
    results = _results("table4")
    means = measured.means_of(results.rows)
    if means.empty:
        _show_not_run("table4", "Until then the figure has the printed values.")
    else:
        means["step"] = [_step(row) for row in means.itertuples()]
        presets = list(dict.fromkeys(means["preset"]))
        preset = _chosen_preset("Settings", "table4-preset", presets)
        means = means[means["preset"] == preset]
    pairs = printed_ablation()[["step", "accuracy_x100"]].set_axis(["step", "printed"], axis=1)
    pairs["name"] = pairs["step"].map(ABLATION_STEPS)
    shared = _add_measured(pairs, means.assign(step=means.get("step")), "step")
    show_figure(
        figures.pairs_figure(pairs, ACCURACY),
        question="What does each change from ReMasker to PMAE bring?",
        key="paper-ablation",
        data=pairs,
        caption="Each line has all changes of the lines above it: with its masking it is PMAE-trf, "
        "with an MLP that mixes instead of attention PMAE-mix. The paper averages nine tables and "
        f"three patterns. {words.mean_over(shared)} "
        + words.not_the_height(shared, set(means.get("preset", [])), "table4"),
    )
    _show_coverage("table4", results, means)


def _step(row: Any) -> str:
    if row.method == "remasker":
        return "remasker" if row.loss == "remasker" else "loss"
    return "masking" if row.method == "pmae-trf" else "architecture"


# The grid


@fragment
def grid() -> None:
    results = _results("grid")
    means = measured.means_of(results.rows)
    st.markdown(
        "The paper shows this grid as a picture without numbers, and chooses a = 0.05 and b = 0.5. "
        "With a = 0 masking is uniform; the larger a, the more it follows the observed proportion."
    )
    if means.empty:
        _show_not_run("grid")
        return
    for column, method in zip(st.columns(2), ("pmae-mix", "pmae-trf"), strict=True):
        rows = means[means["method"] == method]
        if rows.empty:
            continue
        averaged, shared = measured.common_means(rows, ["a", "b"])
        with column:
            if averaged.empty:
                st.info(
                    f"{measured.title_of(method)} has no table yet on which every pair of a and b "
                    "was run."
                )
                continue
            show_figure(
                figures.grid_figure(averaged, chosen=(CHOSEN_A, CHOSEN_B)),
                question=f"Which a and b suit {measured.title_of(method)} best?",
                key=f"paper-grid-{method}",
                data=averaged,
                caption="Imputation accuracy × 100. The dot is the best pair, the frame the "
                f"paper's. {words.mean_over(shared)}",
            )
    _show_coverage("grid", results, means)


# Mechanisms


@fragment
def mechanisms() -> None:
    results = _results("mechanisms")
    means = measured.means_of(results.rows)
    st.markdown(
        "Holes may be pure chance (MCAR), follow other columns (MAR) or the missing values "
        "themselves (MNAR). The paper shows this as a picture without numbers, for the monotone "
        "pattern, and finds MNAR the hardest."
    )
    if means.empty:
        _show_not_run("mechanisms")
        return
    means = _with_chosen_preset(means)
    averaged, shared = measured.common_means(means, ["method", "mechanism"])
    if averaged.empty:
        st.info("No table has been run with every mechanism and method yet.")
    else:
        order = averaged.groupby("method")["mean"].mean().sort_values(ascending=False).index
        show_figure(
            figures.mechanisms_figure(
                averaged, list(order), {name: measured.title_of(name) for name in order}
            ),
            question="Are holes harder to fill when they depend on the missing values?",
            key="paper-mechanisms",
            data=averaged,
            caption=words.mean_over(shared),
        )
        hardest = averaged.loc[averaged.groupby("method")["mean"].idxmin(), "mechanism"]
        st.markdown(
            f"MNAR is the hardest for {int((hardest == 'MNAR').sum())} of "
            f"{count(len(hardest), 'method')} here."
        )
    _show_coverage("mechanisms", results, means)


# Downstream


@fragment
def downstream() -> None:
    results = _results("downstream")
    metric = _choice(
        "Task",
        "task",
        TASKS,
        help="Whether a class or a number is predicted from the filled table. AUROC of 50 is "
        "guessing, R² of 0 is the mean; 100 is perfect.",
    )
    means = _downstream_means(results, metric)
    if means.empty:
        _show_not_run("downstream", "Until then the table has the printed figures, in brackets.")
    else:
        means = _with_chosen_preset(means)
    both = measured.beside_paper(means, metric)
    st.markdown(words.agreement(both))
    _show_table(both, metric, "paper-downstream")
    st.caption(
        "Each table is imputed whole and then split, as we read the paper, which does not say so "
        "explicitly: a linear model and gradient boosting are trained on 70% of the rows and "
        "scored on the others; the figure is their mean. Imputers thus "
        "see the features of the test rows, which can make scores too high. "
        "The paper uses XGBoost, we use scikit-learn's gradient boosting."
    )
    _show_split_first(means, metric)
    _show_coverage("downstream", results, means)


def _downstream_means(results: Measured, metric: str) -> pd.DataFrame:
    rows = results.rows
    if "downstream_metric" in rows:
        rows = rows[rows["downstream_metric"] == metric.removeprefix("downstream_")]
    return measured.means_of(rows, "downstream")


def _show_split_first(whole: pd.DataFrame, metric: str) -> None:
    """Show the same scores with imputers that never see the test rows."""
    split = _downstream_means(_results("downstream-split"), metric)
    pairs = measured.split_beside_whole(whole, split)
    st.subheader("What if imputers never see the test rows?", anchor=False)
    if pairs.empty:
        _show_not_run("downstream-split")
        return
    st.markdown(words.split_first(pairs))
    named = pairs.assign(method=[measured.title_of(name, None) for name in pairs["method"]])
    st.dataframe(
        named,
        hide_index=True,
        column_config={
            "method": "Method",
            "whole": st.column_config.NumberColumn("Imputed whole", format="%.1f"),
            "split": st.column_config.NumberColumn("Split first", format="%.1f"),
            "difference": st.column_config.NumberColumn("Difference", format="%+.1f"),
            "n_cells": "Tables and patterns",
        },
    )
    st.caption(
        "Measured here, on the same tables, missing values and splits. Methods that cannot impute "
        "new rows are fitted to the features of all rows in both columns. With few seeds, "
        "differences of a few points of either sign are chance."
    )


# Token mixing


@fragment
def mixing() -> None:
    results = _results("mixing")
    st.markdown(
        "Each block of the network first mixes the columns of a row, by attention or by an MLP. "
        "The paper shows on shoppers that an MLP changes more freely than attention how strongly "
        "each column is represented."
    )
    rows = results.rows
    rows = rows[rows["status"] == "done"] if not rows.empty else rows
    if rows.empty:
        _show_not_run("mixing")
        return
    change = figures.mixing_change(rows)
    show_figure(
        figures.mixing_change_figure(change),
        question="Which mixing changes the columns more?",
        key="paper-mixing",
        data=change,
        caption="Magnitude of a column is the mean absolute value of its representation, relative "
        "to the mean column. The change is that from before to after the mixing of a block.",
    )
    block = _choice(
        "Block",
        "block",
        {number: str(number) for number in sorted(set(rows["block"].astype(int)))},
        help="Blocks of the encoder, from the table inwards.",
    )
    shown = rows[rows["block"] == block]
    names = {"transformer": "attention", "mixer": "an MLP"}
    for column, (architecture, name) in zip(st.columns(2), names.items(), strict=True):
        columns = shown[shown["architecture"] == architecture]
        if columns.empty:
            continue
        averaged = columns.groupby("column", sort=False, as_index=False)[["before", "after"]].mean()
        with column:
            show_figure(
                figures.mixing_columns_figure(averaged),
                question=f"What does {name} do to each column?",
                key=f"paper-mixing-{architecture}",
                data=averaged,
            )
    dataset, n_rows = rows["dataset"].iloc[0], int(rows["n_rows"].iloc[0])
    seeds = count(rows["seed"].nunique(), "seed")
    st.caption(f"{dataset}, {n_rows:,} rows, {seeds}; {rows['preset'].iloc[0]} settings.")
    _show_record(results, "mixing")


# What was run, and what was not


def _show_not_run(experiment: str, until: str = "") -> None:
    st.info(f"This was not run here yet. {until}".strip(), icon=":material/hourglass_empty:")
    st.markdown("This command runs it; it can be stopped and goes on where it was:")
    st.code(words.command_for(experiment), language="sh")


def _show_coverage(experiment: str, results: Measured, means: pd.DataFrame) -> None:
    """Say on what was measured, what was not run, and how all that came about."""
    if not means.empty:
        st.caption(words.coverage(means))
    tried = pd.concat([part for part in (means, results.rows) if not part.empty] or [means])
    if not tried.empty:
        lack = measured.lack_of(tried, experiment)
        if sentence := words.lacking(lack):
            st.markdown(sentence)
            st.code(words.command_for(experiment, lack), language="sh", wrap_lines=True)
    _show_record(results, experiment)


def _show_record(results: Measured, experiment: str) -> None:
    """Show commands, versions and failures of an experiment."""
    failures = results.failures
    if not failures.empty:
        title = f"{count(len(failures), 'run')} without a result"
        with st.expander(title, icon=":material/error_outline:"):
            names = ["dataset", "pattern", "mechanism", "variant", "seed", "status", "error"]
            st.dataframe(
                failures[names],
                hide_index=True,
                width="stretch",
                key=f"{SECTION}:{experiment}:failures",
                column_config={"error": st.column_config.TextColumn("reason", width="large")},
            )
    if results.n_unusual:
        st.caption(
            f"{count(results.n_unusual, 'row')} of the file with other settings of a method "
            "(such as fewer steps) are not shown."
        )
    if results.runs:
        with st.expander("How this was measured", icon=":material/terminal:"):
            for run in results.runs:
                st.code(run.get("command", ""), language="sh", wrap_lines=True)
                if versions := run.get("versions"):
                    st.caption(plain(", ".join(f"{name} {v}" for name, v in versions.items())))


def _choice(label: str, name: str, options: dict[Any, str], *, help: str) -> Any:
    keys = list(options)
    return memory.remembered(
        st.segmented_control,
        label,
        section=SECTION,
        name=name,
        default=keys[0],
        options=keys,
        format_func=lambda key: options.get(key, str(key)),
        help=help,
        required=True,
        wrap=True,
    )


VIEWS: dict[str, Callable[[], None]] = {
    "All methods": all_methods,
    "Masking functions": masking_functions,
    "Step by step": ablation,
    "a and b": grid,
    "Mechanisms": mechanisms,
    "Downstream": downstream,
    "Token mixing": mixing,
}


def main() -> None:
    """Draw the chosen part of the paper."""
    st.title("Paper")
    st.markdown(
        "*To Predict or Not To Predict? Proportionally Masked Autoencoders for Tabular Data "
        "Imputation* (AAAI 2025): what it printed, and what this library measures on the same "
        "tables with the same kind of holes (MNAR, nested)."
    )
    chosen = _choice(
        "What do you want to see?",
        "view",
        {name: name for name in VIEWS},
        help="The tables and figures of the paper, one by one.",
    )
    VIEWS[chosen]()


main()
