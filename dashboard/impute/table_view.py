"""The imputed table with its marked cells, and beside it the details of one cell."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import streamlit as st

from dashboard.figures.imputation import cell_data, cell_figure
from dashboard.impute import cells
from dashboard.impute.choose import SECTION
from dashboard.impute.completed_tables import CompletedTable, column_remarks
from dashboard.state import memory
from dashboard.text import code, plain
from dashboard.widgets import errors_as_notices, fragment, show_figure, shown_errors
from dashboard.widgets.pages import page_slice
from pmae_core.explain import CellDetails
from pmae_core.explain.donors import Support
from pmae_core.words import count


@fragment
def show_table(completed: CompletedTable) -> None:
    """Draw the table at the left, the details of the chosen cell at the right."""
    table_place, cell_place = st.columns([3, 2], gap="medium")
    with cell_place:
        row, column = _choose_cell(completed)
    with table_place:
        _show_rows(completed, column)
    with cell_place, shown_errors():
        _show_cell(completed, row, column)


# The rows


def _show_rows(completed: CompletedTable, column: str) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        only_imputed = memory.remembered(
            st.toggle,
            "Only rows with imputed cells",
            section=SECTION,
            name="only_imputed",
            default=True,
            help="Leaves out the rows in which nothing was imputed.",
        )
        rows = cells.rows_to_show(completed, only_imputed=only_imputed)
        page = _choose_page(cells.n_pages(rows))
    shown = rows[page_slice(page, len(rows), cells.ROWS_PER_PAGE)]
    columns = cells.columns_to_show(completed, column)
    key = f"{SECTION}:table:{completed.record.id}:{page}:{only_imputed}"
    st.dataframe(
        cells.marked(completed, shown, columns),
        width="stretch",
        height=cells.height_of(shown),
        key=key,
        on_select=functools.partial(errors_as_notices(_take_cell), key, shown),
        selection_mode="single-cell",
        alt="The imputed table; imputed cells are green and bold",
    )
    st.caption(_legend(completed, rows, shown, columns, only_imputed=only_imputed))


def _choose_page(n_pages: int) -> int:
    if n_pages == 1:
        return 1
    page = memory.remembered(
        st.number_input,
        f"Page, 1 to {n_pages:,}",
        section=SECTION,
        name="page",
        default=1,
        min_value=1,
        max_value=n_pages,
        step=1,
        help=f"{cells.ROWS_PER_PAGE} rows per page.",
        width=160,
    )
    return int(page)


def _take_cell(key: str, shown: cells.Positions) -> None:
    """Show the details of the cell that was clicked."""
    clicked = st.session_state[key]["selection"]["cells"]
    if clicked:
        place, column = clicked[0]
        memory.remember(SECTION, row=int(shown[place]), column=str(column))


def _legend(
    completed: CompletedTable,
    rows: cells.Positions,
    shown: cells.Positions,
    columns: list[str],
    *,
    only_imputed: bool,
) -> str:
    words = ["**Green and bold** cells are imputed, orange ones are still missing."]
    if len(shown) < len(rows):
        kind = "rows with imputed cells" if only_imputed else "rows"
        words.append(f"{count(len(shown))} of {count(len(rows))} {kind}.")
    if len(columns) < completed.imputed_frame.shape[1]:
        words.append(
            f"{len(columns)} of {count(completed.imputed_frame.shape[1])} columns, those with the "
            "most imputed cells. Choose any other under **Column**."
        )
    return " ".join([*words, "Select a cell to see its details."])


# One cell


def _choose_cell(completed: CompletedTable) -> tuple[int, str]:
    first_row, first_column = cells.first_imputed(completed)
    row_place, column_place = st.columns([2, 3], gap="small")
    with row_place:
        row = memory.remembered(
            st.number_input,
            "Row",
            section=SECTION,
            name="row",
            default=first_row,
            min_value=0,
            max_value=len(completed.imputed_frame) - 1,
            step=1,
            help="Its number in the table; the first row is 0.",
        )
    with column_place:
        column = memory.remembered(
            st.selectbox,
            "Column",
            section=SECTION,
            name="column",
            default=first_column,
            options=[str(name) for name in completed.imputed_frame.columns],
        )
    return int(row), str(column)


def _show_cell(completed: CompletedTable, row: int, column: str) -> None:
    details = cells.details(completed, row, column)
    values, *others = details.sentences
    st.markdown(f"**{plain(values)}**")
    data = cell_data(details)
    if len(data):
        show_figure(
            cell_figure(data, column),
            question="Which values are plausible?",
            key="impute-cell",
            data=data,
            caption=_cell_caption(completed, is_spread=details.spread is not None),
        )
    _show_support(details.support, others)
    remark = column_remarks(completed).get(column)
    if remark and not details.observed:
        st.warning(f"{code(column)}: {plain(remark)}", icon=":material/warning:")
    if len(details.donors):
        _show_donors(details)


def _show_support(support: Support, sentences: Sequence[str]) -> None:
    """Draw what else is known about a cell; a warning if that is little."""
    is_good = support.level == "good"
    st.caption(" ".join(plain(one) for one in sentences if is_good or one != support.sentence))
    if not is_good:
        st.warning(plain(support.sentence), icon=":material/warning:")


def _show_donors(details: CellDetails) -> None:
    with st.expander("Most similar rows", icon=":material/groups:"):
        st.dataframe(
            cells.donor_table(details),
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:donors",
            alt="The rows most similar to this one",
            column_config={
                "Distance": st.column_config.NumberColumn(
                    format="%.3f",
                    help="0 if all observed cells are the same, 1 if they are as far apart as "
                    "possible.",
                )
            },
        )


def _cell_caption(completed: CompletedTable, *, is_spread: bool) -> str:
    words = ["Green: imputed values. Blue: similar rows."]
    if is_spread:
        words = ["Green: imputed values, bars for 90% and 50% of imputations. Blue: similar rows."]
    elif not completed.n_imputations:
        words.append("Make several imputations to see their spread.")
    return " ".join(words)
