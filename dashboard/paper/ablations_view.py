"""The paper's ablations: masking functions, steps from ReMasker, a and b, and mechanisms."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.figures import paper as figures
from dashboard.paper import measured, words
from dashboard.paper.caches import results_of
from dashboard.paper.measured import Measured
from dashboard.paper.record_view import RUNS, show_coverage, show_not_run
from dashboard.paper.settings_view import choose, choose_preset, with_chosen_preset
from dashboard.widgets import fragment, show_figure
from pmae_core.masking import list_masking_functions
from pmae_core.replication.printed_figures import printed_ablation, printed_masking
from pmae_core.words import count

ACCURACY = "imputation accuracy × 100"
ABLATION_STEPS = {
    "remasker": "ReMasker",
    "loss": "+ PMAE's loss",
    "masking": "+ PMAE's masking",
    "architecture": "+ PMAE's mixer",
}
CHOSEN_A, CHOSEN_B = 0.05, 0.5
_UNTIL_RUN = "Until then, the figure shows the printed results."


# Table 3


@fragment
def show_masking_functions() -> None:
    """Draw Table 3: the accuracy with each masking function."""
    st.markdown(
        "The paper averages shoppers, wine and diabetes. It does not name the patterns, but its "
        "results fit all three."
    )
    results = results_of("table3")
    means = _network_means(results, "table3")
    printed = printed_masking().set_index("masking")["accuracy_x100"]
    titles = {function.name: function.title for function in list_masking_functions()}
    pairs = pd.DataFrame({"masking": list(titles), "name": list(titles.values())})
    pairs["printed"] = pairs["masking"].map(printed)
    shared = _add_measured(pairs, means, "masking")
    pairs = pairs.sort_values(["measured", "printed"], ascending=False)
    figure, runs = st.tabs(["Figure", RUNS])
    with figure:
        show_figure(
            figures.pairs_figure(pairs, ACCURACY),
            question="Does the masking function matter?",
            key="paper-masking",
            data=pairs,
            caption=_averages_caption(shared, means, "table3"),
        )
    with runs:
        show_coverage("table3", results, means)


def _network_means(results: Measured, experiment: str) -> pd.DataFrame:
    """Return the means of one method and preset, which the reader chooses if there are several."""
    means = measured.means_of(results.rows)
    if means.empty:
        show_not_run(experiment, _UNTIL_RUN)
        return means
    means["network"] = [measured.title_of(row.method, row.preset) for row in means.itertuples()]
    options = {name: name for name in dict.fromkeys(means["network"])}
    if len(options) == 1:
        st.caption(f"Measured with {next(iter(options))}.")
        return means
    network = choose(
        "Network", f"{experiment}-network", options, help="The network and its training settings."
    )
    return means[means["network"] == network]


def _add_measured(pairs: pd.DataFrame, means: pd.DataFrame, by: str) -> pd.DataFrame:
    """Add the means over shared cells to the printed results; return these cells."""
    averaged, shared = measured.common_means(means, [by])
    averaged = averaged.set_index(by)
    for ours, column in (("measured", "mean"), ("error", "error")):
        pairs[ours] = pairs[by].map(averaged[column]).astype(float)
    return shared


def _averages_caption(shared: pd.DataFrame, means: pd.DataFrame, experiment: str) -> str:
    presets = set(means.get("preset", []))
    return f"{words.mean_over(shared)} {words.order_not_level(shared, presets, experiment)}"


# Table 4


@fragment
def show_ablation() -> None:
    """Draw Table 4: what each change from ReMasker to PMAE adds."""
    st.markdown(
        "Each line adds one change to the line above. With PMAE's masking it is PMAE-trf; with its "
        "mixer instead of attention it is PMAE-mix. The paper averages nine tables and three "
        "patterns."
    )
    results = results_of("table4")
    means = measured.means_of(results.rows)
    if means.empty:
        show_not_run("table4", _UNTIL_RUN)
    else:
        means["step"] = [_step(row) for row in means.itertuples()]
        preset = choose_preset("Preset", "table4-preset", list(dict.fromkeys(means["preset"])))
        means = means[means["preset"] == preset]
    pairs = printed_ablation()[["step", "accuracy_x100"]].set_axis(["step", "printed"], axis=1)
    pairs["name"] = pairs["step"].map(ABLATION_STEPS)
    shared = _add_measured(pairs, means.assign(step=means.get("step")), "step")
    figure, runs = st.tabs(["Figure", RUNS])
    with figure:
        show_figure(
            figures.pairs_figure(pairs, ACCURACY),
            question="What does each change from ReMasker to PMAE add?",
            key="paper-ablation",
            data=pairs,
            caption=_averages_caption(shared, means, "table4"),
        )
    with runs:
        show_coverage("table4", results, means)


def _step(row: Any) -> str:
    if row.method == "remasker":
        return "remasker" if row.loss == "remasker" else "loss"
    return "masking" if row.method == "pmae-trf" else "architecture"


# The grid of a and b


@fragment
def show_grid() -> None:
    """Draw the accuracy by a and b."""
    results = results_of("grid")
    means = measured.means_of(results.rows)
    st.markdown(
        "The paper shows this grid without numbers and chooses a = 0.05 and b = 0.5. With a = 0 "
        "masking is uniform; the larger a, the more masking depends on the share missing."
    )
    if means.empty:
        show_not_run("grid")
        return
    grids, runs = st.tabs(["Figure", RUNS])
    with grids:
        for column, method in zip(st.columns(2), ("pmae-mix", "pmae-trf"), strict=True):
            with column:
                _show_grid_of(method, means[means["method"] == method])
    with runs:
        show_coverage("grid", results, means)


def _show_grid_of(method: str, means: pd.DataFrame) -> None:
    if means.empty:
        return
    title = measured.title_of(method)
    averaged, shared = measured.common_means(means, ["a", "b"])
    if averaged.empty:
        st.info(f"No table has been run with every pair of a and b for {title} yet.")
        return
    show_figure(
        figures.grid_figure(averaged, chosen=(CHOSEN_A, CHOSEN_B)),
        question=f"Which a and b are best for {title}?",
        key=f"paper-grid-{method}",
        data=averaged,
        caption="Imputation accuracy × 100; the dot is the best pair, the frame the paper's. "
        f"{words.mean_over(shared)}",
    )


# Mechanisms


@fragment
def show_mechanisms() -> None:
    """Draw the accuracy under each mechanism."""
    results = results_of("mechanisms")
    means = measured.means_of(results.rows)
    st.markdown(
        "Values may be missing by chance (MCAR), depending on other columns (MAR), or depending on "
        "the missing values themselves (MNAR). The paper shows this without numbers, for the "
        "monotone pattern, and finds MNAR the hardest."
    )
    if means.empty:
        show_not_run("mechanisms")
        return
    means = with_chosen_preset(means)
    averaged, shared = measured.common_means(means, ["method", "mechanism"])
    if averaged.empty:
        st.info("No table has been run with every mechanism and method yet.")
        show_coverage("mechanisms", results, means)
        return
    hardest = averaged.loc[averaged.groupby("method")["mean"].idxmin(), "mechanism"]
    st.markdown(
        f"**Here, MNAR is the hardest for {int((hardest == 'MNAR').sum())} of "
        f"{count(len(hardest), 'method')}.**"
    )
    figure, runs = st.tabs(["Figure", RUNS])
    with figure:
        order = averaged.groupby("method")["mean"].mean().sort_values(ascending=False).index
        show_figure(
            figures.mechanisms_figure(
                averaged, list(order), {name: measured.title_of(name) for name in order}
            ),
            question="Which mechanism is the hardest to impute?",
            key="paper-mechanisms",
            data=averaged,
            caption=words.mean_over(shared),
        )
    with runs:
        show_coverage("mechanisms", results, means)
