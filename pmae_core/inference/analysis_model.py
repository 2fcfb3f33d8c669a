"""A regression made ready for several tables: formula, design, weights and kind of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pmae_core.errors import AnalysisError
from pmae_core.expressions import (
    ColumnName,
    Expression,
    Formula,
    SurvivalOutcome,
    check_names,
    quote_name,
)
from pmae_core.inference.design import Design, NamedTable, categories_of, column_of, make_design
from pmae_core.inference.fitting import (
    FAMILIES,
    ROBUST_ERRORS,
    Family,
    FloatArray,
    RegressionData,
    RegressionFit,
    fit_regression,
)
from pmae_core.table import Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.words import listed


@dataclass(frozen=True)
class AnalysisModel:
    """A regression that can be fitted to any of several tables in the same way.

    Attributes
    ----------
    formula : Formula
        The formula, with columns in place of a dot.
    family : {"ols", "logistic", "poisson", "cox"}
        The kind of regression.
    design : Design
        How the terms become a matrix.
    weights, clusters : str or None
        Columns of weights and clusters.
    errors : str
        Kind of the standard errors: "nonrobust", "HC0" to "HC3" or "cluster".
    event_category : str, optional
        The category whose odds a logistic regression is about, where the outcome is a category.
    """

    formula: Formula
    family: Family
    design: Design
    weights: str | None
    clusters: str | None
    errors: str
    event_category: str | None = None

    @classmethod
    def prepare(
        cls,
        formula: Formula,
        family: Family,
        tables: Sequence[NamedTable],
        *,
        weights: str | None,
        errors: str,
        schema: Schema | None,
    ) -> AnalysisModel:
        """Return the model of a formula, after checking that its parts fit together."""
        clusters = None if errors in ("nonrobust", *ROBUST_ERRORS) else errors
        apart = {name for name in (weights, clusters) if name}
        formula = formula.for_columns(_explaining(tables[0], schema, apart))
        _check_family(formula, family, clusters, errors)
        if clusters and clusters not in tables[0].columns:
            kinds = listed(["nonrobust", *ROBUST_ERRORS], most=5)
            raise AnalysisError(
                f"{clusters!r} is neither a kind of standard errors nor a column of clusters.",
                advice=f"The kinds are {kinds}.",
            )
        for table in tables:
            check_names([*formula.columns, *apart], table.columns)
        is_cox = family == "cox"
        return cls(
            formula=formula,
            family=family,
            design=make_design(formula, tables, schema, drop_intercept=is_cox),
            weights=weights,
            clusters=clusters,
            errors="cluster" if clusters else errors,
            event_category=_event_category(formula, tables, schema)
            if family == "logistic"
            else None,
        )

    @property
    def columns(self) -> list[str]:
        """Names of all columns that are needed."""
        others = [name for name in (self.weights, self.clusters) if name]
        return list(dict.fromkeys([*self.formula.columns, *others]))

    def fit(self, table: NamedTable) -> RegressionFit:
        """Fit the regression to one table."""
        data = self._data(table)
        try:
            return fit_regression(self.family, data, self.errors)
        except AnalysisError as error:
            where = f"{table.name[0].upper()}{table.name[1:]}"
            raise AnalysisError(
                f"{where}: {error.problem}", code=error.code, advice=error.advice
            ) from error

    def _data(self, table: NamedTable) -> RegressionData:
        if not len(table.frame):
            raise AnalysisError(f"There are no rows in {table.name}.")
        outcome, event = self._outcome(table)
        return RegressionData(
            outcome=outcome,
            event=event,
            design=self.design.matrix(table),
            names=self.design.names,
            weights=self._weights(table),
            clusters=table.labels(self.clusters).astype(str) if self.clusters else None,
        )

    def _outcome(self, table: NamedTable) -> tuple[FloatArray, FloatArray | None]:
        """Return the outcome, and which rows have an event in a Cox regression."""
        outcome = self.formula.outcome
        if isinstance(outcome, SurvivalOutcome):
            time, event = table.evaluate(outcome.time), table.evaluate(outcome.event)
            _check_binary(event, outcome.event, table)
            _refuse_if(bool((time < 0).any()), f"{outcome.time} is negative in", table)
            _refuse_if(not event.any(), f"No row has an event ({outcome.event}) in", table)
            return time, event
        if self.event_category is not None:
            return (table.labels(outcome.columns[0]) == self.event_category).astype(float), None
        values = table.evaluate(outcome)
        if self.family == "logistic":
            _check_binary(values, outcome, table)
        if self.family == "poisson":
            is_count = (values >= 0) & (values == np.round(values))
            _refuse_if(
                not is_count.all(),
                f"{outcome} is not a count (a whole number from 0) in every row of",
                table,
                "Round it, or use the family ols.",
            )
        if self.family in ("ols", "poisson", "logistic"):
            _refuse_if(np.ptp(values) == 0, f"{outcome} has the same value in every row of", table)
        return values, None

    def _weights(self, table: NamedTable) -> FloatArray | None:
        if self.weights is None:
            return None
        weights = table.evaluate(ColumnName(self.weights))
        _refuse_if(
            not (weights > 0).all(),
            f"The weights in {quote_name(self.weights)} are not positive in every row of",
            table,
        )
        return weights


def _refuse_if(is_bad: bool | np.bool_, problem: str, table: NamedTable, advice: str = "") -> None:
    if is_bad:
        raise AnalysisError(f"{problem} {table.name}.", advice=advice)


def _check_binary(values: FloatArray, outcome: Expression, table: NamedTable) -> None:
    _refuse_if(
        not np.isin(values, (0.0, 1.0)).all(),
        f"{outcome} is neither 0 nor 1 in some rows of",
        table,
        f"Compare it with a value, as in {outcome} == 2.",
    )


def _explaining(table: NamedTable, schema: Schema | None, apart: set[str]) -> list[str]:
    """Return the columns that a dot stands for: neither names of rows nor dates."""
    schema = Schema.infer(table.frame) if schema is None else schema
    left_out = {str(name) for name in schema.names(Role.IDENTIFIER, Role.IGNORED, Role.DATETIME)}
    return [name for name in table.columns if name not in left_out | apart]


def _check_family(formula: Formula, family: str, clusters: str | None, errors: str) -> None:
    if family not in FAMILIES:
        raise AnalysisError(
            f"There is no family {family!r}.",
            advice=f"Choose {listed(FAMILIES, most=len(FAMILIES), last='or')}.",
        )
    is_survival = isinstance(formula.outcome, SurvivalOutcome)
    if is_survival != (family == "cox"):
        raise AnalysisError(
            "A Cox regression needs the outcome Surv(time, event), and no other family has it.",
            advice="Write Surv(time, event) ~ ... and choose the family cox, or neither.",
        )
    if family == "cox" and (clusters or errors != "nonrobust"):
        raise AnalysisError(
            "Robust and clustered standard errors are not available for a Cox regression.",
            advice="Choose nonrobust errors.",
        )
    if not formula.terms and (family == "cox" or not formula.intercept):
        raise AnalysisError("The formula has no terms.", advice="Add a column right of ~.")


def _event_category(
    formula: Formula, tables: Sequence[NamedTable], schema: Schema | None
) -> str | None:
    """Return the second of the two categories of an outcome, None if the outcome is a number."""
    outcome = formula.outcome
    if not isinstance(outcome, ColumnName):
        return None
    columns = [table.frame[table.columns[outcome.name]] for table in tables]
    if not any(cell_kind(column) in (CellKind.LABEL, CellKind.BOOLEAN) for column in columns):
        return None
    labels = categories_of(columns, column_of(schema, outcome.name))
    if len(labels) != 2:
        example = f'{outcome} == "{labels[0]}"' if labels else f"{outcome} == 1"
        raise AnalysisError(
            f"The outcome {outcome} has {len(labels)} categories ({listed(labels)}), but a "
            "logistic regression needs two.",
            advice=f"Compare it with one of them, as in {example}.",
        )
    return labels[1]
