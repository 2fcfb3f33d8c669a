"""The chance of being missing, against the value itself and against the columns that drive it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.amputation.lab import readable
from dashboard.amputation.rule import kind_of, rule_of
from dashboard.text import code
from pmae_core.amputation import Amputation, AmputationRule
from pmae_core.table import Schema

MOST_GROUPS = 8
MOST_CATEGORIES = 8
# Rows that are asked "what if": their mean hardly changes with more.
MOST_CHANGED_ROWS = 2000
# Smaller differences between chances are not seen in the figure.
VISIBLE = 0.01

ACTUAL, CHANGED = "actual rows", "only this changed"
STRATA = ("others low", "others middle", "others high")
SCORE = "other columns' score"


@dataclass(frozen=True)
class ChanceCurve:
    """The chance of being missing along the values of a column, or along a score.

    Attributes
    ----------
    name : str
        What lies along the axis.
    scale : {"number", "time", "category"}
        What its values are: times are days since 1970.
    points : DataFrame
        ``rows``, ``value`` and ``chance``. The actual rows near a value, with their mean chance.
        The others are the same rows at every value: all that changes is this value.
    """

    name: str
    scale: str
    points: pd.DataFrame


def own_curve(made: Amputation, column: Any, schema: Schema) -> ChanceCurve:
    """Return the chance of a column to be missing against its own value.

    Under MAR the actual rows may show a slope, since the value goes with the columns that drive
    its missingness. The same rows with only this value changed show none.
    """
    strata = _by_others(rule_of(made), column)
    return _column_curve(made, column, column, schema, strata)


def driver_curve(made: Amputation, column: Any, driver: Any, schema: Schema) -> ChanceCurve:
    """Return the chance of a column to be missing against the value of another column."""
    everything = np.zeros(len(made.truth), dtype=int)
    return _column_curve(made, column, driver, schema, (everything, (CHANGED,)))


def score_curve(made: Amputation, column: Any) -> ChanceCurve:
    """Return the chance of a column to be missing against what all other columns say together."""
    score = others_score(rule_of(made), column)
    groups = _number_groups(score)
    points = _actual(groups, _typical_rows(groups, score), score, made, column)
    return ChanceCurve(SCORE, "number", points)


def others_score(rule: AmputationRule, column: Any) -> np.ndarray:
    """Return what the columns besides the own one add to the log-odds of being missing."""
    return -rule.scores[column].values - rule.contribution(column, column)


def has_other_drivers(made: Amputation, column: Any) -> bool:
    """Say whether another column drives the missing values of a column."""
    return bool(set(rule_of(made).scores[column].weights) - {column})


def drivers_first(made: Amputation, column: Any, columns: Sequence[Any]) -> list[Any]:
    """Return the other columns, those that drive the missing values most first."""
    weights = rule_of(made).weights[column]
    strength = weights.abs().reindex(list(columns), fill_value=0.0).drop(column)
    return list(strength.sort_values(ascending=False, kind="stable").index)


def chances_sentence(
    made: Amputation, column: Any, own: ChanceCurve, other: ChanceCurve | None
) -> str:
    """Say what the curves show: whether the value itself decides, or other columns."""
    rule, name = rule_of(made), code(column)
    kind = kind_of(rule, column)
    if kind == "MCAR":
        return "Every curve is flat: neither the value itself nor another column matters (MCAR)."
    if kind == "MAR":
        flat = (
            f"The lines at the left are flat: if nothing else changes, the value of {name} does "
            "not matter (MAR)."
        )
        if np.ptp(_of(own, ACTUAL)) < VISIBLE:
            return flat
        return f"{flat} The dots differ because {name} goes with the columns that drive it."
    weight = rule.weights.loc[column, column]
    slightly = "only slightly " if abs(weight) < 0.1 else ""
    ending = "" if kind == "MNAR" else "s"  # several lines, or a single one
    differ = f"differ{ending} {slightly}between its categories"
    if not rule.drivers[column].categorical:
        differ = f"{'rise' if weight > 0 else 'fall'}{ending} {slightly}with the value itself"
    if kind == "MNAR":
        return f"The lines at the left {differ}, even if no other column changes (MNAR)."
    dropped = ""
    if other is not None and np.ptp(_of(other, CHANGED)) > VISIBLE:
        dropped = " Dropping rows that lost every value bends the line at the right."
    return f"The line at the left {differ}; no other column drives {name} (self-masking).{dropped}"


def _of(curve: ChanceCurve, rows: str) -> np.ndarray:
    return curve.points.loc[curve.points["rows"] == rows, "chance"].to_numpy()


def _by_others(rule: AmputationRule, column: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the third of each row by the score of the other columns, and the thirds' names."""
    score = others_score(rule, column)
    if np.ptp(score) < 1e-9:
        return np.zeros(len(score), dtype=int), (CHANGED,)
    ranks = pd.Series(score).rank(method="first").to_numpy()
    return ((ranks - 1) * len(STRATA) // len(score)).astype(int), STRATA


def _column_curve(
    made: Amputation,
    column: Any,
    along: Any,
    schema: Schema,
    strata: tuple[np.ndarray, tuple[str, ...]],
) -> ChanceCurve:
    scale, values = readable(made.truth[along], schema.role(along))
    groups = _category_groups(values) if scale == "category" else _number_groups(values)
    typical = _typical_rows(groups, values)
    rows = np.union1d(_evenly(len(values)), typical)
    rule = rule_of(made).of_rows(rows)
    stratum_of, names = strata
    points = [_actual(groups, typical, values, made, column)]
    for row in typical:
        changed = rule.chance_missing(column, given=(along, int(np.searchsorted(rows, row))))
        by_stratum = pd.Series(changed).groupby(stratum_of[rows]).mean()
        points.append(
            pd.DataFrame(
                {
                    "rows": [names[stratum] for stratum in by_stratum.index],
                    "value": values[row],
                    "chance": by_stratum.to_numpy(),
                }
            )
        )
    return ChanceCurve(str(along), scale, pd.concat(points, ignore_index=True))


def _actual(
    groups: Sequence[np.ndarray],
    typical: np.ndarray,
    values: np.ndarray,
    made: Amputation,
    column: Any,
) -> pd.DataFrame:
    """Return the mean chance of each group at its typical value."""
    chance = made.chance_missing[column].to_numpy()
    return pd.DataFrame(
        {
            "rows": ACTUAL,
            "value": values[typical],
            "chance": [float(chance[group].mean()) for group in groups],
        }
    )


def _number_groups(values: np.ndarray) -> list[np.ndarray]:
    """Return the rows with each value if these are few, else in groups of about equal size."""
    finite = np.flatnonzero(np.isfinite(values))
    if not len(finite):
        return []
    inside = pd.Series(values[finite])
    codes = pd.factorize(inside, sort=True)[0]
    if codes.max() >= MOST_GROUPS:
        codes = pd.qcut(inside, MOST_GROUPS, labels=False, duplicates="drop").to_numpy()
    return [finite[codes == group] for group in np.unique(codes)]


def _category_groups(labels: np.ndarray) -> list[np.ndarray]:
    """Return the rows of the most frequent categories."""
    frequent = pd.Series(labels).value_counts().index[:MOST_CATEGORIES]
    return [np.flatnonzero(labels == label) for label in frequent]


def _typical_rows(groups: Sequence[np.ndarray], values: np.ndarray) -> np.ndarray:
    """Return the row in the middle of each group."""
    middle = [group[np.argsort(values[group], kind="stable")[len(group) // 2]] for group in groups]
    return np.array(middle, dtype=int)


def _evenly(n_rows: int) -> np.ndarray:
    return np.linspace(0, n_rows - 1, min(n_rows, MOST_CHANGED_ROWS)).astype(int)
