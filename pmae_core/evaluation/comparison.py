"""The results of a comparison of methods: scores, ranks with ties, winners by column."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.metrics import METRICS
from pmae_core.evaluation.ranking import column_winners, rank_methods
from pmae_core.evaluation.tasks import SCORES, TaskResult
from pmae_core.words import listed

COSTS = ("fit_seconds", "impute_seconds", "peak_memory_mb")


@dataclass
class Comparison:
    """The results of a comparison of methods.

    Attributes
    ----------
    tasks : list of TaskResult
        One per method and seed.
    settings : dict
        JSON-able: methods, seeds, hold-out, budgets, and size and digest of the table.
    """

    tasks: list[TaskResult]
    settings: dict[str, Any]

    @property
    def methods(self) -> list[str]:
        """The methods, in the order in which they were named."""
        return list(self.settings["methods"])

    @property
    def masks_vary(self) -> bool:
        """Whether each seed holds out different cells."""
        return bool(self.settings["holdout"] != "known-truth")

    @property
    def table(self) -> pd.DataFrame:
        """One row per method and seed: status, error, scores, seconds and memory."""
        rows = [
            {
                "method": task.method,
                "seed": task.seed,
                "status": task.status,
                "error": task.error,
                **{name: task.scores.get(name) for name in SCORES},
                **{name: getattr(task, name) for name in COSTS},
            }
            for task in self.tasks
        ]
        figures = dict.fromkeys((*SCORES, *COSTS), float)
        columns = ["method", "seed", "status", "error", *figures]
        return pd.DataFrame(rows, columns=columns).astype(figures)

    @property
    def per_column(self) -> pd.DataFrame:
        """One row per method, seed and scored column: metrics, and skill over the mean."""
        rows = [
            {"method": task.method, "seed": task.seed, **column}
            for task in self.tasks
            for column in task.per_column
        ]
        figures = dict.fromkeys((*METRICS, "skill"), float)
        columns = ["method", "seed", "column", "role", "n_missing", "n_scored", *figures]
        return pd.DataFrame(rows, columns=columns).astype(figures)

    def summary(self, metric: str = "imputation_accuracy") -> pd.DataFrame:
        """Return one row per method, best first: means, standard errors, ranks with ties.

        Parameters
        ----------
        metric : str, default "imputation_accuracy"
            The metric to rank by; see :func:`~pmae_core.evaluation.ranking.rank_methods`.

        Returns
        -------
        DataFrame
            By method: ``rank`` (missing where there is no result), ``tie_group``, how far
            ``behind`` the best of the group, each score with its standard error over seeds
            (``_se``), the medians of seconds and memory, ``n_done`` of ``n_tasks``, and a
            ``remark`` that says why results are missing.
        """
        table = self.table
        done = table[table["status"] == "done"]
        n_done = done.groupby("method").size().reindex(self.methods, fill_value=0)
        n_tasks = table.groupby("method").size().reindex(self.methods)
        ranks = rank_methods(
            self.per_column,
            metric=metric,
            incomplete=[method for method in self.methods if n_done[method] < n_tasks[method]],
            masks_vary=self.masks_vary,
        ).drop(columns="score")
        without_rank = [method for method in self.methods if method not in ranks.index]
        summary = ranks.join(_means_and_costs(done), how="left")
        summary = summary.reindex([*ranks.index, *without_rank]).assign(
            n_done=n_done, n_tasks=n_tasks, remark=pd.Series(self._remarks(), dtype=object)
        )
        summary.index.name = "method"
        return summary.astype({"rank": "Int64", "tie_group": "Int64"})

    def column_winners(self) -> pd.DataFrame:
        """Return the best method per column, the methods tied with it, and a verdict in words."""
        return column_winners(self.per_column, masks_vary=self.masks_vary)

    def best_method(self) -> str | None:
        """Return the method with the best mean among those without failures, if there is one."""
        leaders = self.summary()["rank"].dropna()
        return None if leaders.empty else str(leaders.index[0])

    def to_json(self) -> str:
        """Return everything as JSON text."""
        content = {"settings": self.settings, "tasks": [task.to_dict() for task in self.tasks]}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Return the comparison that `to_json` wrote."""
        try:
            content = json.loads(text)
            tasks = [TaskResult.from_dict(task) for task in content["tasks"]]
            return cls(tasks=tasks, settings=dict(content["settings"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ScoringError(f"This is not a saved comparison: {error!r}.") from error

    def to_csv(self, path: str | Path, *, per_column: str | Path | None = None) -> None:
        """Write the results, one row per method and seed, and optionally those per column."""
        self.table.to_csv(path, index=False)
        if per_column is not None:
            self.per_column.to_csv(per_column, index=False)

    def _remarks(self) -> dict[str, str]:
        reasons: dict[str, dict[str, list[int]]] = {method: {} for method in self.methods}
        for task in self.tasks:
            if task.error:
                reasons[task.method].setdefault(task.error, []).append(task.seed)
        return {
            method: " ".join(f"{_seeds(seeds)}: {error}" for error, seeds in errors.items())
            for method, errors in reasons.items()
        }


def _seeds(seeds: list[int]) -> str:
    return f"{'Seed' if len(seeds) == 1 else 'Seeds'} {listed(seeds, most=len(seeds))}"


def _means_and_costs(done: pd.DataFrame) -> pd.DataFrame:
    """Return by method each score with its standard error over seeds, and the median costs."""
    scores = done.groupby("method")[list(SCORES)]
    means, errors = scores.mean(), scores.sem().add_suffix("_se")
    paired = [name for score in SCORES for name in (score, f"{score}_se")]
    table = pd.concat([means, errors], axis=1)[paired]
    return table.join(done.groupby("method")[list(COSTS)].median())
