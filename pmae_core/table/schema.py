"""The roles of the columns of a table: inferred, overridable, saved as JSON."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table.cells import CellKind, cell_kind, cell_types
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.time_cells import TimeCells

HIGH_CARDINALITY_FROM = 101
_IDENTIFIER_MIN_OBSERVED = 20
_IDENTIFIER_MIN_DISTINCT = 0.95
_IDENTIFIER_NAME = re.compile(
    r"(id|ids|uuid|guid|key|index|idx|row|row[ _-]?(num|number|nr|no|id)|nr|unnamed: \d+"
    r"|.*[ _-](id|uuid|guid|key)|(id|uuid)[ _-].*)",
    re.IGNORECASE,
)
_CAMEL_CASE_IDENTIFIER = re.compile(r".*[a-z](Id|ID|Key|Uuid|UUID)")


class Role(enum.StrEnum):
    """What a column is for."""

    NUMERICAL = "numerical"
    CATEGORICAL = "categorical"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    IDENTIFIER = "identifier"
    IGNORED = "ignored"


class Flag(enum.StrEnum):
    """What is remarkable about the cells of a column, whatever its role."""

    CONSTANT = "constant"
    ALL_MISSING = "all missing"
    IDENTIFIER = "identifier"
    HIGH_CARDINALITY = "high cardinality"
    MIXED_TYPES = "mixed types"


@dataclass(frozen=True)
class ColumnSchema:
    """One column: its role, and what was seen when the role was inferred.

    Parameters
    ----------
    name
        The column's name, of any hashable type.
    role
        What the column is for.
    dtype
        Name of the pandas dtype.
    integer
        The cells are numbers and all observed ones are whole (also in a float column).
    n_rows, n_observed, n_unique
        Number of rows, of observed cells, and of different values among them.
    flags
        What is remarkable about the cells.
    """

    name: Hashable
    role: Role
    dtype: str
    integer: bool
    n_rows: int
    n_observed: int
    n_unique: int
    flags: tuple[Flag, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON-able data."""
        return {
            "name": to_json_value(self.name),
            "role": self.role.value,
            "dtype": self.dtype,
            "integer": self.integer,
            "n_rows": self.n_rows,
            "n_observed": self.n_observed,
            "n_unique": self.n_unique,
            "flags": [flag.value for flag in self.flags],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ColumnSchema:
        """Return the column that `to_dict` wrote."""
        try:
            return cls(
                name=from_json_value(data["name"]),
                role=Role(data["role"]),
                dtype=str(data["dtype"]),
                integer=bool(data["integer"]),
                n_rows=int(data["n_rows"]),
                n_observed=int(data["n_observed"]),
                n_unique=int(data["n_unique"]),
                flags=tuple(Flag(flag) for flag in data["flags"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SchemaError(f"This is not a saved column schema: {error!r}.") from None


@dataclass(frozen=True)
class Schema:
    """The columns of a table with their roles, in the table's order.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"age": [31, 45, 45], "town": ["Ulm", None, "Bonn"]})
    >>> schema = Schema.infer(df)
    >>> schema.role("age"), schema.role("town")
    (<Role.NUMERICAL: 'numerical'>, <Role.CATEGORICAL: 'categorical'>)
    >>> schema.with_roles({"age": "ignored"}).names(Role.IGNORED)
    ['age']
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[ColumnSchema, ...]

    @classmethod
    def infer(cls, df: pd.DataFrame, roles: Mapping[Any, Role | str] | None = None) -> Schema:
        """Look at each column and choose its role.

        Parameters
        ----------
        df
            The table. It is not changed.
        roles
            Roles that you know better, by column name.

        Returns
        -------
        Schema
            One entry for each column.

        Raises
        ------
        SchemaError
            If column names repeat, or a role in `roles` does not fit its column.
        """
        check_unique_names(df)
        schema = cls(tuple(_infer_column(df[name]) for name in df.columns))
        if roles is None:
            return schema
        schema = schema.with_roles(roles)
        for name in roles:
            check_role(df[name], schema.role(name))
        return schema

    def with_roles(self, roles: Mapping[Any, Role | str]) -> Schema:
        """Return the schema with other roles for some columns.

        The table is not at hand here: whether a role fits the cells is checked when an
        encoder is fitted (or at once by ``Schema.infer(df, roles)``).
        """
        known = {column.name for column in self.columns}
        unknown = [name for name in roles if name not in known]
        if unknown:
            raise SchemaError(
                f"A role is given for {_listed(unknown)}, but the table has no such column. "
                f"It has {_listed(column.name for column in self.columns)}."
            )
        chosen = {name: _as_role(role) for name, role in roles.items()}
        return Schema(
            tuple(replace(column, role=chosen.get(column.name, column.role)) for column in self)
        )

    def names(self, *roles: Role | str) -> list[Any]:
        """Return the names of the columns with these roles; of all columns without roles."""
        wanted = {_as_role(role) for role in roles} or set(Role)
        return [column.name for column in self.columns if column.role in wanted]

    def role(self, name: Hashable) -> Role:
        """Return the role of a column."""
        return self[name].role

    def __getitem__(self, name: Hashable) -> ColumnSchema:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f"There is no column {name!r}. The columns are {_listed(self.names())}.")

    def __iter__(self) -> Iterator[ColumnSchema]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON-able data."""
        return {"columns": [column.to_dict() for column in self.columns]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """Return the schema that `to_dict` wrote."""
        if not isinstance(data, Mapping) or not isinstance(data.get("columns"), list):
            raise SchemaError('This is not a saved schema: it has no list "columns".')
        return cls(tuple(ColumnSchema.from_dict(column) for column in data["columns"]))

    def to_json(self) -> str:
        """Return the schema as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Return the schema that `to_json` wrote."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise SchemaError(f"This is not a saved schema: {error}.") from None
        return cls.from_dict(data)


def check_unique_names(df: pd.DataFrame) -> None:
    """Raise a SchemaError that names the columns which have the same name."""
    repeated = df.columns[df.columns.duplicated()].unique().tolist()
    if repeated:
        raise SchemaError(
            f"More than one column is named {_listed(repeated)}. Give each column its own name."
        )


def check_role(series: pd.Series, role: Role) -> None:
    """Raise a SchemaError if a column cannot have a role."""
    kind = cell_kind(series)
    if role is Role.NUMERICAL and kind is not CellKind.DURATION:
        NumberCells.fit(series)
    elif role is Role.DATETIME:
        if kind is CellKind.DURATION:
            raise SchemaError(
                f"Column {series.name!r} holds durations, not dates. Give it the role numerical."
            )
        TimeCells.fit(series)
    elif role in (Role.CATEGORICAL, Role.BOOLEAN) and kind is CellKind.OTHER:
        raise SchemaError(
            f"Column {series.name!r} ({series.dtype}) holds values that cannot be categories. "
            "Turn them into text or numbers, or give the column the role ignored."
        )
    elif role is Role.BOOLEAN and series.nunique() > 2:
        raise SchemaError(
            f"Column {series.name!r} has {series.nunique()} different values, "
            "but a boolean column has two. Give it the role categorical or numerical."
        )


def _as_role(role: Role | str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise SchemaError(f"There is no role {role!r}. The roles are {_listed(Role)}.") from None


def _listed(names: Iterable[Any]) -> str:
    """Return names as text, shortened when there are many."""
    names = list(names)
    shown = ", ".join(repr(str(n) if isinstance(n, Role) else n) for n in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown or "no columns"


def _infer_column(series: pd.Series) -> ColumnSchema:
    kind = cell_kind(series)
    n_observed = int(series.notna().sum())
    n_unique = _count_unique(series)
    is_identifier = _looks_like_identifier(series, kind, n_observed, n_unique)
    roles = {
        CellKind.NUMBER: Role.NUMERICAL,
        CellKind.DURATION: Role.NUMERICAL,
        CellKind.BOOLEAN: Role.BOOLEAN,
        CellKind.DATETIME: Role.DATETIME,
        CellKind.LABEL: Role.CATEGORICAL,
        CellKind.OTHER: Role.IGNORED,
    }
    flags = {
        Flag.CONSTANT: n_unique == 1,
        Flag.ALL_MISSING: n_observed == 0,
        Flag.IDENTIFIER: is_identifier,
        Flag.HIGH_CARDINALITY: kind is CellKind.LABEL and n_unique >= HIGH_CARDINALITY_FROM,
        Flag.MIXED_TYPES: series.dtype == object
        and kind in (CellKind.LABEL, CellKind.OTHER)
        and len(cell_types(series)) > 1,
    }
    return ColumnSchema(
        name=series.name,
        role=Role.IDENTIFIER if is_identifier else roles[kind],
        dtype=str(series.dtype),
        integer=kind is CellKind.NUMBER and NumberCells.fit(series).integer,
        n_rows=len(series),
        n_observed=n_observed,
        n_unique=n_unique,
        flags=tuple(flag for flag, raised in flags.items() if raised),
    )


def _count_unique(series: pd.Series) -> int:
    try:
        return int(series.nunique())
    except TypeError:
        # Lists and the like have no hash; their text tells them apart.
        return int(series.dropna().map(repr).nunique())


def _looks_like_identifier(
    series: pd.Series, kind: CellKind, n_observed: int, n_unique: int
) -> bool:
    """Say whether the cells only name their rows.

    A declared category column is taken at its word and never is an identifier.
    """
    is_text = kind is CellKind.LABEL and not isinstance(series.dtype, pd.CategoricalDtype)
    if is_text:
        return (
            n_observed >= _IDENTIFIER_MIN_OBSERVED
            and n_unique >= _IDENTIFIER_MIN_DISTINCT * n_observed
        )
    if series.dtype.kind not in "iu" or n_unique < max(2, n_observed):
        return False
    if _is_identifier_name(series.name):
        return True
    smallest, largest = int(series.min()), int(series.max())
    return n_observed >= _IDENTIFIER_MIN_OBSERVED and largest - smallest == n_observed - 1


def _is_identifier_name(name: Hashable) -> bool:
    text = str(name).strip()
    return bool(_IDENTIFIER_NAME.fullmatch(text) or _CAMEL_CASE_IDENTIFIER.fullmatch(text))
