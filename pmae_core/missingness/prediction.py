"""What goes with missingness in a column: a small decision tree, in words."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import TableError
from pmae_core.missingness._columns import missing_rows, schema_of
from pmae_core.missingness._features import PredictorFeatures
from pmae_core.missingness._rules import MissingnessRule, rules_of
from pmae_core.missingness.patterns import BoolArray, FloatArray, IntArray
from pmae_core.table.schema import Schema
from pmae_core.words import count

# Fewer rows of either kind and a tree learns nothing that a second table would show again.
MIN_ROWS_OF_EACH_KIND = 10
# Words for areas under the ROC curve from here on, as textbooks use them.
_HOW_WELL = ((0.9, "well"), (0.7, "fairly well"), (0.0, "poorly, but better than guessing"))
_MAX_CELLS = 2_000_000
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class MissingnessTree:
    """A small tree that predicts where a column is missing.

    Attributes
    ----------
    column
        The column.
    skill : float
        How well the tree predicts held-out rows (five-fold cross-validated area under the ROC
        curve): the probability that of two rows, one with the cell missing and one with it
        observed, it ranks the missing one higher. 0.5 is guessing, 1 is certain.
    chance : float
        Skill that guessing exceeds in about one of forty tables of this size.
    rules : tuple of MissingnessRule
        The tree's leaves, those with the largest share of missing cells first.
    importance : Series
        How much each column contributes, largest first; adds up to 1.
    n_rows, n_rows_table : int
        Rows that were learned from, and rows of the table.
    """

    column: Any
    skill: float
    chance: float
    rules: tuple[MissingnessRule, ...]
    importance: pd.Series
    n_rows: int
    n_rows_table: int

    @property
    def better_than_guessing(self) -> bool:
        """Whether the skill is more than chance would give."""
        return self.skill > self.chance

    def sentence(self) -> str:
        """Return in words how well missingness can be predicted."""
        if not self.better_than_guessing:
            return (
                f"No observed column is clearly related to missingness in {self.column} "
                f"(AUC {self.skill:.2f} on held-out rows; guessing is 0.50)."
            )
        return (
            f"The tree separates missing from observed rows of {self.column} {self._how_well()} "
            f"(AUC {self.skill:.2f} on held-out rows; guessing is 0.50)."
        )

    def _how_well(self) -> str:
        return next(words for least, words in _HOW_WELL if self.skill >= least)


def predict_missingness(
    df: pd.DataFrame,
    column: Hashable,
    *,
    schema: Schema | None = None,
    max_depth: int = 3,
    max_rows: int = 10_000,
    seed: int = 0,
) -> MissingnessTree:
    """Learn a small decision tree that predicts where a column is missing.

    It uses the values of all other columns and whether they are missing. In long tables it
    learns from rows drawn at random, as far as possible equally many with the cell missing and
    observed; the shares it reports are those of the whole table.

    Parameters
    ----------
    df : DataFrame
        The table.
    column : hashable
        The column; missing in at least ten rows and observed in at least ten.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Of identifiers and ignored columns only
        missingness is used.
    max_depth : int, default 3
        Questions in a row at most.
    max_rows : int, default 10,000
        Rows to learn from at most; fewer in very wide tables.
    seed : int, default 0
        Seed of draw, folds and tree.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> df = pd.DataFrame({"age": rng.integers(20, 80, size=300)})
    >>> df["income"] = np.where(df["age"] >= 60, np.nan, rng.normal(size=300))
    >>> tree = predict_missingness(df, "income")
    >>> tree.rules[0].conditions, tree.rules[0].share_missing
    (('age is at least 60',), 1.0)
    """
    missing = missing_rows(df, column)
    _check_enough_rows(column, missing)
    schema = schema_of(df, schema)
    others = [name for name in df.columns if name != column]
    rows, weights = _draw(missing, _row_limit(max_rows, len(others)), seed)
    features = PredictorFeatures.build(df, others, schema, rows)
    target = missing[rows]
    if features.values.shape[1] == 0:
        return _tree_without_questions(column, missing)
    tree = _fit(features.values, target, max_depth, seed)
    return MissingnessTree(
        column=column,
        skill=_cross_validated_skill(features.values, target, max_depth, seed),
        chance=_skill_by_chance(int(target.sum()), int((~target).sum())),
        rules=tuple(rules_of(tree, features, target, weights)),
        importance=_importance(tree, features),
        n_rows=len(rows),
        n_rows_table=len(df),
    )


def _check_enough_rows(column: Hashable, missing: BoolArray) -> None:
    n_missing = int(missing.sum())
    for number, kind in ((n_missing, "missing"), (len(missing) - n_missing, "observed")):
        if number < MIN_ROWS_OF_EACH_KIND:
            raise TableError(
                f"Column {column!r} is {kind} in only {count(number, 'row')}.",
                advice=f"At least {MIN_ROWS_OF_EACH_KIND} are needed to learn from.",
            )


def _row_limit(max_rows: int, n_columns: int) -> int:
    return max(1000, min(max_rows, _MAX_CELLS // max(1, n_columns)))


def _draw(missing: BoolArray, max_rows: int, seed: int) -> tuple[IntArray, FloatArray]:
    """Return row numbers, and how many rows of the table each of them stands for."""
    if len(missing) <= max_rows:
        return np.arange(len(missing)), np.ones(len(missing))
    rng = np.random.default_rng(seed)
    kinds = [np.flatnonzero(missing), np.flatnonzero(~missing)]
    fewer = min(len(kinds[0]), len(kinds[1]), max_rows // 2)
    drawn, weights = [], []
    for kind in kinds:
        n = min(len(kind), max_rows - fewer)
        drawn.append(rng.choice(kind, n, replace=False, shuffle=False))
        weights.append(np.full(n, len(kind) / n))
    return np.concatenate(drawn), np.concatenate(weights)


def _fit(values: np.ndarray, target: BoolArray, max_depth: int, seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    smallest_leaf = max(5, len(target) // 100)
    tree = DecisionTreeClassifier(
        max_depth=max_depth,
        min_samples_leaf=smallest_leaf,
        min_impurity_decrease=0.0005,
        random_state=seed,
    )
    return tree.fit(values, target)


def _cross_validated_skill(
    values: np.ndarray, target: BoolArray, max_depth: int, seed: int
) -> float:
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    scores = []
    for train, test in folds.split(values, target):
        tree = _fit(values[train], target[train], max_depth, seed)
        predicted = tree.predict_proba(values[test])[:, list(tree.classes_).index(True)]
        scores.append(roc_auc_score(target[test], predicted))
    return float(np.mean(scores))


def _skill_by_chance(n_missing: int, n_observed: int) -> float:
    """Return the skill two standard errors above guessing."""
    return float(0.5 + 2 * np.sqrt((n_missing + n_observed + 1) / (12 * n_missing * n_observed)))


def _importance(tree: Any, features: PredictorFeatures) -> pd.Series:
    by_feature = pd.Series(tree.feature_importances_)
    columns = [question.column for question in features.questions]
    by_column = by_feature.groupby(pd.Series(columns, dtype=object), sort=False).sum()
    return by_column[by_column > 0].sort_values(ascending=False, kind="stable")


def _tree_without_questions(column: Hashable, missing: BoolArray) -> MissingnessTree:
    n_missing = int(missing.sum())
    return MissingnessTree(
        column=column,
        skill=0.5,
        chance=_skill_by_chance(n_missing, len(missing) - n_missing),
        rules=(MissingnessRule((), n_missing / len(missing), 1.0),),
        importance=pd.Series(dtype=float),
        n_rows=len(missing),
        n_rows_table=len(missing),
    )
