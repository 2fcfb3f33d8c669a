"""The section "Together": which columns are missing in the same rows."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.missingness import controls, lines, together
from dashboard.missingness.facts import MissingnessFacts, tree_of
from dashboard.state.table_state import OpenTable
from dashboard.widgets import choose_page, fragment, show_figure
from pmae_core.missingness import correlate_blocks, correlate_nullity
from pmae_core.plots import missingness as figures

CORRELATION, TREE, PAIRS = "Correlations", "Tree", "All pairs"
BLOCKS_PER_PAGE = 15
LEAVES_PER_PAGE = 25


@fragment
def show_together(table: OpenTable, facts: MissingnessFacts) -> None:
    """Draw correlations of missingness, a tree of columns, or list all pairs."""
    settings, answer = controls.beside()
    with settings:
        view = controls.choose_one("Show", "together_view", [CORRELATION, TREE, PAIRS])
    {CORRELATION: _show_correlation, TREE: _show_tree, PAIRS: _show_pairs}[view](
        table, facts, settings, answer
    )


def _show_correlation(
    table: OpenTable,
    facts: MissingnessFacts,
    settings: DeltaGenerator,
    answer: DeltaGenerator,
) -> None:
    with settings:
        chosen = together.strongest_first(
            facts.patterns, lines.partly_missing(controls.choose_lines(facts))
        )
        page = choose_page(controls.SECTION, "together", len(chosen), BLOCKS_PER_PAGE, "lines")
    with answer:
        if len(chosen) < 2:
            _say_too_few()
            return
        # One line alone has no pair: the last page then begins with the one before it.
        shown = chosen[page] if page.stop - page.start > 1 else chosen[-2:]
        correlation = correlate_blocks(facts.patterns, shown)
        st.markdown(together.pairs_in_words(correlation, shown))
        show_figure(
            figures.correlation_figure(correlation, shown),
            question="Which columns are missing together?",
            key="missingness-correlation",
            data=lambda: correlate_nullity(facts.patterns).rename_axis("column").reset_index(),
            caption="Correlation of being missing; of two groups, the mean over their columns. "
            "Columns that are complete or without values have none.",
        )


def _say_too_few() -> None:
    st.info(
        "Correlations need two columns, or groups of columns, with observed and missing values. "
        "Clear **Find columns**, or look at **Where** and **Clues**.",
        icon=":material/info:",
    )


def _show_tree(
    table: OpenTable,
    facts: MissingnessFacts,
    settings: DeltaGenerator,
    answer: DeltaGenerator,
) -> None:
    tree = tree_of(table.digest, facts)
    if len(tree.groups) < 2:
        answer.info("All columns are missing in the same rows: there is no tree to draw.")
        return
    with settings:
        window = choose_page(controls.SECTION, "tree", len(tree.groups), LEAVES_PER_PAGE, "lines")
    with answer:
        show_figure(
            figures.dendrogram_figure(tree, range(window.start, window.stop)),
            question="Which columns are missing in similar rows?",
            key="missingness-tree",
            data=tree.joins,
            caption="The further left two branches meet, the fewer rows miss one and not the "
            "other. The color of a point is the share of its columns that is missing.",
        )


def _show_pairs(
    table: OpenTable,
    facts: MissingnessFacts,
    settings: DeltaGenerator,
    answer: DeltaGenerator,
) -> None:
    with settings:
        search = controls.search_columns()
    pairs = together.all_pairs(facts, search)
    with answer:
        st.subheader("Which pairs are missing together?", anchor=False)
        st.markdown("\n".join(together.never_together_sentences(facts)))
        st.dataframe(
            pairs,
            hide_index=True,
            height=420,
            column_config={
                "Correlation": st.column_config.NumberColumn(format="%.2f"),
                "Rows missing both": st.column_config.NumberColumn(format="localized"),
                "Rows missing one": st.column_config.NumberColumn(format="localized"),
            },
        )
        st.caption(
            "Every pair of groups, the strongest correlation first. A group is a column, or "
            "columns that are missing in the same rows, exactly or nearly."
        )
