"""What predicts that a column is missing: a small decision tree, in words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import TableError
from pmae_core.missingness._columns import (
    LABEL_ROLES,
    NUMBER_ROLES,
    missing_rows,
    number_words,
    read_labels,
    read_numbers,
    schema_of,
)
from pmae_core.missingness.patterns import BoolArray, FloatArray, IntArray
from pmae_core.table.schema import Schema

# Fewer rows of either kind and a tree learns nothing that a second table would show again.
MIN_ROWS_OF_EACH_KIND = 10
_MAX_CELLS = 2_000_000
_LABELS_PER_COLUMN = 8
_FOLDS = 5
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class MissingnessRule:
    """Rows that meet all conditions, and how many of them miss the column.

    Attributes
    ----------
    conditions : tuple of str
        Conditions in words; none for all rows.
    share_missing : float
        Share of these rows in which the column is missing.
    share_of_rows : float
        Share of all rows that meet the conditions.
    """

    conditions: tuple[str, ...]
    share_missing: float
    share_of_rows: float

    def sentence(self) -> str:
        """Return the rule in words."""
        if not self.conditions:
            return "All rows"
        return f"Rows where {' and '.join(self.conditions)}"


@dataclass(frozen=True, eq=False)
class MissingnessTree:
    """A small tree that predicts where a column is missing.

    Attributes
    ----------
    column
        The column.
    skill : float
        How well the tree does on rows it has not seen (five-fold cross-validated area under the
        ROC curve): the probability that of two rows, one with the cell missing and one with it
        observed, it finds the missing one more likely to be missing. 0.5 is guessing, 1 is certain.
    chance : float
        Skill that guessing exceeds in one of forty tables of this size.
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
        pairs = round(100 * self.skill)
        if not self.better_than_guessing:
            return (
                f"Nothing in the other columns predicts where {self.column} is missing better than "
                f"guessing: on rows it had not seen, the tree was right in {pairs} of 100 pairs."
            )
        return (
            f"Other columns predict where {self.column} is missing: of 100 pairs of a row that "
            f"misses it and one that does not, the tree told {pairs} apart on rows it had not seen "
            "(guessing: 50)."
        )


def predict_missingness(
    df: pd.DataFrame,
    column: Hashable,
    *,
    schema: Schema | None = None,
    max_depth: int = 3,
    max_rows: int = 10_000,
    seed: int = 0,
) -> MissingnessTree:
    """Learn a small decision tree that says where a column is missing.

    It sees the values of all other columns and whether they are missing. In long tables it
    learns from rows drawn at random, as far as possible equally many with the cell missing and
    observed; the shares it reports are those of the whole table.

    Parameters
    ----------
    df : DataFrame
        The table.
    column : hashable
        The column; missing in at least ten rows and observed in at least ten.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Of identifiers and ignored columns only the
        holes are looked at.
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
    features = _PredictorFeatures.build(df, others, schema, rows)
    target = missing[rows]
    if features.values.shape[1] == 0:
        return _tree_without_questions(column, missing)
    tree = _fit(features.values, target, max_depth, seed)
    return MissingnessTree(
        column=column,
        skill=_cross_validated_skill(features.values, target, max_depth, seed),
        chance=_skill_by_chance(int(target.sum()), int((~target).sum())),
        rules=tuple(_rules(tree, features, target, weights)),
        importance=_importance(tree, features),
        n_rows=len(rows),
        n_rows_table=len(df),
    )


def _check_enough_rows(column: Hashable, missing: BoolArray) -> None:
    n_missing = int(missing.sum())
    for number, kind in ((n_missing, "missing"), (len(missing) - n_missing, "observed")):
        if number < MIN_ROWS_OF_EACH_KIND:
            raise TableError(
                f"Column {column!r} is {kind} in {number:,} row{'' if number == 1 else 's'} only: "
                f"too few to learn from. At least {MIN_ROWS_OF_EACH_KIND} are needed."
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


@dataclass(frozen=True)
class _Question:
    """What a feature asks: a column's number, whether it has a label, or whether it is missing."""

    column: Any
    label: str | None = None
    otherwise: str | None = None
    is_missing: bool = False
    has_holes: bool = False
    whole: bool = False
    words: Callable[[float], str] = str


