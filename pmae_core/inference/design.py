"""Numbers for a regression from a formula and tables: outcome, coefficients and design matrix."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import AnalysisError
from pmae_core.expressions import (
    CategoryFactor,
    ColumnName,
    Expression,
    Factor,
    Formula,
    Term,
    check_names,
    quote_name,
)
from pmae_core.table import ColumnSchema, Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.levels import levels_of
from pmae_core.table.roles import CODED_ROLES
from pmae_core.words import count, exact_text, listed

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.object_]

INTERCEPT = "Intercept"
MAX_CATEGORIES = 200
# What a shared server can hold: the numbers of a design are 8 bytes each.
MAX_COEFFICIENTS = 1_000
MAX_NUMBERS = 100_000_000


@dataclass(frozen=True)
class NamedTable:
    """A table whose columns are found by the text of their names.

    Attributes
    ----------
    frame : DataFrame
        The cells.
    name : str
        What error sentences call it, e.g. "imputation 2".
    """

    frame: pd.DataFrame
    name: str

    @property
    def columns(self) -> dict[str, Any]:
        """The names of the columns by their text."""
        return {str(name): name for name in self.frame.columns}

    def cells(self, name: str) -> pd.Series:
        """Return a column, in which nothing may be missing and which holds no dates."""
        check_names([name], self.columns)
        cells = self.frame[self.columns[name]]
        kind = cell_kind(cells)
        if kind in (CellKind.DATETIME, CellKind.DURATION, CellKind.OTHER):
            held = "values that are neither numbers nor text" if kind is CellKind.OTHER else "dates"
            raise AnalysisError(
                f"Column {quote_name(name)} holds {held}, which a formula cannot use.",
                advice="Turn it into a number first, e.g. days since a start.",
            )
        n_missing = int(cells.isna().sum())
        if n_missing:
            raise AnalysisError(
                f"Column {quote_name(name)} has {count(n_missing, 'missing value')} in "
                f"{self.name}.",
                advice="Impute the column, or leave it out of the formula.",
            )
        return cells

    def evaluate(self, expression: Expression) -> FloatArray:
        """Compute an expression, all of whose values must be finite numbers."""
        arrays = {name: _array(self.cells(name)) for name in expression.columns}
        values = expression.evaluate(arrays)
        if not arrays:
            values = np.repeat(values, len(self.frame))
        n_bad = int((~np.isfinite(values)).sum())
        if n_bad:
            raise AnalysisError(
                f"{expression} is not a finite number in {count(n_bad, 'row')} of {self.name}.",
                advice="Logarithms need positive numbers, and nothing can be divided by 0.",
            )
        return values

    def labels(self, name: str) -> Labels:
        """Return the categories of a column as text."""
        return _labels(self.cells(name))


def _array(cells: pd.Series) -> npt.NDArray[Any]:
    """Return numbers and booleans as numbers, anything else as text."""
    if cell_kind(cells) in (CellKind.NUMBER, CellKind.BOOLEAN):
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    return _labels(cells)


def _labels(cells: pd.Series) -> Labels:
    found = np.empty(len(cells), dtype=object)
    found[:] = [exact_text(cell) for cell in cells]
    return found


@dataclass(frozen=True)
class CategoryCoding:
    """The categories of a column, of which the first is what the others are compared with."""

    column: str
    labels: tuple[str, ...]

    @property
    def reference(self) -> str:
        """What the other categories are compared with."""
        return self.labels[0]

    def indicators(self, table: NamedTable, *, full: bool) -> FloatArray:
        """Return a column of 0 and 1 per category, `full` also for the reference."""
        cells = table.labels(self.column)
        unknown = sorted(set(cells) - set(self.labels))
        if unknown:
            raise AnalysisError(
                f"Column {quote_name(self.column)} has no category {unknown[0]!r} in the "
                "imputations.",
                advice=f"Its categories are {listed(self.labels, most=10)}.",
            )
        return np.equal.outer(cells, self._coded(full)).astype(np.float64)

    def names(self, *, full: bool) -> list[str]:
        """Return the names of these columns."""
        return [f"{self.column}[{label}]" for label in self._coded(full)]

    def _coded(self, full: bool) -> Labels:
        coded = np.empty(len(self.labels) - (not full), dtype=object)
        coded[:] = self.labels if full else self.labels[1:]
        return coded


@dataclass(frozen=True)
class TermColumns:
    """One term of a formula and its columns in the design matrix.

    Attributes
    ----------
    term : Term
        The term.
    full : frozenset of Factor
        Its categories that are coded without leaving a reference out.
    names : tuple of str
        Names of its columns.
    """

    term: Term
    full: frozenset[Factor]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """How the terms of a formula become a matrix, in the same way for every table.

    Attributes
    ----------
    codings : mapping of factor to CategoryCoding
        The factors that are categories.
    parts : tuple of TermColumns
        The terms with their columns, an intercept first.
    """

    codings: Mapping[Factor, CategoryCoding]
    parts: tuple[TermColumns, ...]

    @property
    def names(self) -> list[str]:
        """Names of the coefficients."""
        return [name for part in self.parts for name in part.names]

    def positions(self, term: Term) -> list[int]:
        """Return which coefficients belong to a term."""
        owners = [part.term for part in self.parts for _ in part.names]
        return [position for position, owner in enumerate(owners) if owner == term]

    def matrix(self, table: NamedTable) -> FloatArray:
        """Return the design matrix of a table."""
        columns: list[FloatArray] = [np.empty((len(table.frame), 0))]
        for part in self.parts:
            product = np.ones((len(table.frame), 1))
            for factor in part.term.factors:
                values = self._values(factor, table, full=factor in part.full)
                product = (product[:, :, None] * values[:, None, :]).reshape(len(product), -1)
            columns.append(product)
        return np.concatenate(columns, axis=1)

    def _values(self, factor: Factor, table: NamedTable, *, full: bool) -> FloatArray:
        if factor in self.codings:
            return self.codings[factor].indicators(table, full=full)
        assert isinstance(factor, Expression)
        return table.evaluate(factor)[:, None]


def make_design(
    formula: Formula,
    tables: Sequence[NamedTable],
    schema: Schema | None = None,
    *,
    drop_intercept: bool = False,
) -> Design:
    """Return how a formula becomes a matrix, with the categories of all tables together.

    Parameters
    ----------
    formula : Formula
        The terms.
    tables : sequence of NamedTable
        Tables whose categories count.
    schema : Schema, optional
        Columns with the role categorical or ordinal are categories even if their cells are numbers.
        The lowest level of an ordinal column is its reference.
    drop_intercept : bool, default False
        Whether to leave the intercept out after coding categories as if there were one, as a Cox
        regression needs.

    Notes
    -----
    As in R, a category leaves its reference out if the term without this factor is in the model
    too, and is coded in full otherwise, as the first category without an intercept is.
    """
    factors = dict.fromkeys(factor for term in formula.terms for factor in term.factors)
    codings = {
        factor: _coding(factor, tables, schema)
        for factor in factors
        if _is_category(factor, tables, schema)
    }
    _check_size(formula.terms, codings, n_rows=max(len(table.frame) for table in tables))
    has_constant = formula.intercept or drop_intercept
    terms = [Term(), *formula.terms] if has_constant else list(formula.terms)
    parts = _parts(terms, codings)
    return Design(codings, tuple(parts[1:] if drop_intercept else parts))


def _check_size(
    terms: Iterable[Term], codings: Mapping[Factor, CategoryCoding], n_rows: int
) -> None:
    """Refuse a design that would take all memory, before it is built."""
    n_coefficients = 1 + sum(
        math.prod(len(codings[factor].labels) for factor in term.factors if factor in codings)
        for term in terms
    )
    if n_coefficients > MAX_COEFFICIENTS or n_coefficients * n_rows > MAX_NUMBERS:
        raise AnalysisError(
            f"The formula has up to {count(n_coefficients, 'coefficient')}, which is too many for "
            f"{count(n_rows, 'row')}.",
            advice="Leave out terms, or interactions of columns with many categories.",
        )


def _parts(terms: Iterable[Term], codings: Mapping[Factor, CategoryCoding]) -> list[TermColumns]:
    parts: list[TermColumns] = []
    present: set[Term] = set()
    for term in terms:
        full = frozenset(
            factor
            for factor in term.factors
            if factor in codings and _without(term, factor) not in present
        )
        parts.append(TermColumns(term, full, tuple(_names(term, full, codings))))
        present.add(term)
        if len(term.factors) == 1 and full:
            present.add(Term())  # the indicators of all categories add up to a constant
    return parts


def _without(term: Term, factor: Factor) -> Term:
    return Term(tuple(other for other in term.factors if other != factor))


def _names(
    term: Term, full: frozenset[Factor], codings: Mapping[Factor, CategoryCoding]
) -> list[str]:
    if not term.factors:
        return [INTERCEPT]
    names = [""]
    for factor in term.factors:
        if factor in codings:
            own = codings[factor].names(full=factor in full)
        else:
            own = [factor.name if isinstance(factor, ColumnName) else str(factor)]
        names = [f"{first}:{second}" if first else second for first in names for second in own]
    return names


def _is_category(factor: Factor, tables: Sequence[NamedTable], schema: Schema | None) -> bool:
    if isinstance(factor, CategoryFactor):
        return True
    if not isinstance(factor, ColumnName):
        return False
    cells = [_existing(table, factor.name) for table in tables]
    if any(cell_kind(one) in (CellKind.LABEL, CellKind.BOOLEAN) for one in cells):
        return True
    column = column_of(schema, factor.name)
    return column is not None and column.role in CODED_ROLES


def column_of(schema: Schema | None, name: str) -> ColumnSchema | None:
    """Return what is known about a column by its name in a formula."""
    return next((column for column in schema or () if str(column.name) == name), None)


def _existing(table: NamedTable, name: str) -> pd.Series:
    check_names([name], table.columns)
    return table.frame[table.columns[name]]


def _coding(factor: Factor, tables: Sequence[NamedTable], schema: Schema | None) -> CategoryCoding:
    (name,) = factor.columns
    labels = categories_of([_existing(table, name) for table in tables], column_of(schema, name))
    shown = quote_name(name)
    if len(labels) > MAX_CATEGORIES:
        raise AnalysisError(
            f"Column {shown} has {count(len(labels), 'category', 'categories')}, but at most "
            f"{MAX_CATEGORIES} are allowed.",
            advice="Use it as a number, or leave it out.",
        )
    reference = factor.reference if isinstance(factor, CategoryFactor) else None
    if reference is not None:
        if exact_text(reference) not in labels:
            raise AnalysisError(
                f"Column {shown} has no category {exact_text(reference)!r}.",
                advice=f"Its categories are {listed(labels, most=10)}.",
            )
        labels = [
            exact_text(reference),
            *(label for label in labels if label != exact_text(reference)),
        ]
    if len(labels) < 2:
        raise AnalysisError(
            f"Column {shown} has only one category, so nothing can be compared.",
            advice="Leave it out of the formula.",
        )
    return CategoryCoding(name, tuple(labels))


def categories_of(columns: Sequence[pd.Series], known: ColumnSchema | None = None) -> list[str]:
    """Return the categories of a column in several tables together, in their order.

    The levels of an ordinal column and declared categories keep their order; numbers, booleans and
    text are sorted.

    Parameters
    ----------
    columns
        The column in each table.
    known
        Its role, and its levels if it is ordinal.

    Examples
    --------
    >>> categories_of([pd.Series([10, 2, None]), pd.Series([3, 2])])
    ['2', '3', '10']
    """
    present = {label for column in columns for label in _labels(column.dropna())}
    if known is not None and known.role is Role.ORDINAL:
        everywhere = pd.concat([column.dropna().astype(object) for column in columns])
        levels = known.rules.levels or levels_of(everywhere)
        return [label for level in levels if (label := exact_text(level)) in present]
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        declared = (exact_text(value) for column in columns for value in column.cat.categories)
        return [label for label in dict.fromkeys(declared) if label in present]
    if all(cell_kind(column) is CellKind.NUMBER for column in columns):
        return sorted(present, key=float)
    return sorted(present)
