"""Files of an imputed table to export: made once, and kept beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.impute.completed_tables import CompletedTable, comparison_key, comparison_of
from dashboard.text import file_stem
from pmae_core.colors import IMPUTED
from pmae_core.errors import TableError
from pmae_core.evaluation import Comparison
from pmae_core.export import (
    IMPUTATION_ENDINGS,
    ImputationFormat,
    ImputationReading,
    MethodsText,
    Recipe,
    check_excel_size,
    imputation_reading,
    methods_paragraph,
    write_bundle,
    write_imputations,
    write_imputed_excel,
)
from pmae_core.imputers import list_imputers
from pmae_core.jobs.worker.recipes import TABLE_FILE, recipe_of
from pmae_core.storage.checksums import checked
from pmae_core.table import write_table

# A workbook of more cells takes minutes to write, and as long to open.
MOST_EXCEL_CELLS = 5_000_000
_FOLDER = "export"


def recipe(completed: CompletedTable) -> Recipe:
    """Return how the table was imputed."""
    return _recipe(completed.key, completed)


@st.cache_resource(max_entries=8, show_spinner="Preparing the export …")
def _recipe(key: tuple[Any, ...], _completed: CompletedTable) -> Recipe:
    spec = _completed.record.spec
    sentinels = runs.origin(spec.table or "").sentinels
    return recipe_of(spec, _completed.record.result or {}, _completed.frame, sentinels=sentinels)


def methods_text(completed: CompletedTable) -> MethodsText:
    """Return the paragraph for a paper."""
    return _methods_text(completed.key, comparison_key(completed.record), completed)


# The comparison's tests per column take longer than all else on the page.
@st.cache_resource(max_entries=8, show_spinner=False)
def _methods_text(
    key: tuple[Any, ...], comparison_key: tuple[Any, ...] | None, _completed: CompletedTable
) -> MethodsText:
    return methods_paragraph(
        recipe(_completed),
        _completed.frame,
        _completed.imputed_frame,
        comparison=comparison_of(_completed.record),
    )


def stem_of(completed: CompletedTable) -> str:
    """Return the beginning of the names of downloaded files, from the name of the table."""
    name = Path(runs.origin(completed.record.spec.table or "").name).stem
    return file_stem(name, "table")


def excel_objection(completed: CompletedTable) -> str | None:
    """Say why there is no Excel file of a table; None where there is one."""
    try:
        check_excel_size(completed.imputed_frame)
    except TableError as error:
        return str(error)
    n_cells = completed.imputed_frame.size
    if n_cells > MOST_EXCEL_CELLS:
        return (
            f"A workbook of {n_cells:,} cells takes many minutes to write and to "
            "open. Use Parquet or CSV."
        )
    return None


def imputations_name(completed: CompletedTable, format: ImputationFormat) -> str:
    """Return the name of the downloaded file with all imputations."""
    return f"{stem_of(completed)}-imputations{IMPUTATION_ENDINGS[format]}"


def imputations_reading(completed: CompletedTable, format: ImputationFormat) -> ImputationReading:
    """Return the code that reads the imputations in the program they are for."""
    return _reading(completed.key, format, completed)


@st.cache_resource(max_entries=16, show_spinner=False)
def _reading(
    key: tuple[Any, ...], format: ImputationFormat, _completed: CompletedTable
) -> ImputationReading:
    return imputation_reading(
        _completed.frame,
        _completed.n_imputed.index[_completed.n_imputed > 0],
        imputations_name(_completed, format),
        format=format,
        schema=_completed.schema,
    )


# Files, written when first asked for. That happens outside of any page: the session of a browser
# is not at hand there, and all that is needed comes with the arguments.


def csv_file(completed: CompletedTable, *, escaped: bool) -> bytes:
    """Return the imputed table as CSV; no spreadsheet reads `escaped` texts as formulas."""

    def write(path: Path) -> None:
        write_table(completed.imputed_frame, path, escape_formulas=escaped)

    return _kept(completed, "imputed-table-escaped.csv" if escaped else "imputed-table.csv", write)


def excel_file(completed: CompletedTable, how: Recipe) -> bytes:
    """Return the imputed table as a workbook with colored cells."""
    about = {"Method": how.method, "Seed": str(how.seed)}

    def write(path: Path) -> None:
        write_imputed_excel(
            path, completed.imputed_frame, completed.was_imputed, color=IMPUTED, about=about
        )

    return _kept(completed, "imputed-table.xlsx", write)


def parquet_file(completed: CompletedTable) -> bytes:
    """Return the imputed table as Parquet."""
    return _kept(
        completed,
        "imputed-table.parquet",
        lambda path: write_table(completed.imputed_frame, path),
    )


def mask_file(completed: CompletedTable, ending: str) -> bytes:
    """Return the table that is True where a cell was imputed, as ``csv`` or ``parquet``."""
    name = f"was_imputed.{ending}"
    return _kept(completed, name, lambda path: write_table(completed.was_imputed, path))


def incomplete_file(completed: CompletedTable) -> bytes:
    """Return the table with its missing values, as the script reads it."""
    return _kept(completed, TABLE_FILE, lambda path: write_table(completed.frame, path))


def imputations_file(completed: CompletedTable, how: Recipe, format: ImputationFormat) -> bytes:
    """Return all imputations as one file for R, Stata or Python."""
    infos = {info.name: info for info in list_imputers()}

    def write(path: Path) -> None:
        write_imputations(
            path,
            completed.frame,
            _Imputations(completed),
            format=format,
            schema=completed.schema,
            recipe=how,
            is_proper=infos[how.method].is_proper,
        )

    return _kept(completed, f"imputations{IMPUTATION_ENDINGS[format]}", write)


def everything(
    completed: CompletedTable, how: Recipe, comparison: Comparison | None, *, escaped: bool
) -> bytes:
    """Return all of it in one zip file."""
    known = "" if comparison is None else comparison.to_json()
    version = hashlib.sha256(f"{escaped}{known}".encode()).hexdigest()[:12]

    def write(path: Path) -> None:
        write_bundle(
            path,
            how,
            completed.frame,
            completed.imputed_frame,
            imputations=_Imputations(completed),
            comparison=comparison,
            model=completed.model_file and checked(completed.model_file),
            formats=("csv", "parquet")
            if excel_objection(completed)
            else ("csv", "excel", "parquet"),
            escape_csv=escaped,
            color=IMPUTED,
            with_table=True,
        )

    return _kept(completed, f"everything-{version}.zip", write)


@dataclass(frozen=True)
class _Imputations(Sequence[pd.DataFrame]):
    """Imputations that are read one at a time: together they may not fit into memory."""

    completed: CompletedTable

    def __len__(self) -> int:
        return self.completed.n_imputations

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self.completed.imputation(number)


def _kept(completed: CompletedTable, name: str, write: Callable[[Path], None]) -> bytes:
    """Return a file of the run's folder; it is written, all or nothing, if it is not there."""
    folder = completed.record.folder / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / name).exists():
        write(folder / name)
    return (folder / name).read_bytes()
