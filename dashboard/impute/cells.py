"""The cells of an imputed table: its rows page by page, its columns, and one cell in detail."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.impute.completed_tables import CompletedTable, by_method, result_folder
from dashboard.widgets import pages
from pmae_core.colors import IMPUTED, MISSING, tint
from pmae_core.errors import DamagedFileError
from pmae_core.explain import CellDetails, Neighborhood, cell_details
from pmae_core.jobs.worker.results import IMPUTED_FILE, read_frame
from pmae_core.missingness import ValueDistribution, compare_imputed
from pmae_core.words import exact_text

ROWS_PER_PAGE = 50
MOST_COLUMNS = 100
ROW_HEIGHT, HIGHEST = 35, 562  # pixels; the first is Streamlit's own
# Among so many rows donors are looked for; ranks of a million rows take long.
DONOR_ROWS = 20_000
MOST_IN_FULL = 1e6  # numbers from here on are written as they are

IMPUTED_STYLE = f"background-color: {tint(IMPUTED, 0.35)}; font-weight: bold"
MISSING_STYLE = f"background-color: {tint(MISSING, 0.35)}"

Positions = npt.NDArray[np.int64]


# The table, page by page


def rows_to_show(completed: CompletedTable, *, only_imputed: bool) -> Positions:
    """Return the positions of the rows to page through."""
    if not only_imputed:
        return np.arange(len(completed.imputed_frame))
    return _imputed_rows(completed.key, completed)


@st.cache_resource(max_entries=4, show_spinner=False)
def _imputed_rows(key: tuple[Any, ...], _completed: CompletedTable) -> Positions:
    return np.flatnonzero(_completed.was_imputed.to_numpy().any(axis=1))


def first_imputed(completed: CompletedTable) -> tuple[int, str]:
    """Return the row and the column of the first imputed cell, from the top."""
    row = int(rows_to_show(completed, only_imputed=True)[0])
    column = completed.was_imputed.columns[int(completed.was_imputed.iloc[row].to_numpy().argmax())]
    return row, str(column)


def n_pages(rows: Positions) -> int:
    """Return how many pages there are, at least one."""
    return pages.n_pages(len(rows), ROWS_PER_PAGE)


def height_of(rows: Positions) -> int:
    """Return how high the table is drawn, in pixels."""
    return min(ROW_HEIGHT * (len(rows) + 1) + 2, HIGHEST)


def columns_to_show(completed: CompletedTable, also: str) -> list[str]:
    """Return the columns of the view: those with the most imputed cells first, of many only these.

    Parameters
    ----------
    completed : CompletedTable
        The imputed table.
    also : str
        A column that is always among them.
    """
    ordered = completed.n_imputed.sort_values(ascending=False, kind="stable").index
    names = [str(name) for name in ordered]
    chosen = names if len(names) <= MOST_COLUMNS else {also, *names[: MOST_COLUMNS - 1]}
    return [name for name in names if name in chosen]


def marked(completed: CompletedTable, rows: Positions, columns: list[str]) -> Any:
    """Return some cells as a pandas Styler: imputed ones green and bold, missing ones orange.

    Only a page of rows goes in: a Styler is slow, and ends at a quarter of a million cells.
    """
    part = completed.imputed_frame.iloc[rows][columns]  # rows first: there are few of them
    was_imputed = completed.was_imputed.iloc[rows][columns].to_numpy()
    still_missing = part.isna().to_numpy()
    missing_styles = np.where(still_missing, MISSING_STYLE, "")
    styles = np.where(was_imputed, IMPUTED_STYLE, missing_styles)
    table = pd.DataFrame(styles, index=part.index, columns=part.columns)
    return part.style.format(_shown, na_rep="").apply(lambda _: table, axis=None)


def _shown(cell: Any) -> str:
    if not isinstance(cell, float | np.floating):
        return exact_text(cell)
    return exact_text(cell) if abs(cell) >= MOST_IN_FULL else f"{cell:.6g}"


# A column


def observed_and_imputed(completed: CompletedTable, column: str) -> ValueDistribution:
    """Count the values of a column apart for observed and for imputed cells."""
    return _distribution(completed.key, column, completed)


@st.cache_resource(max_entries=32, show_spinner=False)
def _distribution(
    key: tuple[Any, ...], column: str, _completed: CompletedTable
) -> ValueDistribution:
    return compare_imputed(
        _completed.frame[column], _completed.imputed_frame[column], schema=_completed.schema
    )


# One cell


def details(completed: CompletedTable, row: int, column: str) -> CellDetails:
    """Return what is known about a cell, with the value of each method that imputed the table."""
    others = tuple((name, one.id, one.finished_at) for name, one in by_method(completed).items())
    return _details(completed.key, others, row, column, completed)


@st.cache_resource(max_entries=32, show_spinner="Finding similar rows …")
def _details(
    key: tuple[Any, ...],
    others: tuple[tuple[str, str, float], ...],
    row: int,
    column: str,
    _completed: CompletedTable,
) -> CellDetails:
    completed_tables = {}
    for name, job_id, _ in others:
        record = runs.record(job_id)
        if record is None:
            continue
        # Where another run is damaged, its own page says so.
        with contextlib.suppress(DamagedFileError):
            completed_tables[name] = read_frame(result_folder(record) / IMPUTED_FILE, [column])
    return cell_details(
        _completed.frame[[column]],
        row,
        column,
        completed_tables,
        _completed.imputations([column]),
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


def donor_table(found: CellDetails) -> pd.DataFrame:
    """Return the similar rows for a reader."""
    return pd.DataFrame(
        {
            "Row": found.donors["row"].to_numpy(),
            "Value": [exact_text(value) for value in found.donors["value"]],
            "Distance": found.donors["distance"].to_numpy(),
            "Alike in": [", ".join(map(str, names)) for names in found.donors["agree"]],
            "Different in": [", ".join(map(str, names)) for names in found.donors["differ"]],
        }
    )
