"""Where an analysis uses what the imputation did not know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pmae_core.expressions import (
    CategoryFactor,
    ColumnName,
    Formula,
    SurvivalOutcome,
    Term,
    parse_formula,
    quote_name,
)
from pmae_core.table import NotLearned, Schema
from pmae_core.words import listed


def check_congeniality(
    formula: str | Formula,
    schema: Schema,
    not_learned: Mapping[Any, NotLearned] | Collection[Any] = (),
) -> list[str]:
    """Warn where a formula uses what the imputation did not.

    Parameters
    ----------
    formula : str or Formula
        The analysis.
    schema : Schema
        Roles of the columns when the table was imputed.
    not_learned : mapping of name to NotLearned, or collection of names
        Columns that were not learned for other reasons, as `Schema.not_learned` returns them.

    Returns
    -------
    list of str
        Sentences; empty if nothing speaks against the analysis.

    Notes
    -----
    An imputation that does not know a column or an interaction of the analysis tends to
    pull its coefficient toward zero, as imputed values carry no trace of it.

    Examples
    --------
    >>> import pandas as pd
    >>> schema = Schema.infer(pd.DataFrame({"x": [1.5, 2.5], "y": [1.5, 0.5]}))
    >>> check_congeniality("y ~ x", schema.with_roles({"x": "ignored"}))
    ['x was not used by the imputation (its role is ignored): imputed values carry no relation to \
it, so its coefficient tends toward 0.']
    """
    asked = parse_formula(formula) if isinstance(formula, str) else formula
    asked = asked.for_columns(str(name) for name in schema.learned())
    reasons = {str(name): _clause(why) for name, why in _reasons(schema, not_learned).items()}
    return [
        *(_unseen(name, reasons[name]) for name in asked.columns if name in reasons),
        *_interactions(asked),
        *_curves(asked),
    ]


def _reasons(
    schema: Schema, not_learned: Mapping[Any, NotLearned] | Collection[Any]
) -> dict[Any, NotLearned | None]:
    given = dict(not_learned) if isinstance(not_learned, Mapping) else dict.fromkeys(not_learned)
    # A constant column is no predictor in the analysis either.
    own = {name: why for name, why in schema.not_learned().items() if not why.imputed}
    return {**own, **given}


def _clause(reason: NotLearned | None) -> str:
    return f" ({NotLearned(reason).clause})" if reason is not None else ""


def _unseen(name: str, reason: str) -> str:
    return (
        f"{quote_name(name)} was not used by the imputation{reason}: imputed values carry no "
        "relation to it, so its coefficient tends toward 0."
    )


def _interactions(formula: Formula) -> Iterator[str]:
    crossed = [str(term) for term in formula.terms if len(term.columns) > 1]
    if crossed:
        yield (
            f"The formula has {_the('interaction', crossed)} {listed(crossed)}. Methods that model "
            "columns as linear do not know it, so its coefficient tends toward 0. Use a method "
            "that finds interactions, such as missforest or pmae, and compare."
        )


def _curves(formula: Formula) -> Iterator[str]:
    terms = [str(term) for term in formula.terms if len(term.columns) == 1 and _is_curved(term)]
    outcome = formula.outcome
    if not isinstance(outcome, SurvivalOutcome | ColumnName) and not outcome.is_comparison:
        terms = [str(outcome), *terms]
    if terms:
        yield (
            f"The formula transforms columns: {listed(terms)}. Imputed values follow the relation "
            "of the columns as they are, and may not follow the transformed one. Impute the "
            "transformed column, or use a method that finds curves, such as missforest or pmae."
        )


def _is_curved(term: Term) -> bool:
    return not all(isinstance(factor, ColumnName | CategoryFactor) for factor in term.factors)


def _the(noun: str, some: Collection[str]) -> str:
    return f"the {noun}" if len(some) == 1 else f"the {noun}s"
