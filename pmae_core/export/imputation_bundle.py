"""Imputations for Python: one zip file with Parquet tables and a manifest, and its reader."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar

import pandas as pd
from pydantic import Field

from pmae_core.documents import Document, whole_number
from pmae_core.errors import ImputationError, PMAEError, TableError, UnreadableFileError
from pmae_core.export.checks import check_imputation
from pmae_core.export.recipe import Recipe
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import ColumnRules, ReadingLimits, Role, Schema, write_table
from pmae_core.table.io.columnar import read_parquet
from pmae_core.table.io.limits import DEFAULT_LIMITS
from pmae_core.table.io.source import open_source

MANIFEST_FILE = "manifest.json"
ORIGINAL_FILE = "original.parquet"
WAS_IMPUTED_FILE = "was_imputed.parquet"
FORMAT_VERSION = 1
MOST_IMPUTATIONS = 10_000
_MOST_MANIFEST_BYTES = 16_000_000
_KIND = "pmae imputations"
_FILE_NAME = re.compile(
    r"manifest\.json|(original|was_imputed|imputation-[1-9][0-9]{0,4}-of-[1-9][0-9]{0,4})\.parquet"
)


class ImputationManifest(Document):
    """What a bundle of imputations holds, and how it was made.

    Attributes
    ----------
    n_imputations : int
        How many imputations there are.
    recipe : dict, optional
        How the table was imputed: the method, its parameters, the seed and more, as
        :meth:`Recipe.to_dict` writes it.
    roles : list
        Pairs of a column's name, as JSON, and its role.
    is_proper : bool, optional
        Whether the imputations include the uncertainty of the fitted model itself; None if that
        is not known.
    pmae : str
        Version of the library that wrote the bundle.
    digests : dict
        SHA-256 of every other file.
    """

    error_class: ClassVar[type[PMAEError]] = UnreadableFileError
    document_name: ClassVar[str] = "The manifest"

    kind: Annotated[str, Field(description=f"'{_KIND}'", pattern=f"^{_KIND}$")] = _KIND
    version: Annotated[int, whole_number(FORMAT_VERSION, FORMAT_VERSION)] = FORMAT_VERSION
    n_imputations: Annotated[int, whole_number(1, MOST_IMPUTATIONS)]
    recipe: Annotated[dict[str, Any] | None, Field(description="an object")] = None
    roles: Annotated[list[list[Any]], Field(description="pairs of a column and its role")]
    rules: Annotated[
        list[list[Any]], Field(description="pairs of a column and its rules", default_factory=list)
    ]
    is_proper: Annotated[bool | None, Field(description="true, false")] = None
    pmae: Annotated[str, Field(description="a version")]
    digests: Annotated[dict[str, str], Field(description="an object of digests")]

    def read_roles(self) -> dict[Any, Role]:
        """Return the role of each column."""
        return {from_json_value(name): Role(role) for name, role in self.roles}

    def read_rules(self) -> dict[Any, ColumnRules]:
        """Return the rules of the columns that have some."""
        pairs = ((from_json_value(name), rules) for name, rules in self.rules)
        return {name: ColumnRules.read(rules, name) for name, rules in pairs}

    def read_recipe(self) -> Recipe | None:
        """Return how the table was imputed, if that was written down."""
        return None if self.recipe is None else Recipe.from_dict(self.recipe)


@dataclass(frozen=True, eq=False)
class ImputationSet:
    """Several imputations of one table, as :func:`read_imputations` returns them.

    Attributes
    ----------
    original : DataFrame
        The table with its missing values.
    imputations : tuple of DataFrame
        The imputed tables.
    was_imputed : DataFrame of bool
        True where a cell was imputed.
    manifest : ImputationManifest
        How they were made.
    """

    original: pd.DataFrame
    imputations: tuple[pd.DataFrame, ...]
    was_imputed: pd.DataFrame
    manifest: ImputationManifest

    @property
    def schema(self) -> Schema:
        """The roles and rules with which the table was imputed."""
        return Schema.infer(self.original, self.manifest.read_roles(), self.manifest.read_rules())


def imputation_file(number: int, n_imputations: int) -> str:
    """Return the name of the file of an imputation; the first has number 1."""
    return f"imputation-{number}-of-{n_imputations}.parquet"


def write_imputation_bundle(
    handle: BinaryIO,
    tables: Iterator[pd.DataFrame],
    n_imputations: int,
    schema: Schema,
    *,
    recipe: Recipe | None,
    is_proper: bool | None,
) -> None:
    """Write the original table, the imputations, where they differ, and the manifest."""
    digests = {}
    # Parquet is compressed already.
    with zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, table: pd.DataFrame) -> None:
            content = _parquet(table)
            digests[name] = hashlib.sha256(content).hexdigest()
            archive.writestr(name, content)

        original = next(tables)
        was_imputed = pd.DataFrame(False, index=original.index, columns=original.columns)
        add(ORIGINAL_FILE, original)
        for number, table in enumerate(tables, start=1):
            was_imputed |= original.isna() & table.notna()
            add(imputation_file(number, n_imputations), table)
        add(WAS_IMPUTED_FILE, was_imputed)
        manifest = ImputationManifest(
            n_imputations=n_imputations,
            recipe=None if recipe is None else recipe.to_dict(),
            roles=[[to_json_value(column.name), column.role.value] for column in schema],
            rules=[[to_json_value(name), rules] for name, rules in schema.rules.items()],
            is_proper=is_proper,
            pmae=_library_version(),
            digests=digests,
        )
        archive.writestr(MANIFEST_FILE, manifest.model_dump_json(indent=1))


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    write_table(table, buffer, format="parquet")
    return buffer.getvalue()


def _library_version() -> str:
    # The package itself is above this module, so it is not imported here.
    return str(sys.modules[__name__.partition(".")[0]].__version__)


# Reading


def read_imputations(
    path: str | os.PathLike[str], *, limits: ReadingLimits = DEFAULT_LIMITS
) -> ImputationSet:
    """Read a bundle of imputations that :func:`write_imputations` wrote; nothing is unpickled.

    Parameters
    ----------
    path : path
        The zip file.
    limits : ReadingLimits
        How large the file and each of its tables may be; checked before memory is spent.

    Returns
    -------
    ImputationSet

    Raises
    ------
    UnreadableFileError
        If the file is no such bundle, is damaged, or was written by a newer release.
    TableTooLargeError
        If a limit is exceeded.
    """
    path = Path(path)
    try:
        limits.check_file_size(path.stat().st_size, path.name)
        with zipfile.ZipFile(path) as archive:
            return _read(archive, path, limits)
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _refused(path, f"is damaged or no zip file ({error})") from error
    except OSError as error:
        raise TableError(f"'{path}' cannot be read: {error.strerror or error}.") from error


def _read(archive: zipfile.ZipFile, path: Path, limits: ReadingLimits) -> ImputationSet:
    _check_entries(archive, path, limits)
    manifest = _read_manifest(archive, path)
    m = manifest.n_imputations
    names = [imputation_file(number, m) for number in range(1, m + 1)]
    wanted = {ORIGINAL_FILE, WAS_IMPUTED_FILE, *names}
    if set(archive.namelist()) != {MANIFEST_FILE, *wanted} or set(manifest.digests) != wanted:
        raise _refused(path, "has other files than its manifest says")

    def table(name: str) -> pd.DataFrame:
        content = archive.read(name)
        if hashlib.sha256(content).hexdigest() != manifest.digests[name]:
            raise _refused(path, f"has a changed file: {name}")
        with open_source(content, name, limits) as source:
            return read_parquet(source, limits=limits, keep_index=True)

    original, was_imputed = table(ORIGINAL_FILE), table(WAS_IMPUTED_FILE)
    imputations = tuple(map(table, names))
    _check_tables(original, imputations, was_imputed, manifest, path)
    return ImputationSet(original, imputations, was_imputed, manifest)


def _check_entries(archive: zipfile.ZipFile, path: Path, limits: ReadingLimits) -> None:
    """Refuse, before anything is unpacked, entries that no bundle has."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    unknown = [name for name in names if not _FILE_NAME.fullmatch(name)]
    if unknown or len(set(names)) < len(names) or MANIFEST_FILE not in names:
        what = f"holds {unknown[0]!r}" if unknown else "lacks a manifest or repeats a file"
        raise _refused(path, f"is no bundle of imputations: it {what}")
    n_bytes = sum(entry.file_size for entry in entries)
    limits.check_expanded(n_bytes, path.name)
    limits.check_packing(n_bytes, path.stat().st_size, path.name)
    if archive.getinfo(MANIFEST_FILE).file_size > _MOST_MANIFEST_BYTES:
        raise _refused(path, "has a manifest of more than 16 MB")


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> ImputationManifest:
    try:
        data = json.loads(archive.read(MANIFEST_FILE))
    except (ValueError, RecursionError) as error:
        raise _refused(path, "has a manifest that is not JSON") from error
    version = data.get("version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise _refused(path, f"has format {version}, and this release reads {FORMAT_VERSION}")
    manifest = ImputationManifest.read(data)
    try:
        manifest.read_roles()
        manifest.read_rules()
        manifest.read_recipe()
    except (PMAEError, ValueError, TypeError, KeyError) as error:
        raise _refused(path, "has roles, rules or a recipe that cannot be read") from error
    return manifest


def _check_tables(
    original: pd.DataFrame,
    imputations: Sequence[pd.DataFrame],
    was_imputed: pd.DataFrame,
    manifest: ImputationManifest,
    path: Path,
) -> None:
    expected = pd.DataFrame(False, index=original.index, columns=original.columns)
    try:
        for number, table in enumerate(imputations, start=1):
            check_imputation(number, original, table)
            expected |= original.isna() & table.notna()
    except ImputationError as error:
        raise _refused(path, f"does not fit together. {str(error).rstrip('.')}") from error
    if not expected.equals(was_imputed) or set(manifest.read_roles()) != set(original.columns):
        raise _refused(path, "has tables that do not fit together")


def _refused(path: Path, why: str) -> UnreadableFileError:
    return UnreadableFileError(
        f"{path.name} {why}.",
        advice="Export the imputations again, or update pmae if a newer release wrote them.",
    )
