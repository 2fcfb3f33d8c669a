"""The sections "How much" and "Where": every column, grouped where they are missing together."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard.missingness import controls, lines
from dashboard.missingness.facts import MissingnessFacts, matrix_of
from dashboard.state.table_state import OpenTable
from dashboard.widgets import choose_page, fragment, show_figure
from pmae_core.missingness import MissingBlock, NullityMatrix
from pmae_core.plots import missingness as figures
from pmae_core.words import count

BARS_PER_PAGE = 15
LINES_PER_PAGE = 20
ROWS_AS_IN_TABLE, ROWS_BY_PATTERN = "As in the table", "Same missing cells together"


@fragment
def show_how_much(table: OpenTable, facts: MissingnessFacts) -> None:
    """Draw the observed share of every column, the worst first."""
    settings, answer = controls.beside()
    with settings:
        chosen = controls.choose_order(controls.choose_lines(facts), facts, table)
        shown = choose_page(controls.SECTION, "bars", len(chosen), BARS_PER_PAGE, "lines")
    with answer:
        if not chosen:
            controls.say_nothing_found()
            return
        show_figure(
            figures.columns_figure(chosen[shown]),
            question="How much of each column is observed?",
            key="missingness-columns",
            data=lambda: lines.lines_data(chosen, facts),
            caption=_grouping(chosen[shown]),
        )


def _grouping(shown: Sequence[MissingBlock]) -> str | None:
    if all(len(block.columns) == 1 for block in shown):
        return None
    return (
        "Columns that are missing in the same rows, exactly or nearly, share a bar. "
        "Expand a group to see each of its columns."
    )


@fragment
def show_where(table: OpenTable, facts: MissingnessFacts) -> None:
    """Draw where in the table cells are missing."""
    settings, answer = controls.beside()
    with settings:
        rows = controls.choose_one(
            "Rows", "row_order", [ROWS_AS_IN_TABLE, ROWS_BY_PATTERN], help=_ROWS_HELP
        )
        chosen = controls.choose_order(controls.choose_lines(facts), facts, table)
        shown = choose_page(controls.SECTION, "matrix", len(chosen), LINES_PER_PAGE, "lines")
    with answer:
        if not chosen:
            controls.say_nothing_found()
            return
        matrix = matrix_of(table.digest, "table" if rows == ROWS_AS_IN_TABLE else "pattern", facts)
        show_figure(
            figures.matrix_figure(matrix, chosen[shown]),
            question="Where in the table are values missing?",
            key="missingness-matrix",
            data=lambda: _matrix_data(matrix),
            caption=_how_to_read(matrix, facts.patterns.n_rows),
        )


_ROWS_HELP = "Together: rows that miss the same columns are side by side, most frequent first."


def _how_to_read(matrix: NullityMatrix, n_rows: int) -> str:
    if matrix.is_exact:
        return "A line is a column of the table, with its first row at the left."
    per_bin = count(round(n_rows / len(matrix.first_row)), "row")
    return (
        "A line is a column of the table, with its first row at the left. "
        f"Each step stands for about {per_bin}; between the colors, some of them are missing."
    )


def _matrix_data(matrix: NullityMatrix) -> pd.DataFrame:
    shares = pd.DataFrame(matrix.share_missing, columns=list(matrix.columns))
    shares.insert(0, "last_row", matrix.last_row, allow_duplicates=True)
    shares.insert(0, "first_row", matrix.first_row, allow_duplicates=True)
    return shares
