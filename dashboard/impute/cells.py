"""One cell of a filling, its column and the rows around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.impute.completed_tables import CompletedTable, by_method, result_folder
from dashboard.shell.theme import IMPUTED, MISSING, tint
from dashboard.text import exact_text
from pmae_core.explain import CellDetails, Neighborhood, cell_details
from pmae_core.jobs.worker.results import IMPUTED_FILE, read_frame
from pmae_core.missingness import ValueDistribution, compare_distributions

ROWS_A_PAGE = 50
MOST_COLUMNS = 50
ROW_HEIGHT, HIGHEST = 35, 422  # pixels; the first is Streamlit's own
# Among so many rows donors are looked for; ranks of a million rows take long.
DONOR_ROWS = 20_000
MOST_IN_FULL = 1e6  # numbers from here on are written as they are

FILLED_STYLE = f"background-color: {tint(IMPUTED, 0.35)}; font-weight: bold"
EMPTY_STYLE = f"background-color: {tint(MISSING, 0.35)}"

Positions = npt.NDArray[np.int64]


# The table, page by page


def rows_to_show(completed: CompletedTable, *, only_filled: bool) -> Positions:
    """Return the positions of the rows to page through."""
    if not only_filled:
        return np.arange(len(completed.filled))
    return _filled_rows(completed.key, completed)


@st.cache_resource(max_entries=4, show_spinner=False)
def _filled_rows(key: tuple[Any, ...], _completed: CompletedTable) -> Positions:
    return np.flatnonzero(_completed.imputed.to_numpy().any(axis=1))


def first_filled(completed: CompletedTable) -> tuple[int, str]:
    """Return the row and the column of the first filled cell, from the top."""
    row = int(rows_to_show(completed, only_filled=True)[0])
    column = completed.imputed.columns[int(completed.imputed.iloc[row].to_numpy().argmax())]
    return row, str(column)


def n_pages(rows: Positions) -> int:
    """Return how many pages there are, at least one."""
    return max(1, -(-len(rows) // ROWS_A_PAGE))


def height_of(rows: Positions) -> int:
    """Return how high the table is drawn, in pixels."""
    return min(ROW_HEIGHT * (len(rows) + 1) + 2, HIGHEST)


def columns_to_show(completed: CompletedTable, also: str) -> list[str]:
    """Return the columns of the view: all, or of many those with most filled cells."""
    names = [str(name) for name in completed.filled.columns]
    if len(names) <= MOST_COLUMNS:
        return names
    most = completed.n_filled.sort_values(ascending=False, kind="stable").index[: MOST_COLUMNS - 1]
    chosen = {also, *map(str, most)}
    return [name for name in names if name in chosen]


def marked(completed: CompletedTable, rows: Positions, columns: list[str]) -> Any:
    """Return some cells as a pandas Styler: filled ones green and bold, empty ones orange.

    Only a page of rows goes in: a Styler is slow, and ends at a quarter of a million cells.
    """
    part = completed.filled.iloc[rows][columns]  # rows first: there are few of them
    imputed = completed.imputed.iloc[rows][columns].to_numpy()
    empty = part.isna().to_numpy()
    styles = np.where(imputed, FILLED_STYLE, np.where(empty, EMPTY_STYLE, ""))
    table = pd.DataFrame(styles, index=part.index, columns=part.columns)
    return part.style.format(_shown, na_rep="").apply(lambda _: table, axis=None)


def _shown(cell: Any) -> str:
    if not isinstance(cell, float | np.floating) or abs(cell) >= MOST_IN_FULL:
        return exact_text(cell)
    return f"{cell:.6g}"


# A column


def observed_and_filled(completed: CompletedTable, column: str) -> ValueDistribution:
    """Count the values of a column apart for observed and for filled cells."""
    return _distribution(completed.key, column, completed)


@st.cache_resource(max_entries=32, show_spinner=False)
def _distribution(
    key: tuple[Any, ...], column: str, _completed: CompletedTable
) -> ValueDistribution:
    before = f"{column} before"
    both = pd.DataFrame({column: _completed.filled[column], before: _completed.frame[column]})
    schema = _completed.schema.only([column]).for_table(both)
    return compare_distributions(both, before, column, schema=schema)


# The biography


def biography(completed: CompletedTable, row: int, column: str) -> CellDetails:
    """Tell all that is known about a cell, with what each filling of the same table says."""
    others = tuple((name, one.id, one.finished_at) for name, one in by_method(completed).items())
    return _biography(completed.key, others, row, column, completed)


@st.cache_resource(max_entries=32, show_spinner="Looking for similar rows …")
def _biography(
    key: tuple[Any, ...],
    others: tuple[tuple[str, str, float], ...],
    row: int,
    column: str,
    _completed: CompletedTable,
) -> CellDetails:
    completed_tables = {}
    for name, job_id, _ in others:
        record = runs.record(job_id)
        if record is not None:
            completed_tables[name] = read_frame(result_folder(record) / IMPUTED_FILE, [column])
    return cell_details(
        _completed.frame[[column]],
        row,
        column,
        completed_tables,
        _completed.draws([column]),
        neighborhood=_neighborhood_of(_completed, row, column),
    )


def _neighborhood_of(completed: CompletedTable, row: int, column: str) -> Neighborhood:
    if len(completed.frame) <= DONOR_ROWS:
        return _neighborhood(completed.key, completed)
    donors = np.flatnonzero(completed.frame[column].notna().to_numpy())
    if len(donors) > DONOR_ROWS:
        donors = np.random.default_rng(0).choice(donors, DONOR_ROWS, replace=False)
    return Neighborhood(completed.frame, completed.schema, rows=np.append(donors, row))


@st.cache_resource(max_entries=4, show_spinner=False)
def _neighborhood(key: tuple[Any, ...], _completed: CompletedTable) -> Neighborhood:
    return Neighborhood(_completed.frame, _completed.schema)


def donor_table(told: CellDetails) -> pd.DataFrame:
    """Return the similar rows for a reader."""
    return pd.DataFrame(
        {
            "Row": told.donors["row"].to_numpy(),
            "Value": [exact_text(value) for value in told.donors["value"]],
            "Distance": told.donors["distance"].to_numpy(),
            "Alike in": [", ".join(map(str, names)) for names in told.donors["agree"]],
            "Different in": [", ".join(map(str, names)) for names in told.donors["differ"]],
        }
    )
