"""The formula behind the controls of the page: boxes write into it, typing changes the boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pmae_core.errors import ExpressionError
from pmae_core.expressions import ColumnName, Formula, SurvivalOutcome, Term, parse_formula
from pmae_core.inference.design import MAX_CATEGORIES
from pmae_core.inference.fitting import Family
from pmae_core.table import Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells

FIRST_PREDICTORS = 3
# Counts beyond this mean are close enough to a normal distribution for a linear regression.
LARGEST_MEAN_COUNT = 10
_FEW_CATEGORIES = 6


@dataclass(frozen=True)
class Picked:
    """What the boxes show: the columns of a formula.

    Attributes
    ----------
    outcome : str or None
        The column of the outcome; of several, the first.
    predictors : list of str
        The columns of the terms.
    """

    outcome: str | None
    predictors: list[str]


def usable_columns(frame: pd.DataFrame, schema: Schema) -> list[str]:
    """Return the columns that a formula can use: numbers and categories, neither names nor dates.

    Parameters
    ----------
    frame : DataFrame
        The table.
    schema : Schema
        The roles of its columns.
    """
    return [
        str(column.name)
        for column in schema
        if column.role not in (Role.IDENTIFIER, Role.DATETIME)
        and (kind := cell_kind(frame[column.name]))
        in (CellKind.NUMBER, CellKind.BOOLEAN, CellKind.LABEL)
        and column.n_observed
        and (kind is CellKind.NUMBER or column.n_unique <= MAX_CATEGORIES)
    ]


def first_formula(frame: pd.DataFrame, schema: Schema) -> str:
    """Return a formula to begin with: the number with the most missing values on some columns.

    Parameters
    ----------
    frame : DataFrame
        The table.
    schema : Schema
        The roles of its columns.
    """
    learned = {str(name) for name in schema.learned()}
    usable = [name for name in usable_columns(frame, schema) if name in learned]
    columns = {str(column.name): column for column in schema}
    numbers = [name for name in usable if columns[name].role is Role.NUMERICAL]
    candidates = numbers or usable
    if not candidates:
        return ""
    outcome = min(candidates, key=lambda name: columns[name].n_observed)
    simple = [
        name for name in usable if name in numbers or columns[name].n_unique <= _FEW_CATEGORIES
    ]
    terms = [Term((ColumnName(name),)) for name in simple if name != outcome]
    return str(Formula(ColumnName(outcome), tuple(terms[:FIRST_PREDICTORS]), intercept=True))


def read(text: str) -> Formula | None:
    """Return a formula, None if the text is none."""
    try:
        return parse_formula(text)
    except ExpressionError:
        return None


def picked(text: str, usable: Sequence[str]) -> Picked:
    """Return what the boxes show for a formula.

    Parameters
    ----------
    text : str
        What is typed.
    usable : sequence of str
        The columns that the boxes offer.

    Examples
    --------
    >>> picked("log(pay) ~ age * sex", ["pay", "age", "sex"])
    Picked(outcome='pay', predictors=['age', 'sex'])
    """
    formula = read(text)
    if formula is None:
        return Picked(None, [])
    formula = formula.for_columns(usable)
    outcome = next((name for name in formula.outcome.columns if name in usable), None)
    of_terms = dict.fromkeys(name for term in formula.terms for name in term.columns)
    return Picked(outcome, [name for name in of_terms if name in usable])


def with_outcome(text: str, name: str) -> str:
    """Return a formula with another outcome; terms with this column leave.

    Examples
    --------
    >>> with_outcome("log(pay) ~ age + I(age ** 2) + sex", "age")
    'age ~ sex'
    """
    formula = read(text) or Formula(ColumnName(name), (), intercept=True)
    terms = tuple(term for term in formula.terms if name not in term.columns)
    return str(replace(formula, outcome=ColumnName(name), terms=terms))


def with_predictors(text: str, names: Sequence[str], usable: Sequence[str]) -> str:
    """Return a formula with other columns in its terms; terms of columns that stay are kept.

    Parameters
    ----------
    text : str
        The formula before.
    names : sequence of str
        The columns that the terms shall have.
    usable : sequence of str
        The columns that a dot stands for.

    Examples
    --------
    >>> with_predictors("log(pay) ~ log(age) + sex", ["age", "town"], ["pay", "age", "sex", "town"])
    'log(pay) ~ log(age) + town'
    """
    formula = read(text)
    if formula is None:
        return text
    formula = formula.for_columns(usable)
    kept = [term for term in formula.terms if set(term.columns) <= set(names)]
    covered = {name for term in kept for name in term.columns}
    new = [Term((ColumnName(name),)) for name in names if name not in covered]
    return str(replace(formula, terms=(*kept, *new), template=None))


def suggested_family(text: str, frame: pd.DataFrame) -> Family:
    """Return the kind of regression that fits the kind of the outcome.

    Parameters
    ----------
    text : str
        The formula; a linear regression is suggested for what is none.
    frame : DataFrame
        The table with its missing values.
    """
    formula = read(text)
    if formula is None:
        return "ols"
    outcome = formula.outcome
    if isinstance(outcome, SurvivalOutcome):
        return "cox"
    if not isinstance(outcome, ColumnName):
        return "logistic" if outcome.is_comparison else "ols"
    columns = {str(name): name for name in frame.columns}
    return _family_of(frame[columns[outcome.name]]) if outcome.name in columns else "ols"


def _family_of(cells: pd.Series) -> Family:
    if cell_kind(cells) is not CellKind.NUMBER:
        return "logistic"
    numbers = NumberCells.fit(cells).read(cells)
    values = numbers[np.isfinite(numbers)]
    if set(np.unique(values)) == {0.0, 1.0}:
        return "logistic"
    is_count = values.size and (values >= 0).all() and (values == np.rint(values)).all()
    if is_count and values.min() == 0 and values.mean() < LARGEST_MEAN_COUNT:
        return "poisson"
    return "ols"
