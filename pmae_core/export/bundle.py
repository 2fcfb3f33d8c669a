"""Everything about an imputed table in one folder or one zip file."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pandas as pd

from pmae_core.errors import ImputationError, TableError
from pmae_core.evaluation import Comparison, write_comparison
from pmae_core.export.excel import IMPUTED_COLOR, write_imputed_excel
from pmae_core.export.methods_text import methods_paragraph
from pmae_core.export.recipe import Recipe
from pmae_core.export.script import command_line, reproduce_script
from pmae_core.imputers import imputer_info
from pmae_core.table import write_table
from pmae_core.words import count, listed

TableFormat = Literal["csv", "excel", "parquet"]
ENDINGS: Mapping[TableFormat, str] = {"csv": ".csv", "excel": ".xlsx", "parquet": ".parquet"}


def write_bundle(
    target: str | os.PathLike[str],
    recipe: Recipe,
    frame: pd.DataFrame,
    imputed: pd.DataFrame,
    *,
    imputations: Sequence[pd.DataFrame] = (),
    comparison: Comparison | None = None,
    model: str | os.PathLike[str] | None = None,
    formats: Sequence[TableFormat] = ("csv", "excel", "parquet"),
    escape_csv: bool = True,
    color: str = IMPUTED_COLOR,
    with_table: bool = False,
) -> list[str]:
    """Write everything together: tables, script, command, text for a paper, settings, model.

    Parameters
    ----------
    target : path
        A folder, created if it does not exist; or a file that ends with ``.zip``.
    recipe : Recipe
        How the table was imputed.
    frame, imputed : DataFrame
        The table before and after; cells that the recipe leaves alone are still missing.
    imputations : sequence of DataFrame
        Several imputations; written as Parquet.
    comparison : Comparison, optional
        Of methods on this table. Its result goes into the paragraph, its report into a folder.
    model : path, optional
        File of the trained model; a copy is put into the bundle.
    formats : sequence of {"csv", "excel", "parquet"}
        Of the imputed table, and of the table that is True where a cell was imputed.
    escape_csv : bool, default True
        Escape texts in the CSV file that a spreadsheet would run as a formula; see
        :func:`~pmae_core.export.escape_formulas`.
    color : str
        Of the imputed cells in Excel.
    with_table : bool, default False
        Also write the table with its missing values, as the file that the recipe names. Then
        script and command run where the bundle is unpacked. Sentinels are already missing there.

    Returns
    -------
    list of str
        Names of the files, relative to the folder or inside the zip file.
    """
    unknown = [name for name in formats if name not in ENDINGS]
    if unknown or not formats:
        raise TableError(f"Choose formats from {listed(ENDINGS)}, not {list(formats)}.")
    m = len(imputations)
    if m != recipe.n_imputations:
        raise ImputationError(
            f"The recipe has {count(recipe.n_imputations, 'imputation')}, but {m} were given."
        )
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _write_tables(folder, recipe, frame, imputed, formats, escape_csv, color)
        for number, table in enumerate(imputations, start=1):
            write_table(table, folder / f"imputation-{number}-of-{m}.parquet")
        _write_words(folder, recipe, frame, imputed, comparison)
        _write_ways(folder, replace(recipe, sentinels=()) if with_table else recipe)
        if with_table:
            # The script reads it, no spreadsheet.
            write_table(frame, folder / recipe.table, escape_formulas=False)
        if comparison is not None:
            write_comparison(comparison, folder / "comparison")
        if model is not None:
            shutil.copyfile(model, folder / f"model{Path(model).suffix}")
        return _deliver(folder, Path(target))


def _write_tables(
    folder: Path,
    recipe: Recipe,
    frame: pd.DataFrame,
    imputed: pd.DataFrame,
    formats: Sequence[TableFormat],
    escape_csv: bool,
    color: str,
) -> None:
    was_imputed = frame.isna() & imputed.notna()
    about = {
        "Table": recipe.table,
        "Method": recipe.method,
        "Uncertainty": imputer_info(recipe.method).about_imputations,
        "Seed": str(recipe.seed),
    }
    writers: Mapping[TableFormat, Callable[[Path], None]] = {
        "csv": lambda path: write_table(imputed, path, escape_formulas=escape_csv),
        "excel": lambda path: write_imputed_excel(
            path, imputed, was_imputed, color=color, about=about
        ),
        "parquet": lambda path: write_table(imputed, path),
    }
    for name in formats:
        writers[name](folder / f"imputed{ENDINGS[name]}")
        if name != "excel":  # there the color marks imputed cells
            write_table(was_imputed, folder / f"was_imputed{ENDINGS[name]}")


def _write_words(
    folder: Path,
    recipe: Recipe,
    frame: pd.DataFrame,
    imputed: pd.DataFrame,
    comparison: Comparison | None,
) -> None:
    text = methods_paragraph(recipe, frame, imputed, comparison=comparison)
    contents = {
        "methods.txt": text.to_text(),
        "methods.md": text.to_markdown(),
        "settings.json": json.dumps(recipe.to_dict(), indent=1, ensure_ascii=False) + "\n",
    }
    _write_texts(folder, contents)


def _write_ways(folder: Path, recipe: Recipe) -> None:
    """Write script and command, the two ways to reproduce the table."""
    ways = {"reproduce.py": reproduce_script(recipe), "command.txt": _command_or_reason(recipe)}
    _write_texts(folder, ways)


def _write_texts(folder: Path, contents: Mapping[str, str]) -> None:
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8", errors="backslashreplace")


def _command_or_reason(recipe: Recipe) -> str:
    try:
        return command_line(recipe) + "\n"
    except ImputationError as error:
        return f"# {error}\n"


def _deliver(folder: Path, target: Path) -> list[str]:
    """Copy the files of a folder to the target, and return their names."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in paths]
    try:
        if target.suffix.lower() != ".zip":
            shutil.copytree(folder, target, dirs_exist_ok=True)
            return names
        unfinished = target.with_name(f".{target.name}.unfinished")
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, name in zip(paths, names, strict=True):
                archive.write(path, name)
        unfinished.replace(target)
    except OSError as error:
        raise TableError(f"'{target}' cannot be written: {error.strerror or error}.") from error
    return names
