"""Columns in the few types that R and Stata share: numbers, booleans, times, categories, text."""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import ImputationError, TableError
from pmae_core.table import ColumnSchema, Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.labels import in_order
from pmae_core.table.levels import levels_of
from pmae_core.table.roles import CODED_ROLES
from pmae_core.words import listed

# Larger whole numbers, such as long identifiers, are not exact as the decimals of R and Stata.
_LARGEST_EXACT = 2**53


class PortableKind(enum.StrEnum):
    """What a column is in another program."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TIME = "time"
    CATEGORY = "category"
    TEXT = "text"


@dataclass(frozen=True, eq=False)
class PortableColumn:
    """How one column is written for other programs.

    Attributes
    ----------
    source
        Name of the column in the table.
    name : str
        Its name in the other program.
    kind : PortableKind
        What it is there. Durations are numbers, in seconds; times have no zone (UTC).
    labels : tuple of str
        The texts of its categories, in order; of numbers only if they are levels.
    is_ordered : bool
        Whether the order of the categories means something.
    is_coded : bool
        Whether its numbers stand for categories.
    values : tuple
        The categories that the labels stand for.
    """

    source: Any
    name: str
    kind: PortableKind
    labels: tuple[str, ...] = ()
    is_ordered: bool = False
    is_coded: bool = False
    values: tuple[Any, ...] = ()

    @classmethod
    def fit(cls, cells: pd.Series, name: str, known: ColumnSchema | None) -> PortableColumn:
        """Choose how to write a column, from its cells, its role and its levels.

        A column of which nothing is known, which was an index, is an identifier.
        """
        role = Role.IDENTIFIER if known is None else known.role
        kind = _portable_kind(cells, role)
        is_coded = kind is PortableKind.NUMBER and role in CODED_ROLES
        is_ordered = role is Role.ORDINAL and (is_coded or kind is PortableKind.CATEGORY)
        if kind is not PortableKind.CATEGORY and not is_ordered:
            return cls(cells.name, name, kind, is_coded=is_coded)
        values: Sequence[Any]
        if known is not None and is_ordered:
            values = levels_of(cells, known.rules.levels)
        elif isinstance(cells.dtype, pd.CategoricalDtype):
            values, is_ordered = cells.dtype.categories.tolist(), bool(cells.dtype.ordered)
        else:
            values = in_order(cells.dropna().unique().tolist(), None)
        labels = tuple(map(str, values))
        if len(set(labels)) < len(labels):
            raise TableError(
                f"Column {str(cells.name)!r} has different categories that are written alike. "
                "Rename one of them."
            )
        return cls(cells.name, name, kind, labels, is_ordered, is_coded, tuple(values))

    def write(self, cells: pd.Series) -> pd.Series:
        """Return cells as float64 or Int64, boolean, datetime64, category or str.

        Raises
        ------
        ImputationError
            If a cell holds a category that the original table does not know.
        """
        match self.kind:
            case PortableKind.NUMBER:
                return _numbers(cells)
            case PortableKind.BOOLEAN:
                return cells.astype("boolean")
            case PortableKind.TIME:
                return pd.to_datetime(cells, utc=True).dt.tz_localize(None)
            case PortableKind.TEXT:
                return cells.map(str, na_action="ignore").astype("str")
        return self._categories(cells)

    def _categories(self, cells: pd.Series) -> pd.Series:
        texts = dict(zip(self.values, self.labels, strict=True))
        objects = cells.astype(object)
        unknown = [value for value in objects.dropna().unique() if value not in texts]
        if unknown:
            raise ImputationError(
                f"An imputation holds {listed(unknown)} in column {str(self.source)!r}, which the "
                "original table does not. Make the column a category column with all its "
                "categories first."
            )
        written = objects.map(texts, na_action="ignore")
        categories = pd.Categorical(written, categories=list(self.labels), ordered=self.is_ordered)
        return pd.Series(categories, index=cells.index, name=cells.name)


def known_schema(table: pd.DataFrame, schema: Schema | None) -> Schema:
    """Return the roles and rules of all columns: the given ones, and the others inferred."""
    return Schema.infer(table) if schema is None else schema.for_table(table)


def portable_columns(
    table: pd.DataFrame, known: Mapping[str, ColumnSchema], names: Sequence[str]
) -> list[PortableColumn]:
    """Return how the columns of a table are written.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    known : mapping of column to ColumnSchema
        The roles and levels; a column without one, which was an index, is an identifier.
    names : sequence of str
        The names of the columns in the other program.
    """
    return [
        PortableColumn.fit(table[source], name, known.get(source))
        for source, name in zip(table.columns, names, strict=True)
    ]


def valid_names(
    names: Iterable[Any],
    *,
    allowed: str,
    longest: int,
    reserved: Iterable[str] = (),
) -> list[str]:
    """Return names that another program accepts, each a little changed where it must be.

    Parameters
    ----------
    names : iterable
        The names of the columns.
    allowed : str
        The characters that are allowed after the first one, as in a regular expression.
    longest : int
        The largest number of characters.
    reserved : iterable of str
        Names that are taken.

    Examples
    --------
    >>> valid_names(["größe", "2 b", "x", "x!"], allowed="A-Za-z0-9_", longest=9, reserved=["x"])
    ['gro_e', 'v2_b', 'x_1', 'x_']
    """
    originals = [str(name) for name in names]
    cleaned = [_cleaned(text, allowed, longest) for text in originals]
    # Names that are valid as they are stay, whichever comes first.
    unchanged = set(originals) & set(cleaned)
    taken, result = set(reserved), []
    for original, text in zip(originals, cleaned, strict=True):
        name, number = text, 0
        while name in taken or (name in unchanged and name != original):
            number += 1
            name = f"{text[: longest - len(str(number)) - 1]}_{number}"
        taken.add(name)
        result.append(name)
    return result


def _cleaned(text: str, allowed: str, longest: int) -> str:
    cleaned = re.sub(f"[^{allowed}]", "_", _without_accents(text))
    return (cleaned if re.match("[A-Za-z]", cleaned) else f"v{cleaned}")[:longest]


def _without_accents(text: str) -> str:
    split = unicodedata.normalize("NFKD", text)
    return "".join(character for character in split if not unicodedata.combining(character))


def _portable_kind(cells: pd.Series, role: Role) -> PortableKind:
    kind = cell_kind(cells)
    if kind is CellKind.NUMBER and cells.dtype.kind in "iu" and not _is_exact(cells):
        return PortableKind.TEXT
    if kind is CellKind.LABEL:
        is_name = role in (Role.IDENTIFIER, Role.IGNORED)
        return PortableKind.TEXT if is_name else PortableKind.CATEGORY
    return {
        CellKind.NUMBER: PortableKind.NUMBER,
        CellKind.DURATION: PortableKind.NUMBER,
        CellKind.BOOLEAN: PortableKind.BOOLEAN,
        CellKind.DATETIME: PortableKind.TIME,
    }.get(kind, PortableKind.TEXT)


def _is_exact(whole_numbers: pd.Series) -> bool:
    extremes = [
        int(value) for value in (whole_numbers.min(), whole_numbers.max()) if pd.notna(value)
    ]
    return all(abs(value) <= _LARGEST_EXACT for value in extremes)


def _numbers(cells: pd.Series) -> pd.Series:
    if cell_kind(cells) is CellKind.DURATION:
        return pd.to_timedelta(cells).dt.total_seconds()
    if cells.dtype.kind in "iu":
        return cells.astype("Int64")
    return cells.astype(object).where(cells.notna(), np.nan).astype("float64")