@dataclass(frozen=True, eq=False)
class _PredictorFeatures:
    values: np.ndarray
    questions: list[_Question]

    @classmethod
    def build(
        cls, df: pd.DataFrame, names: list[Any], schema: Schema, rows: IntArray
    ) -> _PredictorFeatures:
        found = [feature for name in names for feature in _features_of(df[name].iloc[rows], schema)]
        if not found:
            return cls(np.empty((len(rows), 0), dtype=np.float32), [])
        return cls(
            np.column_stack([values for values, _ in found]), [question for _, question in found]
        )


def _features_of(series: pd.Series, schema: Schema) -> Iterator[tuple[np.ndarray, _Question]]:
    name, role = series.name, schema.role(series.name)
    missing = series.isna().to_numpy()
    if role in NUMBER_ROLES and not missing.all():
        values = np.clip(read_numbers(series, role), -_LARGEST, _LARGEST).astype(np.float32)
        question = _Question(
            name,
            has_holes=bool(np.isnan(values).any()),
            whole=schema[name].integer,
            words=number_words(series, role),
        )
        yield values, question
        return
    if missing.any() and not missing.all():
        yield missing.astype(np.float32), _Question(name, is_missing=True)
    if role in LABEL_ROLES:
        codes, labels = read_labels(series)
        counts = np.bincount(codes[codes >= 0], minlength=len(labels))
        frequent = np.argsort(-counts, kind="stable")[:_LABELS_PER_COLUMN]
        one_of_two = len(labels) == 2 and not missing.any()
        for code in frequent[:1] if one_of_two else frequent:
            label = str(labels[code])
            otherwise = str(labels[1 - code]) if one_of_two else f"not {label}"
            yield (codes == code).astype(np.float32), _Question(name, label, otherwise)


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


@dataclass(frozen=True)
class _Bounds:
    """What a path through the tree says of one number: low < value <= high, or missing."""

    question: _Question
    low: float = -np.inf
    high: float = np.inf
    may_be_missing: bool = True

    def in_words(self) -> str:
        name = self.question.column
        if self.low == np.inf:
            return f"{name} is missing"
        if self.low == -np.inf and self.high == np.inf:
            return f"{name} is observed"
        or_missing = " or missing" if self.may_be_missing and self.question.has_holes else ""
        return f"{name} is {self._range_in_words()}{or_missing}"

    def _range_in_words(self) -> str:
        words, whole = self.question.words, self.question.whole
        lowest = np.floor(self.low) + 1 if whole else self.low
        highest = np.floor(self.high) if whole else self.high
        from_low = "at least" if whole else "above"
        if self.high == np.inf:
            return f"{from_low} {words(lowest)}"
        if self.low == -np.inf:
            return f"at most {words(highest)}"
        if whole and lowest == highest:
            return words(lowest)
        return f"{from_low} {words(lowest)} and at most {words(highest)}"


def _rules(
    tree: Any, features: _PredictorFeatures, target: BoolArray, weights: FloatArray
) -> list[MissingnessRule]:
    leaf_of_row = tree.apply(features.values)
    total = weights.sum()
    rules = []
    for leaf, conditions in _leaves(tree.tree_, features.questions):
        here = leaf_of_row == leaf
        weight = weights[here].sum()
        share = float(weights[here & target].sum() / weight)
        rules.append(MissingnessRule(conditions, share, float(weight / total)))
    return sorted(rules, key=lambda rule: (-rule.share_missing, -rule.share_of_rows))


def _leaves(nodes: Any, questions: list[_Question]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each leaf with the conditions on the way to it, in words."""
    waiting: list[tuple[int, dict[int, _Bounds]]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        if nodes.children_left[node] < 0:
            yield node, tuple(_in_words(path))
            continue
        feature, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
        before = path.get(feature, _Bounds(questions[feature]))
        holes_go_left = bool(nodes.missing_go_to_left[node])
        left = replace(
            before,
            high=min(before.high, threshold),
            may_be_missing=before.may_be_missing and holes_go_left,
        )
        right = replace(
            before,
            low=max(before.low, threshold),
            may_be_missing=before.may_be_missing and not holes_go_left,
        )
        waiting.append((int(nodes.children_left[node]), path | {feature: left}))
        waiting.append((int(nodes.children_right[node]), path | {feature: right}))


def _in_words(path: dict[int, _Bounds]) -> Iterator[str]:
    for bounds in path.values():
        question = bounds.question
        yes = bounds.low > 0
        if question.is_missing:
            yield f"{question.column} is {'missing' if yes else 'observed'}"
        elif question.label is not None:
            yield f"{question.column} is {question.label if yes else question.otherwise}"
        else:
            yield bounds.in_words()


def _importance(tree: Any, features: _PredictorFeatures) -> pd.Series:
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
