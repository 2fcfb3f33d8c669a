"""The rule of an amputation in words, and the part of its weights that is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from dashboard.text import code
from pmae_core.amputation import Amputation, AmputationRule
from pmae_core.table import Role, Schema
from pmae_core.words import count, decimals, listed, percent

Kind = Literal["MCAR", "MAR", "MNAR", "self-masking"]

MOST_IN_MATRIX = 14
MOST_IN_WORDS = 3
WEIGHT_WORDS = (
    "A weight of 0.7 means: if the driving column is one standard deviation higher and nothing "
    "else changes, the log-odds of being missing rise by 0.7, so the odds double. Categories have "
    "no direction; their weight is the standard deviation of their effects."
)


def rule_of(made: Amputation) -> AmputationRule:
    """Return the rule of an amputation that has one."""
    if made.rule is None:
        raise ValueError("Missing values of another table have no rule.")
    return made.rule


def kind_of(rule: AmputationRule, column: Any) -> Kind:
    """Return the mechanism by which a column loses values, as its weights show it."""
    drivers = set(rule.scores[column].weights)
    if not drivers:
        return "MCAR"
    if drivers == {column}:
        return "self-masking"
    # Values that depend on a column with missing values depend on something unknown.
    return "MNAR" if drivers & set(rule.scores) else "MAR"


def rule_sentence(made: Amputation, column: Any, schema: Schema) -> str:
    """Say which columns decide whether a value of the highlighted column is missing."""
    rule, name = made.rule, code(column)
    if rule is None:
        return "Each row takes the missing values of a random row, whatever its own values are."
    if column not in rule.scores:
        return f"No values of {name} are removed. {_driven_sentence(rule.weights, column)}"
    chance = made.chance_missing[column]
    if chance.max() == 0:
        return (
            f"No missing values of {name} remain: every row that lost {name} lost all its values "
            "and was dropped."
        )
    weights = strongest_first(rule.weights[column])
    if weights.empty:
        return (
            f"Chance alone decides: every row has the same {percent(chance.mean())} chance of "
            f"missing {name}."
        )
    conditions = [
        _condition(rule, driver, column, schema.role(driver))
        for driver in weights.index[:MOST_IN_WORDS]
    ]
    sentence = f"{name} is missing more often where {listed(conditions)}."
    if n_others := len(weights) - len(conditions):
        others = count(n_others, "other column counts", "other columns count")
        sentence += f" {others} less."
    return sentence


def strongest_first(weights: pd.Series) -> pd.Series:
    """Return the weights that are not 0, the largest first, whatever their sign."""
    driving = weights[weights != 0]
    return driving.iloc[np.argsort(-driving.abs().to_numpy(), kind="stable")]


def _driven_sentence(weights: pd.DataFrame, driver: Any) -> str:
    driven = strongest_first(weights.loc[driver]) if driver in weights.index else pd.Series()
    if driven.empty:
        return "It does not decide which other values are missing."
    most = f"{code(driven.index[0])} (weight {decimals(driven.iloc[0])})"
    if len(driven) == 1:
        return f"It drives the missing values of {most}."
    return f"It drives the missing values of {count(len(driven))} columns, such as {most}."


def _condition(rule: AmputationRule, driver: Any, column: Any, role: Role) -> str:
    """Return where a value is missing more often, by one of the columns that drive it."""
    weight = rule.weights.loc[driver, column]
    name = "its own value" if driver == column else code(driver)
    if rule.drivers[driver].categorical:
        where = code(rule.category_weights(driver, column).idxmax())
    elif role is Role.DATETIME:
        where = "late" if weight > 0 else "early"
    else:
        where = "high" if weight > 0 else "low"
    return f"{name} is {where} (weight {decimals(weight)})"


@dataclass(frozen=True)
class RuleMatrix:
    """The weights that a figure shows: driving columns down, columns with missing values across.

    Attributes
    ----------
    weights : DataFrame
        0 where a column does not drive another. If all columns share one rule, a single column.
    has_direction : bool array
        Which driving columns have high and low values; the others have categories.
    own : bool array of the weights' shape
        Where a column drives its own missing values, or those of the highlighted column if all
        share one rule.
    highlighted : hashable or None
        The highlighted column if the weights have it.
    is_complete : bool
        Whether every weight is shown.
    """

    weights: pd.DataFrame
    has_direction: np.ndarray
    own: np.ndarray
    highlighted: Any
    is_complete: bool


def matrix_sentence(matrix: RuleMatrix) -> str:
    """Say which weights are not drawn, and where they are."""
    if matrix.is_complete:
        return ""
    return "The tab All weights has the others."


def weights_table(made: Amputation) -> pd.DataFrame:
    """Return all weights, driving columns with the largest ones first."""
    weights = rule_of(made).weights
    order = np.argsort(-weights.abs().max(axis=1).to_numpy(), kind="stable")
    table = weights.iloc[order]
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    table.insert(0, "Driven by", [str(name) for name in table.index], allow_duplicates=True)
    return table.reset_index(drop=True)


def rule_matrix(made: Amputation, columns: Sequence[Any], highlighted: Any) -> RuleMatrix:
    """Return the weights to draw: all of a small table, else those of the strongest drivers.

    Parameters
    ----------
    made : Amputation
        One that has a rule.
    columns : sequence of names
        The columns that may lose values or drive others, those with most missing values first.
    highlighted : name
        It is shown if it loses values.
    """
    weights, drivers = rule_of(made).weights, rule_of(made).drivers
    in_order = [name for name in made.truth.columns if name in set(columns)]
    losing = sorted(weights.columns, key=lambda name: (name != highlighted, columns.index(name)))
    shared = len(losing) > 1 and bool((weights.nunique(axis=1) == 1).all())
    # A small table has room for the columns that drive nothing, which shows who drives whom.
    has_room = len(in_order) <= MOST_IN_MATRIX or weights.empty
    every_driver = weights.reindex(in_order, fill_value=0.0) if has_room else weights
    shown = every_driver[losing[: 1 if shared else MOST_IN_MATRIX]]
    strongest = _strongest(shown, highlighted)[:MOST_IN_MATRIX]
    if shared:
        strongest = sorted(strongest, key=lambda name: -abs(shown.loc[name].iloc[0]))
        part = shown.loc[strongest].set_axis([f"all {len(losing)} columns"], axis=1)
        own = np.array([[name == highlighted and name in losing] for name in part.index])
    else:
        # In the order of the table on both axes, so that the own values lie on a diagonal.
        part = shown.loc[
            [name for name in in_order if name in set(strongest)],
            [name for name in in_order if name in shown.columns],
        ]
        own = np.array([[driver == name for name in part.columns] for driver in part.index])
    return RuleMatrix(
        weights=part,
        has_direction=np.array(
            [name not in drivers or not drivers[name].categorical for name in part.index], bool
        ),
        own=own & (part.to_numpy() != 0),
        highlighted=highlighted if highlighted in part.columns else None,
        is_complete=weights.empty
        or (len(part) == len(every_driver) and (shared or part.shape[1] == len(losing))),
    )


def _strongest(weights: pd.DataFrame, highlighted: Any) -> list[Any]:
    """Return the driving columns, those that count most for the highlighted column first."""
    sizes = weights.abs()
    # The first column is the highlighted one, or stands for all.
    order = pd.DataFrame(
        {
            "first": sizes.iloc[:, 0],
            "is_own": [name == highlighted for name in weights.index],
            "any": sizes.max(axis=1),
        }
    )
    return list(order.sort_values(["is_own", "first", "any"], ascending=False).index)
