"""What users take away of a filling: files that are made once and kept beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import jobs
from dashboard.impute.fillings import Filling
from dashboard.text import file_stem
from dashboard.theme import IMPUTED
from pmae_core.errors import TableError
from pmae_core.evaluation import Comparison
from pmae_core.export import (
    IMPUTATION_ENDINGS,
    ImputationFormat,
    ImputationReading,
    MethodsText,
    Recipe,
    check_excel_size,
    escape_formulas,
    imputation_reading,
    methods_paragraph,
    write_bundle,
    write_imputations,
    write_imputed_excel,
)
from pmae_core.imputers import list_imputers
from pmae_core.jobs.worker.recipes import TABLE_FILE, recipe_of
from pmae_core.table import write_table

# A workbook of more cells takes minutes to write, and as long to open.
MOST_EXCEL_CELLS = 5_000_000
_FOLDER = "takeaway"


def recipe(filling: Filling) -> Recipe:
    """Return how the table was filled."""
    return _recipe(filling.key, filling)


@st.cache_resource(max_entries=8, show_spinner="Writing down how it was done …")
def _recipe(key: tuple[Any, ...], _filling: Filling) -> Recipe:
    spec = _filling.record.spec
    sentinels = jobs.origin(spec.table or "").sentinels
    return recipe_of(spec, _filling.record.result or {}, _filling.frame, sentinels=sentinels)


def methods_text(filling: Filling, how: Recipe, comparison: Comparison | None) -> MethodsText:
    """Return the paragraph for a paper."""
    return methods_paragraph(how, filling.frame, filling.filled, comparison=comparison)


def stem_of(filling: Filling) -> str:
    """Return the beginning of the names of downloaded files, from the name of the table."""
    name = Path(jobs.origin(filling.record.spec.table or "").name).stem
    return file_stem(name, "table")


def excel_objection(filling: Filling) -> str | None:
    """Say why there is no Excel file of a table; None where there is one."""
    try:
        check_excel_size(filling.filled)
    except TableError as error:
        return str(error)
    if filling.filled.size > MOST_EXCEL_CELLS:
        return (
            f"A workbook of {filling.filled.size:,} cells takes many minutes to write and to "
            "open. Take Parquet or CSV."
        )
    return None


def imputations_name(filling: Filling, format: ImputationFormat) -> str:
    """Return the name of the downloaded file with all imputations."""
    return f"{stem_of(filling)}-imputations{IMPUTATION_ENDINGS[format]}"


def imputations_reading(filling: Filling, format: ImputationFormat) -> ImputationReading:
    """Return the code that reads the imputations in the program they are for."""
    return _reading(filling.key, format, filling)


@st.cache_resource(max_entries=16, show_spinner=False)
def _reading(
    key: tuple[Any, ...], format: ImputationFormat, _filling: Filling
) -> ImputationReading:
    return imputation_reading(
        _filling.frame,
        _filling.n_filled.index[_filling.n_filled > 0],
        imputations_name(_filling, format),
        format=format,
        schema=_filling.schema,
    )


# Files, written when first asked for. That happens outside of any page: the session of a browser
# is not at hand there, and all that is needed comes with the arguments.


def csv_file(filling: Filling, *, escaped: bool) -> bytes:
    """Return the filled table as CSV; `escaped` texts are no formulas to a spreadsheet."""

    def write(path: Path) -> None:
        write_table(escape_formulas(filling.filled) if escaped else filling.filled, path)

    return _kept(filling, "filled-escaped.csv" if escaped else "filled.csv", write)


def excel_file(filling: Filling, how: Recipe) -> bytes:
    """Return the filled table as a workbook with colored cells."""
    about = {"Method": how.method, "Seed": str(how.seed)}

    def write(path: Path) -> None:
        write_imputed_excel(path, filling.filled, filling.imputed, color=IMPUTED, about=about)

    return _kept(filling, "filled.xlsx", write)


def parquet_file(filling: Filling) -> bytes:
    """Return the filled table as Parquet."""
    return _kept(filling, "filled.parquet", lambda path: write_table(filling.filled, path))


def mask_file(filling: Filling, ending: str) -> bytes:
    """Return the companion that is True where a cell was filled, as ``csv`` or ``parquet``."""
    name = f"imputed.{ending}"
    return _kept(filling, name, lambda path: write_table(filling.imputed, path))


def holes_file(filling: Filling) -> bytes:
    """Return the table with its holes, as the script reads it."""
    return _kept(filling, TABLE_FILE, lambda path: write_table(filling.frame, path))


def imputations_file(filling: Filling, how: Recipe, format: ImputationFormat) -> bytes:
    """Return all imputations as one file for R, Stata or Python."""
    infos = {info.name: info for info in list_imputers()}

    def write(path: Path) -> None:
        write_imputations(
            path,
            filling.frame,
            _Draws(filling),
            format=format,
            schema=filling.schema,
            recipe=how,
            is_proper=infos[how.method].is_proper,
        )

    return _kept(filling, f"imputations{IMPUTATION_ENDINGS[format]}", write)


def everything(
    filling: Filling, how: Recipe, comparison: Comparison | None, *, escaped: bool
) -> bytes:
    """Return all of it in one zip file."""
    known = "" if comparison is None else comparison.to_json()
    version = hashlib.sha256(f"{escaped}{known}".encode()).hexdigest()[:12]

    def write(path: Path) -> None:
        write_bundle(
            path,
            how,
            filling.frame,
            filling.filled,
            imputations=_Draws(filling),
            comparison=comparison,
            model=filling.model_file,
            formats=("csv", "parquet") if excel_objection(filling) else ("csv", "excel", "parquet"),
            escape_csv=escaped,
            color=IMPUTED,
            with_table=True,
        )

    return _kept(filling, f"everything-{version}.zip", write)


@dataclass(frozen=True)
class _Draws(Sequence[pd.DataFrame]):
    """The draws of a filling, each read when its turn comes: together they may be too large."""

    filling: Filling

    def __len__(self) -> int:
        return self.filling.n_draws

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self.filling.draw(number)


def _kept(filling: Filling, name: str, write: Callable[[Path], None]) -> bytes:
    """Return a file of the filling's folder; it is written, all or nothing, if it is not there."""
    folder = filling.record.folder / _FOLDER
    folder.mkdir(exist_ok=True)
    if not (folder / name).exists():
        write(folder / name)
    return (folder / name).read_bytes()
