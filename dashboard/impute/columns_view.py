"""The columns of an imputed table: which to trust, how they are distributed, what imputed them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.figures.blend import columns_to_draw, member_shares_figure, shares_by_column
from dashboard.impute import cells, confusion, summary
from dashboard.impute.choose import SECTION
from dashboard.impute.completed_tables import (
    CompletedTable,
    column_remarks,
    comparison_of,
    method_of,
    title_of,
)
from dashboard.state import memory
from dashboard.text import code, plain
from dashboard.widgets import fragment, show_figure
from dashboard.widgets.links import page_link
from pmae_core.colors import IMPUTED
from pmae_core.plots.missingness import distribution_figure
from pmae_core.table.roles import LABEL_ROLES
from pmae_core.words import count

# A list of so many columns is shown whole, a longer one scrolls at this height, in pixels.
MOST_IN_SIGHT = 7
HEIGHT_OF_MANY = 300


# Columns to trust


@fragment
def show_columns(completed: CompletedTable) -> None:
    """Draw the incomplete columns, those to read with care first."""
    comparison = comparison_of(completed.record)
    names = [name for name, column in completed.frame.items() if column.isna().any()]
    notes = column_remarks(completed)
    st.subheader("Which imputed columns can you trust?", anchor=False)
    if notes:
        needed = count(len(notes), "column needs", "columns need")
        st.markdown(f"{needed} care, of {count(len(names), 'column')} with missing values.")
    elif comparison:
        columns = count(len(names), "column")
        st.markdown(f"No problem found in the {columns} with missing values.")
    if comparison is None:
        _suggest_comparison()
    st.dataframe(
        summary.column_table(completed, names, notes, is_judged=comparison is not None),
        hide_index=True,
        width="stretch",
        height="content" if len(names) <= MOST_IN_SIGHT else HEIGHT_OF_MANY,
        key=f"{SECTION}:columns",
        alt="The columns with missing values, and which of them to read with care",
        column_config={
            "Column": st.column_config.TextColumn(pinned=True),
            "Imputed": st.column_config.NumberColumn(format="localized", width="small"),
            "Share of rows": st.column_config.ProgressColumn(
                format="%.1f%%", min_value=0, max_value=100, color=IMPUTED, width=150
            ),
            "Note": st.column_config.TextColumn(width="large"),
        },
    )


def _suggest_comparison() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("No method is scored on held-out cells of this table yet.", width="content")
        page_link("compare.py", "Compare methods", ":material/leaderboard:")


# Distribution


@fragment
def show_distribution(completed: CompletedTable) -> None:
    """Draw a column's observed beside its imputed values; for categories, held-out cells too."""
    column = memory.remembered(
        st.selectbox,
        "Column to inspect",
        section=SECTION,
        name="looked_at",
        default=completed.imputed_columns[0],
        options=completed.imputed_columns,
        help="The columns with imputed cells.",
        width=320,
    )
    if completed.schema.role(column) not in LABEL_ROLES:
        _show_values(completed, column)
        return
    values_place, confusion_place = st.columns(2, gap="medium")
    with values_place:
        _show_values(completed, column)
    with confusion_place:
        _show_confusion(completed, column)


def _show_values(completed: CompletedTable, column: str) -> None:
    compared = cells.observed_and_imputed(completed, column)
    show_figure(
        distribution_figure(compared, column=column, other=column, second=("imputed", IMPUTED)),
        question="Do imputed values look like observed ones?",
        key="impute-distribution",
        data=lambda: pd.DataFrame(
            {
                "value": compared.labels,
                "share of observed": compared.share_observed,
                "share of imputed": compared.share_missing,
            }
        ),
        caption="They may differ, because rows with missing values may differ. Best guesses vary "
        "less than real values."
        + (" The first and last bar include all values beyond." if compared.clipped else ""),
    )


def _show_confusion(completed: CompletedTable, column: str) -> None:
    st.subheader("Which categories are confused?", anchor=False)
    comparison = comparison_of(completed.record)
    if comparison is None:
        _suggest_comparison()
        return
    method = method_of(completed.record)
    found = confusion.confusion_of(comparison, method, column)
    if found is None:
        st.markdown(f"The comparison held out no cells of {code(column)}.")
        return
    st.markdown(plain(found.sentence(title_of(found.method))))
    st.dataframe(
        confusion.marked(found),
        width="stretch",
        key=f"{SECTION}:confusion",
        alt="Held-out cells by true and imputed category",
    )
    unlike = "" if found.method == method else " This imputation's own method was not compared."
    st.caption(
        "Rows are true categories, columns imputed ones, over all seeds of the newest comparison."
        + unlike
    )


# Members


def show_members(completed: CompletedTable) -> None:
    """Draw how much each member of a blend counts in each column."""
    shares = shares_by_column(summary.member_shares(completed.record))
    whole = shares[shares.index.isin(completed.imputed_columns)]
    drawn = columns_to_draw(whole, completed.frame.isna().sum())
    show_figure(
        member_shares_figure(drawn),
        question="Which member counts in each column?",
        key="impute-members",
        data=whole.rename_axis("column").reset_index(),
        caption=_members_caption(len(drawn), len(whole)),
    )


def _members_caption(n_drawn: int, n_columns: int) -> str:
    words = [
        "One bar per column: the longer a part, the more that member counts in the imputed values. "
        "The shares are learned on held-out cells."
    ]
    if n_drawn < n_columns:
        words.append(
            f"The figure shows the {n_drawn} of {count(n_columns, 'column')} with the most missing "
            "cells; its data has all."
        )
    return " ".join(words)
