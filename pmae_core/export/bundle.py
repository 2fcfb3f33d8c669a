"""All that users take away in one folder or one zip file."""

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
from pmae_core.export.formulas import escape_formulas
from pmae_core.export.methods_text import methods_paragraph
from pmae_core.export.recipe import Recipe
from pmae_core.export.script import command_line, reproduce_script
from pmae_core.table import write_table

TableFormat = Literal["csv", "excel", "parquet"]
ENDINGS: Mapping[TableFormat, str] = {"csv": ".csv", "excel": ".xlsx", "parquet": ".parquet"}


def write_bundle(
    target: str | os.PathLike[str],
    recipe: Recipe,
    frame: pd.DataFrame,
    filled: pd.DataFrame,
    *,
    draws: Sequence[pd.DataFrame] = (),
    comparison: Comparison | None = None,
    model: str | os.PathLike[str] | None = None,
    formats: Sequence[TableFormat] = ("csv", "excel", "parquet"),
    escape_csv: bool = False,
    color: str = IMPUTED_COLOR,
    with_table: bool = False,
) -> list[str]:
    """Write everything together: tables, script, command, words for a paper, settings, model.

    Parameters
    ----------
    target : path
        A folder, which is made if it is not there; or a file that ends with ``.zip``.
    recipe : Recipe
        How the table was filled.
    frame, filled : DataFrame
        The table before and after; with the holes that the recipe leaves alone still empty.
    draws : sequence of DataFrame
        Several plausible fillings; written as Parquet.
    comparison : Comparison, optional
        Of methods on this table: its result goes into the paragraph, and its report beside it.
    model : path, optional
        File of the trained model; a copy is put into the bundle.
    formats : sequence of {"csv", "excel", "parquet"}
        Of the filled table and of its companion, which is True where a cell was filled.
    escape_csv : bool, default False
        Escape texts in the CSV file that a spreadsheet would run as a formula; see
        :func:`~pmae_core.export.escape_formulas`.
    color : str
        Of the filled cells in Excel.
    with_table : bool, default False
        Write the table with its holes too, as the file that the recipe names: then script and
        command run where the bundle is unpacked. Its sentinels are missing cells already.

    Returns
    -------
    list of str
        Names of the files, relative to the folder or inside the zip file.
    """
    unknown = [name for name in formats if name not in ENDINGS]
    if unknown or not formats:
        raise TableError(f"Choose formats among {', '.join(ENDINGS)}, not {list(formats)}.")
    if len(draws) != recipe.draws:
        raise ImputationError(f"The recipe has {recipe.draws} draws, but {len(draws)} are given.")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _write_tables(folder, recipe, frame, filled, formats, escape_csv, color)
        for number, draw in enumerate(draws, start=1):
            write_table(draw, folder / f"filled-draw{number}.parquet")
        _write_words(folder, recipe, frame, filled, comparison)
        again = replace(recipe, sentinels=()) if with_table else recipe
        _write_ways(folder, again)
        if with_table:
            write_table(frame, folder / recipe.table)
        if comparison is not None:
            write_comparison(comparison, folder / "comparison")
        if model is not None:
            shutil.copyfile(model, folder / f"model{Path(model).suffix}")
        return _deliver(folder, Path(target))


def _write_tables(
    folder: Path,
    recipe: Recipe,
    frame: pd.DataFrame,
    filled: pd.DataFrame,
    formats: Sequence[TableFormat],
    escape_csv: bool,
    color: str,
) -> None:
    imputed = frame.isna() & filled.notna()
    about = {"Table": recipe.table, "Method": recipe.method, "Seed": str(recipe.seed)}
    to_csv = escape_formulas if escape_csv else _unchanged
    writers: Mapping[TableFormat, Callable[[Path], None]] = {
        "csv": lambda path: write_table(to_csv(filled), path),
        "excel": lambda path: write_imputed_excel(path, filled, imputed, color=color, about=about),
        "parquet": lambda path: write_table(filled, path),
    }
    for name in formats:
        writers[name](folder / f"filled{ENDINGS[name]}")
        if name != "excel":  # there the color says it
            write_table(imputed, folder / f"imputed{ENDINGS[name]}")


def _unchanged(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def _write_words(
    folder: Path,
    recipe: Recipe,
    frame: pd.DataFrame,
    filled: pd.DataFrame,
    comparison: Comparison | None,
) -> None:
    text = methods_paragraph(recipe, frame, filled, comparison=comparison)
    contents = {
        "methods.txt": text.to_text(),
        "methods.md": text.to_markdown(),
        "settings.json": json.dumps(recipe.to_dict(), indent=1, ensure_ascii=False) + "\n",
    }
    _write_texts(folder, contents)


def _write_ways(folder: Path, recipe: Recipe) -> None:
    """Write the two ways to do it again."""
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
    """Bring the files of a folder to their place, and return their names."""
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
