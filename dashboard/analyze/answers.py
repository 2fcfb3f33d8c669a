"""What a pooled regression says, in sentences no stronger than the data allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.analyze.fits import Coefficient, FittedModel, is_pooled
from dashboard.analyze.scales import EffectScale
from dashboard.impute.completed_tables import CompletedTable, method_of
from dashboard.text import code, plain
from dashboard.widgets.methods import known_methods
from pmae_core.expressions import CategoryFactor, ColumnName
from pmae_core.inference import check_congeniality
from pmae_core.words import count, listed, percent

MAR = (
    "The intervals assume that values are missing at random (MAR) given the observed columns. "
    "The data cannot test this; **What if** shows how much depends on it."
)
SINGLE = (
    "A single imputation: the intervals ignore imputation uncertainty and are too narrow. "
    "Choose a method that produces several (20 are a good start)."
)


def answer(fitted: FittedModel, name: str) -> str:
    """Return what the imputations say about a coefficient, and what complete cases say.

    Parameters
    ----------
    fitted : FittedModel
        The regression.
    name : str
        The coefficient.

    Returns
    -------
    str
        Markdown.
    """
    parts = [f"{_pooled_sentence(fitted, name)} {_complete_sentence(fitted, name)}".strip()]
    coefficient = fitted.coefficients[name]
    if coefficient.term.factors and not coefficient.is_alone:
        parts.append(
            "Other terms use the same columns, so this coefficient alone does not describe them."
        )
    return " ".join(parts)


def _pooled_sentence(fitted: FittedModel, name: str) -> str:
    row, scale = row_of(fitted.analysis.table, name), EffectScale.of(fitted)
    coefficient = fitted.coefficients[name]
    interval = f"{_level(fitted)} interval {_ends(row, scale)}"
    several = fitted.analysis.n_imputations
    source = f"pooled over {several} imputations" if several > 1 else "from a single imputation"
    others = ", other predictors being equal" if len(fitted.analysis.formula.terms) > 1 else ""
    if not _is_told_in_words(coefficient):
        effect = fitted.analysis.effect or "coefficient"
        estimate, ends = _on_own_scale(fitted, row)
        interval = f"{_level(fitted)} interval {ends}"
        return f"**The {effect} of {code(name)} is {estimate}** ({interval}), {source}."
    who, than = _comparison(coefficient)
    if row["low"] <= 0 <= row["high"]:
        return (
            f"**The data leave open whether {who} goes with higher or lower {scale.subject}"
            f"{than}**{others}: the estimate is {scale.change(row['estimate'])} ({interval}), "
            f"{source}."
        )
    return (
        f"**{who[0].upper()}{who[1:]} goes with {scale.change(row['estimate'])}{than}** "
        f"({interval}){others}; {source}."
    )


def _complete_sentence(fitted: FittedModel, name: str) -> str:
    complete = fitted.analysis.complete_cases
    if complete is None:
        return "The complete cases cannot be analyzed; **Checks** says why."
    row = row_of(complete, name)
    rows = f"{int(row['n_rows']):,} of {fitted.analysis.n_rows:,} rows"
    scale = EffectScale.of(fitted)
    estimate, ends = (
        (scale.text(row["estimate"]), _ends(row, scale))
        if _is_told_in_words(fitted.coefficients[name])
        else _on_own_scale(fitted, row)
    )
    return f"Complete cases ({rows}) give {estimate} ({ends})."


def _is_told_in_words(coefficient: Coefficient) -> bool:
    """Say whether a coefficient compares rows that differ in one thing alone."""
    is_level = coefficient.category is not None and coefficient.reference is None
    return len(coefficient.term.factors) == 1 and coefficient.is_alone and not is_level


def _comparison(coefficient: Coefficient) -> tuple[str, str]:
    """Return what goes with a change, and than what else: "`sex` Male", " than Female"."""
    (factor,) = coefficient.term.factors
    if coefficient.category is not None:
        (column,) = factor.columns
        than = f" than {plain(coefficient.reference)}"
        return f"{code(column)} {plain(coefficient.category)}", than
    if isinstance(factor, ColumnName | CategoryFactor):
        return f"each additional unit of {code(factor.columns[0])}", ""
    if factor.is_comparison:
        return f"{code(factor)}", " than otherwise"
    return f"each additional unit of {code(factor)}", ""


def row_of(table: Any, name: str) -> Mapping[str, Any]:
    """Return the row of a coefficient in a table of results."""
    (row,) = table[table["term"] == name].to_dict("records")
    return row


def _ends(row: Mapping[str, Any], scale: EffectScale) -> str:
    return f"{scale.text(row['low'])} to {scale.text(row['high'])}"


def _on_own_scale(fitted: FittedModel, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return an estimate and its interval as the table has them: a ratio or a coefficient."""
    scale = EffectScale("ratio" if fitted.analysis.effect else "difference", "")
    return scale.text(row["estimate"]), _ends(row, scale)


def _level(fitted: FittedModel) -> str:
    return percent(fitted.analysis.confidence)


# What to know before trusting it


def warnings(completed: CompletedTable, fitted: FittedModel) -> list[str]:
    """Return what speaks against taking the intervals at their word, as Markdown.

    Parameters
    ----------
    filling : Filling
        The run.
    fitted : FittedModel
        The regression on it.
    """
    found = [] if is_pooled(completed) else [SINGLE]
    if is_pooled(completed) and (improper := improper_sentence(method_of(completed.record))):
        found.append(improper)
    analysis = fitted.analysis
    found += [plain(one) for one in check_congeniality(analysis.formula, completed.schema)]
    return found


def improper_sentence(method: str | None) -> str | None:
    """Say that a method's imputations lack a part of the uncertainty; None if they do not."""
    info = known_methods().get(method or "")
    if info is None or info.is_proper:
        return None
    proper = [one.title for one in known_methods().values() if one.is_proper]
    instead = f" Methods that include it: {plain(listed(proper))}." if proper else ""
    return (
        f"Imputations by {plain(info.title)} do not include the uncertainty of the fitted "
        f"imputation model itself, so the intervals can be too narrow.{instead}"
    )


def caveat(n_warnings: int) -> str:
    """Return the line beside the choice of details.

    Examples
    --------
    >>> caveat(0), caveat(2)
    ('Assumes MAR.', 'Assumes MAR; 2 warnings in **Checks**.')
    """
    return (
        f"Assumes MAR; {count(n_warnings, 'warning')} in **Checks**."
        if n_warnings
        else "Assumes MAR."
    )
