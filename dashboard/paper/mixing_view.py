"""The paper's look inside the network: how token mixing changes the columns."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.figures import paper as figures
from dashboard.paper.caches import results_of
from dashboard.paper.record_view import RUNS, show_not_run, show_record
from dashboard.paper.settings_view import choose
from dashboard.widgets import fragment, show_figure
from pmae_core.words import count

_ARCHITECTURES = {"transformer": "attention", "mixer": "an MLP"}


@fragment
def show_mixing() -> None:
    """Draw how attention and MLP change the magnitudes of the columns."""
    results = results_of("mixing")
    st.markdown(
        "Each block of the network first mixes the columns of a row, by attention or by an MLP. "
        "The paper shows on shoppers that an MLP changes more freely than attention how strongly "
        "each column is represented."
    )
    rows = results.rows
    rows = rows[rows["status"] == "done"] if not rows.empty else rows
    if rows.empty:
        show_not_run("mixing")
        return
    blocks, columns, runs = st.tabs(["Blocks", "Columns", RUNS])
    with blocks:
        _show_blocks(rows)
    with columns:
        _show_columns(rows)
    with runs:
        dataset, n_rows = rows["dataset"].iloc[0], int(rows["n_rows"].iloc[0])
        seeds = count(rows["seed"].nunique(), "seed")
        st.caption(f"{dataset}, {n_rows:,} rows, {seeds}; preset {rows['preset'].iloc[0]}.")
        show_record(results, "mixing")


def _show_blocks(rows: pd.DataFrame) -> None:
    change = figures.mixing_change(rows)
    show_figure(
        figures.mixing_change_figure(change),
        question="Which mixing changes the columns more?",
        key="paper-mixing",
        data=change,
        caption="The magnitude of a column is the mean absolute value of its representation, "
        "relative to the mean column. The change is from before to after the mixing of a block.",
    )


def _show_columns(rows: pd.DataFrame) -> None:
    block = choose(
        "Block",
        "block",
        {number: str(number) for number in sorted(set(rows["block"].astype(int)))},
        help="Blocks of the encoder, from input to output.",
    )
    shown = rows[rows["block"] == block]
    for place, (architecture, name) in zip(st.columns(2), _ARCHITECTURES.items(), strict=True):
        columns = shown[shown["architecture"] == architecture]
        if columns.empty:
            continue
        averaged = columns.groupby("column", sort=False, as_index=False)[["before", "after"]].mean()
        with place:
            show_figure(
                figures.mixing_columns_figure(averaged),
                question=f"What does {name} do to each column?",
                key=f"paper-mixing-{architecture}",
                data=averaged,
            )
