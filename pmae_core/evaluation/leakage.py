"""Is the target among the features? Columns from which a model could read the answer."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import gammaln
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pmae_core.errors import LeakageWarning, ScoringError
from pmae_core.evaluation.prediction import PredictionProblem
from pmae_core.words import listed

Leak = Literal["copy", "recoding", "near-perfect"]

NEAR_PERFECT = 0.99
# A relation that a random order of the rows would show more often than this proves nothing.
LARGEST_CHANCE = 1e-6
MOST_ROWS = 2000
FEWEST_ROWS = 20


def find_leaks(problem: PredictionProblem) -> dict[Any, Leak]:
    """Return the features that give the target away.

    Parameters
    ----------
    problem : PredictionProblem
        The features and the target. Each feature is judged on the rows where it is observed.

    Returns
    -------
    dict
        For each such feature: "copy" if it equals the target, "recoding" if each of its values
        stands for one value of the target and the reverse, "near-perfect" if it alone leaves less
        than 1% of the target's variance (of classes: of the errors of the most frequent class)
        unexplained in other rows.

    Notes
    -----
    A relation counts only if a random order of the rows would show it less than once in a million
    times. Two columns of distinct labels, for example, are always one-to-one.

    Examples
    --------
    >>> from pmae_core.evaluation.prediction import pose_problem
    >>> y = pd.Series(np.arange(50.0) ** 2)
    >>> table = pd.DataFrame({"in cents": 100 * y, "other": np.arange(50) % 7})
    >>> find_leaks(pose_problem(table, y, None, None, None))
    {'in cents': 'recoding'}
    """
    found: dict[Any, Leak] = {}
    for name in problem.features:
        leak = _leak(problem.frame[name], problem)
        if leak is not None:
            found[name] = leak
    return found


def check_leaks(problem: PredictionProblem) -> None:
    """Refuse a target that is among the features; warn of a feature that is almost the target.

    Raises
    ------
    ScoringError
        If a feature is a copy or a one-to-one recoding of the target.
    """
    leaks = find_leaks(problem)
    same = [name for name, leak in leaks.items() if leak != "near-perfect"]
    if same:
        kind = "a copy" if leaks[same[0]] == "copy" else "a one-to-one recoding"
        raise ScoringError(
            f"The feature {same[0]!r} is {kind} of the target, so a model would read the answer "
            f"from it. Leave out {listed(map(repr, same))}, or choose another target."
        )
    if leaks:
        warnings.warn(_near_perfect_sentence(list(leaks)), LeakageWarning, stacklevel=3)


def _near_perfect_sentence(names: list[Any]) -> str:
    verb, they_are, them = "predicts", "it is", "it"
    if len(names) > 1:
        verb, they_are, them = "each predict", "they are", "them"
    return (
        f"{listed(map(repr, names))} alone {verb} the target almost perfectly. If {they_are} known "
        f"only once the target is, leave {them} out: scores would be far too high."
    )


def _leak(column: pd.Series, problem: PredictionProblem) -> Leak | None:
    observed = column.notna().to_numpy()
    values, target = _as_numbers(column[observed]), problem.target[observed]
    if len(target) < 2 or len(np.unique(values)) < 2 or len(np.unique(target)) < 2:
        return None
    labels = problem.labels[observed]
    if _equal(column[observed], labels) and _chance(target, "equal") < LARGEST_CHANCE:
        return "copy"
    if _is_recoding(values, target, is_number=problem.task == "regression"):
        return "recoding"
    if len(target) >= FEWEST_ROWS and _skill(values, target, problem.task) >= NEAR_PERFECT:
        return "near-perfect"
    return None


def _as_numbers(column: pd.Series) -> np.ndarray:
    """Return numbers and times as numbers in their order, anything else as codes."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column.astype("int64").to_numpy(dtype=np.float64)
    return pd.factorize(column.astype(object))[0].astype(np.float64)


def _equal(column: pd.Series, labels: pd.Series) -> bool:
    left, right = (one.astype(object).to_numpy() for one in (column, labels))
    return bool(np.all(left == right))


def _is_recoding(values: np.ndarray, target: np.ndarray, *, is_number: bool) -> bool:
    codes, answers = (np.unique(one, return_inverse=True)[1] for one in (values, target))
    n_pairs = len(np.unique(codes.astype(np.int64) * (answers.max() + 1) + answers))
    if not n_pairs == codes.max() + 1 == answers.max() + 1:
        return False
    if _chance(target, "one-to-one") < LARGEST_CHANCE:
        return True
    # Distinct numbers are always one-to-one; they are the same information if in the same order.
    in_order = np.array_equal(codes, answers) or np.array_equal(codes, answers.max() - answers)
    return is_number and in_order and _chance(target, "ordered") < LARGEST_CHANCE


def _chance(target: np.ndarray, relation: Literal["equal", "ordered", "one-to-one"]) -> float:
    """Return how often rows in random order show a relation between columns of these values."""
    sizes = np.unique(target, return_counts=True)[1]
    log_chance = gammaln(sizes + 1).sum() - gammaln(len(target) + 1)
    if relation == "ordered":
        log_chance += math.log(2)
    elif relation == "one-to-one":
        # Values that are equally frequent may stand for one another.
        alike = np.unique(sizes, return_counts=True)[1]
        log_chance += gammaln(alike + 1).sum()
    return float(np.exp(min(log_chance, 0.0)))


def _skill(values: np.ndarray, target: np.ndarray, task: str) -> float:
    """Return the share of the target that a tree on one column explains in other rows."""
    if len(target) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(target), MOST_ROWS, replace=False)
        values, target = values[rows], target[rows]
    tree = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    folds = KFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(tree(random_state=0), values[:, None], target, cv=folds)
    if task == "regression":
        unexplained, total = np.mean((target - predicted) ** 2), np.var(target)
        # A step function follows a line badly where rows are few.
        unexplained = min(unexplained, total * (1 - np.corrcoef(values, target)[0, 1] ** 2))
    else:
        usual = np.bincount(target).argmax()
        unexplained, total = np.mean(target != predicted), np.mean(target != usual)
    return float(1 - unexplained / total) if total > 0 else 0.0
