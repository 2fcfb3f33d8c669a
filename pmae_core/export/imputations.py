"""Several imputations as one file, for R, Stata or Python."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from pmae_core.errors import ImputationError, TableError
from pmae_core.export.checks import check_imputation
from pmae_core.export.imputation_bundle import MOST_IMPUTATIONS, write_imputation_bundle
from pmae_core.export.mice_format import r_code, r_names, write_mice
from pmae_core.export.portable import PortableColumn, known_schema, portable_columns
from pmae_core.export.recipe import Recipe
from pmae_core.export.stata_format import stata_code, stata_names, write_stata
from pmae_core.storage.files import replacing
from pmae_core.table import Schema
from pmae_core.table.io.rows import with_index_as_columns
from pmae_core.words import listed

ImputationFormat = Literal["mice", "stata", "bundle"]
"""Programs that files of imputations are for: R's mice, Stata, or Python."""
IMPUTATION_ENDINGS: Mapping[ImputationFormat, str] = {
    "mice": ".csv",
    "stata": ".dta",
    "bundle": ".zip",
}
"""The ending of a file of imputations in each format."""
CODE_ENDINGS: Mapping[ImputationFormat, str] = {"mice": ".R", "stata": ".do", "bundle": ".py"}
"""The ending of the code that reads it in each format."""


@dataclass(frozen=True)
class ImputationReading:
    """How to read a file of imputations in the program it is for.

    Attributes
    ----------
    code : str
        R code, Stata commands or Python code.
    renamed : mapping of column to str
        Columns that have another name in the file, since the program does not allow theirs.
    """

    code: str
    renamed: Mapping[Hashable, str]


def write_imputations(
    path: str | os.PathLike[str],
    original: pd.DataFrame,
    imputations: Sequence[pd.DataFrame],
    *,
    format: ImputationFormat | None = None,
    schema: Schema | None = None,
    recipe: Recipe | None = None,
    is_proper: bool | None = None,
) -> ImputationReading:
    """Write several imputations of a table as one file for R, Stata or Python.

    Parameters
    ----------
    path : path
        Where to write; an existing file is replaced when the new one is complete.
    original : DataFrame
        The table with its missing values.
    imputations : sequence of DataFrame
        The imputed tables. They are read one after the other, so a sequence may load each when
        asked for it.
    format : {"mice", "stata", "bundle"}, optional
        By default the path's ending decides. ``"mice"`` (.csv) is the long form that
        ``mice::as.mids`` reads, ``"stata"`` (.dta) the flong form that ``mi import flong`` reads,
        ``"bundle"`` (.zip) what :func:`read_imputations` reads, with all types.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Identifiers stay text, other text becomes
        a factor in R and a number with value labels in Stata.
    recipe : Recipe, optional
        How the table was imputed; written to a bundle.
    is_proper : bool, optional
        Whether the imputations include the uncertainty of the fitted model itself; written to a
        bundle.

    Returns
    -------
    ImputationReading
        The code that reads the file in its program, and the columns that were renamed.

    Raises
    ------
    ImputationError
        If the imputations do not belong to the table.
    TableError
        If the file cannot be written in this format.

    Examples
    --------
    >>> import tempfile
    >>> table = pd.DataFrame({"x": [1.5, None], "town": ["Ulm", "Bonn"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "imputations.csv"
    ...     reading = write_imputations(path, table, [table.fillna(2.0), table.fillna(3.5)])
    ...     print(path.read_text())
    .imp,.id,x,town
    0,1,1.5,Ulm
    0,2,,Bonn
    1,1,1.5,Ulm
    1,2,2.0,Bonn
    2,1,1.5,Ulm
    2,2,3.5,Bonn
    <BLANKLINE>
    >>> print(reading.code.splitlines()[-4])
    imputations <- as.mids(long)
    """
    path = Path(path)
    chosen = _choose_format(path, format)
    if not 1 <= len(imputations) <= MOST_IMPUTATIONS:
        raise ImputationError(
            f"There are {len(imputations):,} imputations to write. Give from 1 to "
            f"{MOST_IMPUTATIONS:,}."
        )
    imputed: set[Hashable] = set()
    tables = _checked(original, imputations, imputed)
    try:
        with replacing(path) as unfinished, unfinished.open("wb") as handle:
            if chosen == "bundle":
                roles = known_schema(original, schema)
                write_imputation_bundle(
                    handle, tables, len(imputations), roles, recipe=recipe, is_proper=is_proper
                )
            else:
                columns = _columns(original, schema, chosen)
                _WRITERS[chosen](handle, map(with_index_as_columns, tables), columns)
    except OSError as error:
        raise TableError(f"'{path}' cannot be written: {error.strerror or error}.") from error
    return imputation_reading(original, imputed, path.name, format=chosen, schema=schema)


def imputation_reading(
    original: pd.DataFrame,
    imputed: Iterable[Hashable],
    file_name: str,
    *,
    format: ImputationFormat,
    schema: Schema | None = None,
) -> ImputationReading:
    """Return how to read a file of imputations, without writing it.

    Parameters
    ----------
    original : DataFrame
        The table with its missing values.
    imputed : iterable
        The columns with imputed cells.
    file_name : str
        Name of the file.
    format, schema
        As in :func:`write_imputations`.
    """
    if format == "bundle":
        return ImputationReading(_PYTHON_CODE.format(file_name), {})
    columns = _columns(original, schema, format)
    if format == "mice":
        code = r_code(columns, file_name)
    else:
        code = stata_code(columns, map(str, imputed), file_name)
    renamed = {column.source: column.name for column in columns if column.source != column.name}
    return ImputationReading(code, renamed)


_WRITERS = {"mice": write_mice, "stata": write_stata}
_PYTHON_CODE = """from pmae_core.export import read_imputations

saved = read_imputations({!r})
original, imputations = saved.original, saved.imputations
"""


def imputation_format(path: str | os.PathLike[str]) -> ImputationFormat:
    """Return the format of a file of imputations by its ending.

    Raises
    ------
    TableError
        If no format has this ending.
    """
    ending = Path(path).suffix.lower()
    for name, own in IMPUTATION_ENDINGS.items():
        if ending == own:
            return name
    raise TableError(
        f"{path} has no ending of a file of imputations. Use .csv for R, .dta for Stata or .zip "
        "for Python."
    )


def _choose_format(path: Path, wanted: str | None) -> ImputationFormat:
    if wanted is None:
        return imputation_format(path)
    for name in IMPUTATION_ENDINGS:
        if wanted == name:
            return name
    choices = listed(IMPUTATION_ENDINGS, last="or")
    raise TableError(f"There is no format {wanted!r} for imputations. Choose {choices}.")


def _checked(
    original: pd.DataFrame, imputations: Iterable[pd.DataFrame], imputed: set[Hashable]
) -> Iterator[pd.DataFrame]:
    """Yield the original table and each imputation after a check; note what was imputed."""
    yield original
    missing = original.isna()
    for number, table in enumerate(imputations, start=1):
        check_imputation(number, original, table)
        imputed.update(original.columns[(missing & table.notna()).any()])
        yield table


def _columns(
    original: pd.DataFrame, schema: Schema | None, format: ImputationFormat
) -> list[PortableColumn]:
    """Return how each column is written; names are text, as in all files."""
    known = {str(column.name): column for column in known_schema(original, schema)}
    table = with_index_as_columns(original)
    names = {"mice": r_names, "stata": stata_names}[format](table.columns)
    return portable_columns(table, known, names)
