"""The tables that the Compare page and its figures show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dashboard.compare.results import ComparisonResults
from pmae_core.evaluation import Comparison, TaskResult
from pmae_core.evaluation.comparison import RANKED_BY
from pmae_core.evaluation.ranking import LOWER_IS_BETTER
from pmae_core.evaluation.tasks import SCORES, TABLE_SCORES

# The method that imputes the mean or mode.
BASELINE = "naive"


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


def ranking_table(comparison: Comparison, metric: str = RANKED_BY) -> pd.DataFrame:
    """Return one row per method, best first, as the ranking and its figure show it.

    Returns
    -------
    DataFrame
        ``method``, ``rank``, ``place`` (the rank in words), ``tie_group``, ``score``, and ``low``
        and ``high``: the range of the score by the 95% interval of its paired difference to the
        leader of its group (the score itself for leaders). Methods that failed on some seeds come
        after all others, those without any result last, without a rank.
    """
    table = comparison.table
    by_method = table.groupby("method")
    n_done = (table["status"] == "done").groupby(table["method"]).sum()
    n_tasks = by_method.size()
    ranks = comparison.ranks(metric)
    # How far behind is positive for worse, whatever the metric; on the axis worse may be right.
    worse = 1 if metric in LOWER_IS_BETTER else -1
    leaders = ranks.groupby("tie_group")["score"].transform("first")
    ends = pd.DataFrame({end: leaders + worse * ranks[f"behind_{end}"] for end in ("low", "high")})
    is_leader = ~ranks["tie_group"].duplicated()
    ranking = ranks[["rank", "tie_group", "score"]].assign(
        low=ends.min(axis=1).where(~is_leader, ranks["score"]),
        high=ends.max(axis=1).where(~is_leader, ranks["score"]),
    )
    order = [*ranks.index, *(name for name in comparison.methods if name not in ranks.index)]
    ranking = ranking.reindex(order)
    done = table[table["status"] == "done"].groupby("method")
    seconds = done["fit_seconds"].median() + done["impute_seconds"].median()
    ranking = ranking.assign(
        n_done=n_done.reindex(order, fill_value=0),
        n_tasks=n_tasks.reindex(order, fill_value=0),
        seconds=seconds.reindex(order),
        memory_mb=done["peak_memory_mb"].median().reindex(order),
        n_imputations=done["n_imputations"].max().replace(0, float("nan")).reindex(order),
    )
    for name in SCORES:
        ranking[name] = done[name].mean().reindex(order)
    ranking.index.name = "method"
    ranking = ranking.astype({"rank": "Int64", "tie_group": "Int64"})
    return ranking.assign(place=_places(ranking["rank"])).reset_index()


def _places(ranks: pd.Series) -> list[str]:
    """Return ranks in words: "tied for first with one other method"."""
    n_of_rank = ranks.value_counts()
    return ["" if pd.isna(rank) else _place(int(rank), int(n_of_rank[rank])) for rank in ranks]


def _place(rank: int, n_methods: int) -> str:
    place = "first" if rank == 1 else f"rank {rank}"
    if n_methods == 1:
        return place
    others = "one other method" if n_methods == 2 else f"{n_methods - 1} other methods"
    return f"tied for {place} with {others}"


def seed_scores(comparison: Comparison, metric: str = RANKED_BY) -> pd.DataFrame:
    """Return a metric by method and seed: of the table, or the mean over columns."""
    if metric in TABLE_SCORES:
        table = comparison.table.dropna(subset=metric)
        return table[["method", "seed", metric]].rename(columns={metric: "score"})
    scores = comparison.per_column.dropna(subset=metric).groupby(["method", "seed"])[metric].mean()
    return scores.rename("score").reset_index()


def skill_table(comparison: Comparison, methods: Sequence[str]) -> pd.DataFrame:
    """Return the mean share of the mean's error avoided, by column and method."""
    per_column = comparison.per_column
    skill = per_column.pivot_table(
        index="column", columns="method", values="skill", aggfunc="mean", sort=False
    )
    return skill.reindex(columns=[name for name in methods if name in skill.columns])


def column_winners(comparison: Comparison) -> pd.DataFrame:
    """Return the best method per column and those tied with it, the baseline never among these.

    Where a method is best it beats the mean or mode, so the baseline that imputes them cannot be
    tied with it, whatever a test of their difference with fewer cells says.
    """
    winners = comparison.column_winners()
    tied = [[name for name in names if name != BASELINE] for names in winners["tied"]]
    return winners.assign(tied=pd.Series(tied, index=winners.index, dtype=object))


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


def reasons_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return which methods gave no conclusion or prediction, and why."""
    if rows.empty:
        return pd.DataFrame(columns=["method", "error"])
    return rows.loc[rows["status"] == "failed", ["method", "error"]].drop_duplicates()
