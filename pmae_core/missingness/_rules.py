"""The leaves of a decision tree as rules in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pmae_core.missingness._features import MissingnessQuestion, PredictorFeatures
from pmae_core.missingness.patterns import BoolArray, FloatArray


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


@dataclass(frozen=True)
class _Bounds:
    """What a path through the tree says of one number: low < value <= high, or missing."""

    question: MissingnessQuestion
    low: float = -np.inf
    high: float = np.inf
    may_be_missing: bool = True

    def in_words(self) -> str:
        name = self.question.column
        if self.low == np.inf:
            return f"{name} is missing"
        if self.low == -np.inf and self.high == np.inf:
            return f"{name} is observed"
        or_missing = " or missing" if self.may_be_missing and self.question.may_miss else ""
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


def rules_of(
    tree: Any, features: PredictorFeatures, target: BoolArray, weights: FloatArray
) -> list[MissingnessRule]:
    """Return the leaves of a tree, those with the largest share of missing cells first."""
    leaf_of_row = tree.apply(features.values)
    total = weights.sum()
    rules = []
    for leaf, conditions in _leaves(tree.tree_, features.questions):
        here = leaf_of_row == leaf
        weight = weights[here].sum()
        share = float(weights[here & target].sum() / weight)
        rules.append(MissingnessRule(conditions, share, float(weight / total)))
    return sorted(rules, key=lambda rule: (-rule.share_missing, -rule.share_of_rows))


def _leaves(
    nodes: Any, questions: list[MissingnessQuestion]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each leaf with the conditions on the way to it, in words."""
    waiting: list[tuple[int, dict[int, _Bounds]]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        if nodes.children_left[node] < 0:
            yield node, tuple(_in_words(path))
            continue
        feature, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
        before = path.get(feature, _Bounds(questions[feature]))
        missing_go_left = bool(nodes.missing_go_to_left[node])
        left = replace(
            before,
            high=min(before.high, threshold),
            may_be_missing=before.may_be_missing and missing_go_left,
        )
        right = replace(
            before,
            low=max(before.low, threshold),
            may_be_missing=before.may_be_missing and not missing_go_left,
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
