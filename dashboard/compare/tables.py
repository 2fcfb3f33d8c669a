"""The tables that the Compare page and its figures show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dashboard.compare.results import ComparisonResults
from pmae_core.evaluation import Comparison, TaskResult


def runs_table(results: ComparisonResults) -> pd.DataFrame:
    """Return a row per method and a column per seed: its skill, or its state in words."""
    settings = results.comparison.settings
    cells = {
        (task.method, task.seed): f"{task.scores.get('skill', math.nan):.3f}"
        if task.status == "done"
        else task.status
        for task in results.comparison.tasks
    } | dict(results.pending)
    rows = [
        {"method": method} | {f"seed {s}": cells.get((method, s), "") for s in settings["seeds"]}
        for method in settings["methods"]
    ]
    return pd.DataFrame(rows)


def failures_table(comparison: Comparison) -> pd.DataFrame:
    """Return the runs without a result and why; runs of a method with one reason share a row."""
    reasons: dict[tuple[str, str, str], list[int]] = {}
    for task in comparison.tasks:
        if task.status != "done":
            key = (task.method, task.status, task.error or "reason unknown")
            reasons.setdefault(key, []).append(task.seed)
    rows = [
        {"method": method, "seeds": ", ".join(map(str, seeds)), "status": status, "reason": reason}
        for (method, status, reason), seeds in reasons.items()
    ]
    return pd.DataFrame(rows, columns=["method", "seeds", "status", "reason"])


def usable_metrics(comparison: Comparison, metrics: Sequence[str]) -> list[str]:
    """Return the metrics that the results have: no accuracy without categories."""
    rankable = comparison.rankable()
    return [metric for metric in metrics if metric in rankable]


def skill_table(comparison: Comparison, methods: Sequence[str]) -> pd.DataFrame:
    """Return the mean share of the mean's error avoided, by column and method."""
    per_column = comparison.per_column
    skill = per_column.pivot_table(
        index="column", columns="method", values="skill", aggfunc="mean", sort=False
    )
    return skill.reindex(columns=[name for name in methods if name in skill.columns])


def hardest_first(skill: pd.DataFrame) -> pd.DataFrame:
    """Return a table of skills by how well the best method imputes each column."""
    return skill.loc[skill.max(axis=1).sort_values(kind="stable").index]


def points_of(comparison: Comparison, method: str, column: str) -> dict[str, list[Any]]:
    """Return the held-out cells of a column with a method's imputations, of all seeds."""
    cells: dict[str, list[Any]] = {"truth": [], "imputed": []}
    for task in comparison.tasks:
        if task.method == method and column in task.points:
            for kind in cells:
                cells[kind] += task.points[column][kind]
    return cells


def as_complete(comparison: Comparison, pending: Mapping[tuple[str, int], str]) -> Comparison:
    """Return a comparison for export, in which pending runs are "not run"."""
    rest = [
        TaskResult(method=method, seed=seed, status="not run", error="not run yet")
        for method, seed in pending
    ]
    return replace(comparison, tasks=[*comparison.tasks, *rest])


def forest_rows(conclusions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the estimates of each conclusion that has any, by its name."""
    if "estimand" not in conclusions:
        return {}
    by_estimand = conclusions.dropna(subset="estimand").groupby("estimand", sort=False)
    return {str(name): rows for name, rows in by_estimand if (rows["status"] == "done").any()}


def in_order_of(ranking: Sequence[str], conclusions: pd.DataFrame) -> pd.DataFrame:
    """Return conclusions in the order of a ranking: both figures stand side by side.

    The truth and complete cases come first, methods that are not ranked last.
    """
    if conclusions.empty:
        return conclusions
    place = {method: at for at, method in enumerate(ranking)}
    is_reference = conclusions["kind"].isin(["reference", "complete cases"])
    places = conclusions["method"].map(place).fillna(len(place)).mask(is_reference, -1)
    return conclusions.loc[places.sort_values(kind="stable").index]


def reasons_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return which methods gave no conclusion or prediction, and why."""
    if rows.empty:
        return pd.DataFrame(columns=["method", "error"])
    return rows.loc[rows["status"] == "failed", ["method", "error"]].drop_duplicates()
