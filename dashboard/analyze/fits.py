"""The regression of the page: fitted to every imputation of a run, and kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.impute.completed_tables import CompletedTable
from pmae_core.expressions import ColumnName, Formula, Term, check_names, parse_formula
from pmae_core.inference import Analysis, analyze
from pmae_core.inference.design import (
    Design,
    NamedTable,
    TermColumns,
    categories_of,
    column_of,
    make_design,
)
from pmae_core.inference.fitting import Family
from pmae_core.table import Schema
from pmae_core.table.cells import CellKind, cell_kind


@dataclass(frozen=True)
class ModelRequest:
    """A regression as it is asked for.

    Attributes
    ----------
    formula, family, errors, weights
        As in :func:`pmae_core.inference.analyze`.
    """

    formula: str
    family: Family = "ols"
    errors: str = "nonrobust"
    weights: str | None = None


@dataclass(frozen=True)
class Coefficient:
    """What a coefficient is about.

    Attributes
    ----------
    name : str
        Its name in the table of results.
    term : Term
        The term it belongs to; without factors, the intercept.
    category, reference : str or None
        The category it is about and the one that it is compared with, where there are such.
    spread : float
        Standard deviation of its numbers in the first imputation; 1 for a category.
    is_alone : bool
        Whether its columns are in no other term, so that it describes them by itself.
    """

    name: str
    term: Term
    category: str | None
    reference: str | None
    spread: float
    is_alone: bool


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A regression on the imputations of a run.

    Attributes
    ----------
    request : ModelRequest
        What was asked.
    analysis : Analysis
        The result.
    coefficients : dict of str to Coefficient
        What the coefficients are about, by name.
    event : str or None
        Of a logistic regression on a category, the category whose odds it is about.
    seconds : float
        How long it took.
    """

    request: ModelRequest
    analysis: Analysis
    coefficients: Mapping[str, Coefficient]
    event: str | None
    seconds: float

    @property
    def names(self) -> list[str]:
        """The coefficients but the intercept."""
        return [name for name, one in self.coefficients.items() if one.term.factors]


def is_pooled(completed: CompletedTable) -> bool:
    """Say whether a run has several imputations."""
    return completed.n_imputations > 1


def fit_model(completed: CompletedTable, request: ModelRequest) -> FittedModel:
    """Return a regression on the imputations of a run; fitted once, then kept.

    Raises
    ------
    ExpressionError, AnalysisError
        If it cannot be read or fitted; a sentence.
    """
    return _fitted(completed.key, _key(request), request, completed)


@st.cache_resource(max_entries=16, show_spinner="Fitting the model to every imputation …")
def _fitted(
    key: tuple[Any, ...], asked: tuple[Any, ...], _request: ModelRequest, _completed: CompletedTable
) -> FittedModel:
    start = time.perf_counter()
    columns = needed_columns(_completed, _request)
    tables = imputations(_completed, columns)
    original = _completed.frame[columns]
    analysis = run_analysis(_completed, _request, tables, original=original)
    seconds = time.perf_counter() - start
    return FittedModel(
        request=_request,
        analysis=analysis,
        coefficients=_describe(analysis, tables, original, schema_for(_completed, columns)),
        event=_event(analysis, [*tables, original], _completed.schema),
        seconds=seconds,
    )


def run_analysis(
    completed: CompletedTable,
    request: ModelRequest,
    tables: Sequence[pd.DataFrame],
    *,
    original: pd.DataFrame | None = None,
) -> Analysis:
    """Fit a regression to tables with the columns it needs."""
    return analyze(
        tables,
        request.formula,
        request.family,
        weights=request.weights,
        errors=request.errors,
        original=original,
        schema=schema_for(completed, tables[0].columns),
    )


def needed_columns(completed: CompletedTable, request: ModelRequest) -> list[Any]:
    """Return the columns of a regression, as the table names them.

    Raises
    ------
    ExpressionError
        If the formula cannot be read, or names a column that does not exist.
    """
    formula = parse_formula(request.formula)
    columns = {str(name): name for name in completed.frame.columns}
    check_names(formula.columns, columns)
    if formula.template is not None:
        return list(columns.values())
    apart = [name for name in (request.weights, request.errors) if name in columns]
    return [columns[name] for name in dict.fromkeys([*formula.columns, *apart])]


def imputations(completed: CompletedTable, columns: Sequence[Any]) -> list[pd.DataFrame]:
    """Return some columns of all imputations of a run; of the imputed table if it has just one."""
    if is_pooled(completed):
        return _imputations(completed.key, tuple(map(str, columns)), list(columns), completed)
    return [completed.imputed_frame[list(columns)]]


@st.cache_resource(max_entries=2, show_spinner=False)
def _imputations(
    key: tuple[Any, ...], names: tuple[str, ...], _columns: list[Any], _completed: CompletedTable
) -> list[pd.DataFrame]:
    return _completed.imputations(_columns)


def schema_for(completed: CompletedTable, columns: Sequence[Any]) -> Schema:
    """Return the roles of some columns."""
    wanted = set(columns)
    return Schema(tuple(column for column in completed.schema if column.name in wanted))


def _key(request: ModelRequest) -> tuple[Any, ...]:
    return request.formula, request.family, request.errors, request.weights


def _describe(
    analysis: Analysis, tables: Sequence[pd.DataFrame], original: pd.DataFrame, schema: Schema
) -> dict[str, Coefficient]:
    named = [NamedTable(table, "the imputations") for table in (*tables, original)]
    is_cox = analysis.family == "cox"
    design = make_design(analysis.formula, named, schema, drop_intercept=is_cox)
    spreads = iter(_spreads(design.matrix(named[0])))
    return {
        name: _coefficient(name, part, design, analysis.formula, next(spreads))
        for part in design.parts
        for name in part.names
    }


def _spreads(matrix: np.ndarray) -> list[float]:
    """Return the standard deviation of each column, 1 for those of 0 and 1 or without any."""
    is_indicator = ((matrix == 0) | (matrix == 1)).all(axis=0)
    spreads = np.where(is_indicator, 1.0, matrix.std(axis=0))
    return np.where(spreads > 0, spreads, 1.0).tolist()


def _coefficient(
    name: str, part: TermColumns, design: Design, formula: Formula, spread: float
) -> Coefficient:
    term = part.term
    category = reference = None
    if len(term.factors) == 1 and term.factors[0] in design.codings:
        coding = design.codings[term.factors[0]]
        category = name.removeprefix(f"{coding.column}[").removesuffix("]")
        # Without an intercept, each category has its own level, and none is compared with.
        reference = None if term.factors[0] in part.full else coding.reference
    others = {column for other in formula.terms if other != term for column in other.columns}
    return Coefficient(
        name=name,
        term=term,
        category=category,
        reference=reference,
        spread=spread,
        is_alone=not others & set(term.columns),
    )


def _event(analysis: Analysis, tables: Sequence[pd.DataFrame], schema: Schema) -> str | None:
    outcome = analysis.formula.outcome
    if analysis.family != "logistic" or not isinstance(outcome, ColumnName):
        return None
    columns = [table[own] for table in tables for own in table.columns if str(own) == outcome.name]
    is_category = any(cell_kind(one) in (CellKind.LABEL, CellKind.BOOLEAN) for one in columns)
    return categories_of(columns, column_of(schema, outcome.name))[1] if is_category else None
