"""How a comparison stands: finished, broken off, or under way with some results on disk."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation import Comparison, TaskResult
from pmae_core.evaluation.comparison import RANKED_BY
from pmae_core.evaluation.ranking import LOWER_IS_BETTER
from pmae_core.evaluation.store import SPECIFICATION
from pmae_core.evaluation.tasks import SCORES, TABLE_SCORES
from pmae_core.jobs import JobProgress, JobRecord, JobState

WAITING = "waiting"
NOT_RUN = {
    JobState.CANCELLED: "not run: the comparison was cancelled before",
    JobState.INTERRUPTED: "not run: the comparison was interrupted before",
    JobState.FAILED: "not run: the comparison failed before",
    JobState.SUCCEEDED: "its result is not there any more",
}


@dataclass(frozen=True, eq=False)
class Standing:
    """What is known of a comparison.

    Attributes
    ----------
    comparison : Comparison
        All results there are; a method and seed whose turn never came is "not run".
    ranked : Comparison
        Of these the part that can be compared fairly: while some runs are still to come, only
        the seeds that all methods have behind them (or the first seed).
    pending : dict
        Methods and seeds still to come, with what they do in words.
    """

    comparison: Comparison
    ranked: Comparison
    pending: Mapping[tuple[str, int], str]

    @property
    def has_scores(self) -> bool:
        """Whether any method has a result."""
        return any(task.status == "done" for task in self.ranked.tasks)

    @property
    def ranked_seeds(self) -> list[int]:
        """The seeds that the ranks rest on."""
        return list(dict.fromkeys(task.seed for task in self.ranked.tasks))


def standing_of(record: JobRecord) -> Standing:
    """Return how the comparison of a job stands, from the files in its folder."""
    final = record.folder / "result" / "comparison.json"
    if record.state is JobState.SUCCEEDED and final.exists():
        comparison = Comparison.from_json(final.read_text(encoding="utf-8"))
        return Standing(comparison, comparison, {})
    params = record.spec.params
    results = read_tasks(record.folder / "tasks")
    settings = _settings(record)
    wanted = [
        (method, int(seed))
        for seed in dict.fromkeys(params["seeds"])
        for method in dict.fromkeys(params["methods"])
    ]
    found = [results[key] for key in wanted if key in results]
    open_runs = [key for key in wanted if key not in results]
    if record.state in NOT_RUN:
        rest = [
            TaskResult(method=method, seed=seed, status="not run", error=NOT_RUN[record.state])
            for method, seed in open_runs
        ]
        comparison = Comparison(tasks=[*found, *rest], settings=settings)
        return Standing(comparison, _comparable(found, open_runs, settings), {})
    comparison = Comparison(tasks=found, settings=settings)
    waiting = dict.fromkeys(open_runs, WAITING)
    return Standing(comparison, _comparable(found, open_runs, settings), waiting)


def with_progress(standing: Standing, progress: JobProgress | None) -> Standing:
    """Return how a comparison stands with words on the runs under way."""
    now = running_now(progress, list(standing.pending))
    return replace(standing, pending={**standing.pending, **now})


def read_tasks(folder: Path) -> dict[tuple[str, int], TaskResult]:
    """Return the results that a comparison has written so far, by method and seed.

    A file that cannot be read is left out: its run counts as still to come.
    """
    found = {}
    for path in sorted(folder.glob("*-seed*.json")):
        try:
            result = TaskResult.from_dict(json.loads(path.read_text(encoding="utf-8"))["result"])
        except (OSError, ValueError, KeyError, TypeError, ScoringError):
            continue
        found[result.method, result.seed] = result
    return found


def _settings(record: JobRecord) -> dict[str, Any]:
    """Return the settings that the finished comparison will have, as far as they are known."""
    params = record.spec.params
    try:
        text = (record.folder / "tasks" / SPECIFICATION).read_text(encoding="utf-8")
        specification = {name: v for name, v in json.loads(text).items() if name != "schema"}
    except (OSError, ValueError):
        specification = {}
    guessed = "known-truth" if params.get("truth") else None
    guessed = guessed or ("amputation" if params.get("amputation") else "like-mine")
    unknown = {"holdout": params.get("holdout") or guessed, "target": params.get("target")}
    sizes = dict.fromkeys(("n_rows", "n_columns", "n_missing"), 0)
    return {
        "methods": list(dict.fromkeys(params["methods"])),
        "seeds": [int(seed) for seed in dict.fromkeys(params["seeds"])],
        "method_params": dict(params.get("method_params") or {}),
        "budget_seconds": params.get("budget_seconds"),
        **sizes,
        **unknown,
        **specification,
    }


def _comparable(
    found: Sequence[TaskResult],
    open_runs: Sequence[tuple[str, int]],
    settings: Mapping[str, Any],
) -> Comparison:
    """Keep what all methods have behind them, so that no mean is over easier cells."""
    unfinished = {seed for _, seed in open_runs}
    seeds = [seed for seed in settings["seeds"] if seed not in unfinished]
    if not seeds:
        seeds = [task.seed for task in found][:1]
    tasks = [task for task in found if task.seed in seeds]
    methods = [name for name in settings["methods"] if any(t.method == name for t in tasks)]
    return Comparison(tasks=tasks, settings={**settings, "methods": methods, "seeds": seeds})


def running_now(
    progress: JobProgress | None, open_runs: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], str]:
    """Return what each run under way does, from how the job says it stands.

    Examples
    --------
    >>> running_now(JobProgress(message="1 of 3 done; knn (seed 0): column 2 of 5"), [("knn", 0)])
    {('knn', 0): 'running: column 2 of 5'}
    """
    now = {}
    for part in (progress.message if progress else "").split("; "):
        for method, seed in open_runs:
            start = f"{method} (seed {seed})"
            if part.startswith(start):
                now[method, seed] = f"running{part[len(start) :]}"
    return now


# Tables of the page


def runs_table(standing: Standing) -> pd.DataFrame:
    """Return a row per method and a column per seed: its skill, or where it stands, in words."""
    settings = standing.comparison.settings
    cells = {
        (task.method, task.seed): f"{task.scores.get('skill', math.nan):.3f}"
        if task.status == "done"
        else task.status
        for task in standing.comparison.tasks
    } | dict(standing.pending)
    rows = [
        {"method": method} | {f"seed {s}": cells.get((method, s), "") for s in settings["seeds"]}
        for method in settings["methods"]
    ]
    return pd.DataFrame(rows)


def failures_table(comparison: Comparison) -> pd.DataFrame:
    """Return the runs that gave no result, with their reasons; equal ones of a method together."""
    reasons: dict[tuple[str, str, str], list[int]] = {}
    for task in comparison.tasks:
        if task.status != "done":
            key = (task.method, task.status, task.error or "no reason is known")
            reasons.setdefault(key, []).append(task.seed)
    rows = [
        {"method": method, "seeds": ", ".join(map(str, seeds)), "status": status, "reason": reason}
        for (method, status, reason), seeds in reasons.items()
    ]
    return pd.DataFrame(rows, columns=["method", "seeds", "status", "reason"])


def usable_metrics(comparison: Comparison, metrics: Sequence[str]) -> list[str]:
    """Return those metrics that the results have: no accuracy without categories."""
    rankable = comparison.rankable()
    return [metric for metric in metrics if metric in rankable]


def board_data(comparison: Comparison, metric: str = RANKED_BY) -> pd.DataFrame:
    """Return one row a method, best first, with what the board and its figure show.

    Returns
    -------
    DataFrame
        ``method``, ``rank``, ``tie_group``, ``score``, and ``low`` and ``high``: where the score
        may lie by the 95% interval of its paired difference to the leader of its group (the score
        itself for leaders). Methods that failed on some seeds come after all others, those
        without any result last, without a rank.
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
    board = ranks[["rank", "tie_group", "score"]].assign(
        low=ends.min(axis=1).where(~is_leader, ranks["score"]),
        high=ends.max(axis=1).where(~is_leader, ranks["score"]),
    )
    order = [*ranks.index, *(name for name in comparison.methods if name not in ranks.index)]
    board = board.reindex(order)
    done = table[table["status"] == "done"].groupby("method")
    seconds = done["fit_seconds"].median() + done["impute_seconds"].median()
    board = board.assign(
        n_done=n_done.reindex(order, fill_value=0),
        n_tasks=n_tasks.reindex(order, fill_value=0),
        seconds=seconds.reindex(order),
        memory_mb=done["peak_memory_mb"].median().reindex(order),
        n_imputations=done["n_imputations"].max().replace(0, float("nan")).reindex(order),
    )
    for name in SCORES:
        board[name] = done[name].mean().reindex(order)
    board.index.name = "method"
    return board.reset_index().astype({"rank": "Int64", "tie_group": "Int64"})


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


def points_of(comparison: Comparison, method: str, column: str) -> dict[str, list[Any]]:
    """Return the hidden cells of a column with a method's fillings, of all seeds."""
    cells: dict[str, list[Any]] = {"truth": [], "imputed": []}
    for task in comparison.tasks:
        if task.method == method and column in task.points:
            for kind in cells:
                cells[kind] += task.points[column][kind]
    return cells


def as_complete(comparison: Comparison, pending: Mapping[tuple[str, int], str]) -> Comparison:
    """Return a comparison for export, in which the runs still to come are named as not run."""
    rest = [
        TaskResult(method=method, seed=seed, status="not run", error="not run yet")
        for method, seed in pending
    ]
    return replace(comparison, tasks=[*comparison.tasks, *rest])
