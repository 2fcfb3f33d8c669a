"""The roles and rules of the columns of a table: inferred, overridable, saved as JSON."""

from __future__ import annotations

import enum
import json
from collections.abc import Container, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.expressions import Expression
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table.cells import CellKind, cell_kind, cell_types
from pmae_core.table.derived import DerivedColumn, derived_findings, order_expressions
from pmae_core.table.learned import (
    NotLearned,
    count_numbers,
    count_unique,
    why_column_not_learned,
    why_not_learned,
)
from pmae_core.table.levels import levels_of
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.roles import NUMBER_ROLES, Role, as_role, check_role, infer_role
from pmae_core.table.rules import NO_RULES, ColumnRules, check_rules, level_findings, rule_findings
from pmae_core.words import listed

Rules = Mapping[Any, ColumnRules | Mapping[str, Any]]
HIGH_CARDINALITY_FROM = 101


class Flag(enum.StrEnum):
    """What is remarkable about the cells of a column, whatever its role."""

    CONSTANT = "constant"
    ALL_MISSING = "all missing"
    IDENTIFIER = "identifier"
    HIGH_CARDINALITY = "high cardinality"
    MIXED_TYPES = "mixed types"
    CODES = "codes"


@dataclass(frozen=True)
class ColumnSchema:
    """One column: its role, and the counts from which the role was inferred.

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
    n_numbers
        Number of different finite numbers or times; equal to `n_unique` in other columns.
    flags
        What is remarkable about the cells.
    rules
        Declared limits, whole numbers, the expression of a derived column, and the levels of an
        ordinal one.
    """

    name: Hashable
    role: Role
    dtype: str
    integer: bool
    n_rows: int
    n_observed: int
    n_unique: int
    n_numbers: int
    flags: tuple[Flag, ...] = ()
    rules: ColumnRules = NO_RULES

    @property
    def not_learned(self) -> NotLearned | None:
        """Why the column is not learned; None if it is."""
        is_number = self.role in NUMBER_ROLES
        return why_not_learned(
            self.role, self.n_observed, self.n_numbers if is_number else self.n_unique
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON-able data."""
        rules = {"rules": self.rules.to_dict()} if self.rules else {}
        return {
            "name": to_json_value(self.name),
            "role": self.role.value,
            "dtype": self.dtype,
            "integer": self.integer,
            "n_rows": self.n_rows,
            "n_observed": self.n_observed,
            "n_unique": self.n_unique,
            "n_numbers": self.n_numbers,
            "flags": [flag.value for flag in self.flags],
            **rules,
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
                n_numbers=int(data["n_numbers"]),
                flags=tuple(Flag(flag) for flag in data["flags"]),
                rules=ColumnRules.read(data.get("rules", {}), from_json_value(data["name"])),
            )
        except SchemaError:
            raise
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
    def infer(
        cls,
        df: pd.DataFrame,
        roles: Mapping[Any, Role | str] | None = None,
        rules: Rules | None = None,
    ) -> Schema:
        """Choose the role of each column from its cells and its name.

        Parameters
        ----------
        df
            The table. It is not changed.
        roles
            Roles that you know better, by column name.
        rules
            Limits, whole numbers, expressions and levels by column name; see `with_rules`.

        Returns
        -------
        Schema
            One entry for each column. Ordinal columns name their levels.

        Raises
        ------
        SchemaError
            If column names repeat, or a role or rule does not fit its column.
        """
        check_unique_names(df)
        schema = cls(tuple(_infer_column(df[name]) for name in df.columns))
        schema = schema.with_roles(roles or {})
        for name in roles or {}:
            check_role(df[name], schema.role(name))
        schema = schema.with_rules(rules or {})
        schema.check_rules(df)
        return schema.with_levels(df)

    def with_roles(self, roles: Mapping[Any, Role | str]) -> Schema:
        """Return the schema with other roles for some columns.

        The table is not at hand here: whether a role fits the cells is checked when an
        encoder is fitted (or at once by ``Schema.infer(df, roles)``).
        """
        self._check_known(roles, "A role")
        chosen = {name: as_role(role) for name, role in roles.items()}
        return Schema(
            tuple(replace(column, role=chosen.get(column.name, column.role)) for column in self)
        )

    def with_rules(self, rules: Rules) -> Schema:
        """Return the schema with other rules for some columns; their former rules are gone.

        Parameters
        ----------
        rules
            By column name, a mapping with some of ``lower``, ``upper``, ``whole``, ``derived`` and
            ``levels`` (see :class:`ColumnRules`). An empty mapping removes the rules of a column.

        Examples
        --------
        >>> df = pd.DataFrame({"age": [31, 45, 52], "town": ["Ulm", None, "Bonn"]})
        >>> schema = Schema.infer(df).with_rules({"age": {"lower": 0, "upper": 120}})
        >>> schema["age"].rules.upper, schema.rules
        (120.0, {'age': {'lower': 0.0, 'upper': 120.0}})
        """
        self._check_known(rules, "A rule")
        chosen = {name: ColumnRules.read(given, name) for name, given in rules.items()}
        schema = Schema(
            tuple(replace(column, rules=chosen.get(column.name, column.rules)) for column in self)
        )
        order_expressions(schema._expression_texts(), schema.names())
        return schema

    def with_levels(self, df: pd.DataFrame) -> Schema:
        """Return the schema in which every ordinal column of a table names its levels.

        Levels that nobody declared are in the order that the cells show.

        Raises
        ------
        SchemaError
            If they show none, or hold values that are not among the declared levels.

        Examples
        --------
        >>> df = pd.DataFrame({"pain": ["mild", None, "none", "severe"]})
        >>> Schema.infer(df).with_roles({"pain": "ordinal"}).with_levels(df)["pain"].rules.levels
        ('none', 'mild', 'severe')
        """
        return Schema(tuple(_with_levels(column, df) for column in self))

    @property
    def rules(self) -> dict[Any, dict[str, Any]]:
        """The rules of the columns that have some, as `with_rules` reads them."""
        return {column.name: column.rules.to_dict() for column in self if column.rules}

    @property
    def derived(self) -> dict[Any, Expression]:
        """The expressions of the derived columns, each after those that it depends on.

        Examples
        --------
        >>> df = pd.DataFrame({"kg": [80.0, 72.0], "m": [2.0, 1.8], "bmi": [20.0, None]})
        >>> schema = Schema.infer(df, rules={"bmi": {"derived": "kg / m ^ 2"}})
        >>> {name: str(expression) for name, expression in schema.derived.items()}
        {'bmi': 'kg / m ** 2'}
        """
        return order_expressions(self._expression_texts(), self.names())

    def _expression_texts(self) -> dict[Any, str]:
        return {c.name: c.rules.derived for c in self if c.rules.derived is not None}

    def for_table(self, df: pd.DataFrame) -> Schema:
        """Return the schema of another table: its own counts, with the roles and rules of this one.

        Columns that this schema does not know are inferred; those that the table lacks are gone.

        Examples
        --------
        >>> df = pd.DataFrame({"age": [31, 45, 52], "zip": [1, 2, 2]})
        >>> schema = Schema.infer(df, {"zip": "categorical"}, {"age": {"lower": 0}})
        >>> other = schema.for_table(df.iloc[:2].assign(x=0.5))
        >>> other.role("zip").value, other.rules, other["age"].n_rows
        ('categorical', {'age': {'lower': 0.0}}, 2)
        """
        known = self.only(df.columns)
        return Schema.infer(df, {column.name: column.role for column in known}, known.rules)

    def only(self, names: Container[Hashable]) -> Schema:
        """Return the schema of some of the columns.

        A derived column that needs one of the others is a column like any other there.
        """
        kept = [column for column in self if column.name in names]
        computable = {
            name
            for name, expression in self.derived.items()
            if all(used in names for used in expression.columns)
        }
        return Schema(
            tuple(
                column
                if column.name in computable
                else replace(column, rules=replace(column.rules, derived=None))
                for column in kept
            )
        )

    def check_rules(self, df: pd.DataFrame) -> None:
        """Raise a SchemaError if rules cannot hold in the columns of a table."""
        for column in self:
            if column.rules or column.role is Role.ORDINAL:
                check_rules(df[column.name], column.role, column.rules)
        for name, expression in self.derived.items():
            DerivedColumn.fit(df, name, expression)

    def rule_findings(self, df: pd.DataFrame) -> list[str]:
        """Return a sentence for each rule that observed cells of a table break."""
        broken = (rule_findings(df[column.name], column.rules) for column in self)
        return [*chain.from_iterable(broken), *derived_findings(df, self.derived)]

    def level_findings(self, df: pd.DataFrame) -> list[str]:
        """Return a sentence for each ordinal column that holds values not among its levels."""
        ordinal = (column for column in self if column.role is Role.ORDINAL)
        return [s for column in ordinal for s in level_findings(df[column.name], column.rules)]

    def _check_known(self, named: Mapping[Any, Any], what: str) -> None:
        known = {column.name for column in self.columns}
        unknown = [name for name in named if name not in known]
        if unknown:
            raise SchemaError(
                f"{what} is given for {_names(unknown)}, but the table has no such column.",
                advice=f"Its columns are {_names(self.names())}.",
            )

    def names(self, *roles: Role | str) -> list[Any]:
        """Return the names of the columns with these roles; of all columns without roles."""
        wanted = {as_role(role) for role in roles} or set(Role)
        return [column.name for column in self.columns if column.role in wanted]

    def not_learned(self, df: pd.DataFrame | None = None) -> dict[Any, NotLearned]:
        """Return the columns that are not learned, with the reason.

        Parameters
        ----------
        df
            A table, whose columns are judged by its cells; without it, the counts of the table
            that the schema was inferred from decide.

        Examples
        --------
        >>> df = pd.DataFrame({"x": [1.5, 2.5], "same": [3, 3], "empty": [None, None]})
        >>> for name, reason in Schema.infer(df).not_learned().items():
        ...     print(name, "is not learned:", reason.clause)
        same is not learned: all its observed cells are equal, so missing ones get that value
        empty is not learned: none of its cells is observed
        """
        reasons = {
            column.name: column.not_learned
            if df is None
            else why_column_not_learned(df[column.name], column.role)
            for column in self
            if df is None or column.name in df.columns
        }
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def not_imputed(self, df: pd.DataFrame | None = None) -> dict[Any, NotLearned]:
        """Return the columns whose missing cells stay missing, with the reason.

        Those of derived columns are computed, whether the column is learned or not.
        """
        derived = self._expression_texts()
        return {
            name: reason
            for name, reason in self.not_learned(df).items()
            if not reason.imputed and name not in derived
        }

    def learned(self, df: pd.DataFrame | None = None) -> list[Any]:
        """Return the names of the columns that are learned (see `not_learned`)."""
        not_learned = self.not_learned(df)
        return [name for name in self._names_in(df) if name not in not_learned]

    def imputable(self, df: pd.DataFrame | None = None) -> list[Any]:
        """Return the names of the columns whose missing cells methods impute.

        These are the learned columns, and those that are not learned since all observed cells are
        equal (see `not_learned`).
        """
        not_learned = self.not_learned(df)
        return [
            name
            for name in self._names_in(df)
            if name not in not_learned or not_learned[name].imputed
        ]

    def _names_in(self, df: pd.DataFrame | None) -> list[Any]:
        return self.names() if df is None else [name for name in self.names() if name in df]

    def role(self, name: Hashable) -> Role:
        """Return the role of a column."""
        return self[name].role

    def __getitem__(self, name: Hashable) -> ColumnSchema:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(
            f"There is no column {name!r}.", advice=f"The columns are {_names(self.names())}."
        )

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
        schema = cls(tuple(ColumnSchema.from_dict(column) for column in data["columns"]))
        order_expressions(schema._expression_texts(), schema.names())
        return schema

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
            f"More than one column is named {_names(repeated)}.",
            advice="Give each column its own name.",
        )


def _names(names: list[Any]) -> str:
    return listed(map(repr, names), most=10) or "no columns"


def _with_levels(column: ColumnSchema, df: pd.DataFrame) -> ColumnSchema:
    if column.role is not Role.ORDINAL:
        return column
    levels = levels_of(df[column.name], column.rules.levels)
    # A single value has no order that could be named.
    return replace(column, rules=replace(column.rules, levels=levels if len(levels) > 1 else None))


def _infer_column(series: pd.Series) -> ColumnSchema:
    kind = cell_kind(series)
    n_observed = int(series.notna().sum())
    n_unique = count_unique(series)
    role = infer_role(series, kind, n_observed, n_unique)
    flags = {
        Flag.CONSTANT: n_unique == 1,
        Flag.ALL_MISSING: n_observed == 0,
        Flag.IDENTIFIER: role is Role.IDENTIFIER,
        Flag.HIGH_CARDINALITY: kind is CellKind.LABEL and n_unique >= HIGH_CARDINALITY_FROM,
        Flag.MIXED_TYPES: series.dtype == object
        and kind in (CellKind.LABEL, CellKind.OTHER)
        and len(cell_types(series)) > 1,
        Flag.CODES: kind is CellKind.NUMBER and role is Role.CATEGORICAL and n_unique > 2,
    }
    return ColumnSchema(
        name=series.name,
        role=role,
        dtype=str(series.dtype),
        integer=kind is CellKind.NUMBER and NumberCells.fit(series).integer,
        n_rows=len(series),
        n_observed=n_observed,
        n_unique=n_unique,
        n_numbers=_count_numbers(series, kind, n_unique),
        flags=tuple(flag for flag, raised in flags.items() if raised),
    )


def _count_numbers(series: pd.Series, kind: CellKind, n_unique: int) -> int:
    if kind is CellKind.NUMBER:
        return count_numbers(series, n_unique, is_time=False)
    is_time = kind in (CellKind.DATETIME, CellKind.DURATION)
    return count_numbers(series, n_unique, is_time=True) if is_time else n_unique
