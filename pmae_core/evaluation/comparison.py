"""The results of a comparison of methods: scores, ranks with ties, winners by column."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.comparison_views import ShownComparison
from pmae_core.evaluation.imputation_scores import IMPUTATION_METRICS
from pmae_core.evaluation.metrics import METRICS
from pmae_core.evaluation.ranking import RANKED_METRICS, rank_methods
from pmae_core.evaluation.ranking_table import ranking_table
from pmae_core.evaluation.tasks import SCORES, TABLE_SCORES, TaskResult
from pmae_core.evaluation.verdict import (
    PLAIN_TEXT,
    Writing,
    distribution_sentence,
    noise_sentence,
    verdict_sentence,
)
from pmae_core.evaluation.winners import column_winners
from pmae_core.words import count, listed

RANKED_BY = "skill"
# All methods have it, one imputation or several, and it sees how columns are related.
DISTRIBUTION = "energy_distance"
COSTS = ("fit_seconds", "impute_seconds", "peak_memory_mb")


@dataclass(repr=False)
class Comparison:
    """The results of a comparison of methods.

    A notebook shows it as a verdict, the ranking with its ties, and the best method per column.

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
                "n_imputations": task.n_imputations,
                **{name: _score(task, name) for name in SCORES},
                **{name: getattr(task, name) for name in COSTS},
            }
            for task in self.tasks
        ]
        figures = dict.fromkeys((*SCORES, *COSTS), float)
        columns = ["method", "seed", "status", "error", "n_imputations", *figures]
        return pd.DataFrame(rows, columns=columns).astype(figures)

    @property
    def per_column(self) -> pd.DataFrame:
        """One row per method, seed and scored column: metrics, skill, scores of imputations."""
        rows = [
            {"method": task.method, "seed": task.seed, **column}
            for task in self.tasks
            for column in task.per_column
        ]
        figures = dict.fromkeys(("skill", *METRICS, *IMPUTATION_METRICS), float)
        columns = ["method", "seed", "column", "role", "n_missing", "n_scored", *figures]
        return pd.DataFrame(rows, columns=columns).astype(figures)

    @property
    def cell_gains(self) -> pd.DataFrame:
        """One row per method, seed, column and held-out cell: its row, and the gain over the mean.

        Empty for comparisons that were saved without.
        """
        parts = [
            pd.DataFrame(cells).assign(method=task.method, seed=task.seed, column=column)
            for task in self.tasks
            for column, cells in task.gains.items()
        ]
        columns = ["method", "seed", "column", "row", "gain"]
        return (
            pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
        )

    def ranks(self, metric: str = RANKED_BY) -> pd.DataFrame:
        """Rank the methods that have the metric; see :func:`~pmae_core.evaluation.rank_methods`.

        Parameters
        ----------
        metric : str, default "skill"
            One of ``RANKED_METRICS``. Those of whole tables, such as the energy distance, have one
            value per seed; the others are means over columns.
        """
        table = self.table
        n_done = (table["status"] == "done").groupby(table["method"]).sum()
        n_tasks = table.groupby("method").size()
        tables = table[table["status"] == "done"].assign(column="")
        scores = tables if metric in TABLE_SCORES else self.per_column
        return rank_methods(
            scores,
            metric=metric,
            incomplete=[str(method) for method in n_done.index[n_done < n_tasks]],
            masks_vary=self.masks_vary,
        )

    def rankable(self) -> list[str]:
        """Return the metrics that methods can be ranked by: those with a value for any of them."""
        columns, table = self.per_column, self.table
        return [
            metric
            for metric in RANKED_METRICS
            if (table if metric in TABLE_SCORES else columns)[metric].notna().any()
        ]

    def summary(self, metric: str = RANKED_BY) -> pd.DataFrame:
        """Return one row per method, best first: means, standard errors, ranks with ties.

        Parameters
        ----------
        metric : str, default "skill"
            The metric to rank by; see :meth:`ranks`.

        Returns
        -------
        DataFrame
            By method: ``rank`` (missing where there is no result), ``tie_group``, how far
            ``behind`` the best of the group, each score with its standard error over seeds
            (``_se``), the medians of seconds and memory, ``n_done`` of ``n_tasks``, how many
            ``n_imputations`` of a cell were scored (1: a point mass), and a ``remark`` that says
            why results are missing.
        """
        table = self.table
        done = table[table["status"] == "done"]
        n_done = done.groupby("method").size().reindex(self.methods, fill_value=0)
        n_tasks = table.groupby("method").size().reindex(self.methods)
        ranks = self.ranks(metric).drop(columns="score")
        without_rank = [method for method in self.methods if method not in ranks.index]
        order = [*ranks.index, *without_rank]
        summary = ranks.reindex(order).join(_means_and_costs(done), how="left")
        summary = summary.assign(
            n_done=n_done,
            n_tasks=n_tasks,
            n_imputations=table.groupby("method")["n_imputations"].max(),
            remark=pd.Series(self._remarks(), dtype=object),
        )
        summary.index.name = "method"
        return summary.astype({"rank": "Int64", "tie_group": "Int64"})

    def ranking_table(self, metric: str = RANKED_BY) -> pd.DataFrame:
        """Return one row per method, best first, as the ranking and its figure show it.

        Parameters
        ----------
        metric : str, default "skill"
            The metric to rank by; see :meth:`ranks`.

        Returns
        -------
        DataFrame
            ``method``, ``rank``, ``place`` (the rank in words), ``tie_group``, ``score``, and
            ``low`` and ``high``: the range of the score by the 95% interval of its paired
            difference to the leader of its group (the score itself for leaders). Methods that
            failed on some seeds come after all others, those without any result last, without a
            rank.
        """
        return ranking_table(self.ranks(metric), self.table, self.methods, metric)

    def seed_scores(self, metric: str = RANKED_BY) -> pd.DataFrame:
        """Return a metric by method and seed: of the table, or the mean over columns."""
        if metric in TABLE_SCORES:
            table = self.table.dropna(subset=metric)
            return table[["method", "seed", metric]].rename(columns={metric: "score"})
        columns = self.per_column.dropna(subset=metric)
        scores = columns.groupby(["method", "seed"])[metric].mean()
        return scores.rename("score").reset_index()

    def column_winners(self) -> pd.DataFrame:
        """Return the best method per column, those tied with it, a p-value and a verdict in words.

        See :func:`~pmae_core.evaluation.column_winners`.
        """
        return column_winners(self.per_column, self.cell_gains)

    def best_method(self) -> str | None:
        """Return the method with the best mean among those without failures, if there is one."""
        leaders = self.summary()["rank"].dropna()
        return None if leaders.empty else str(leaders.index[0])

    def disagreement(self) -> tuple[str, str] | None:
        """Return the method best on single cells and the one best in distribution, if they differ.

        They differ only if the first is not tied with the second in distribution.
        """
        if DISTRIBUTION not in self.rankable():
            return None
        on_cells, in_distribution = self.ranks(RANKED_BY), self.ranks(DISTRIBUTION)
        if on_cells.empty or in_distribution["rank"].get(on_cells.index[0], 1) == 1:
            return None
        return str(on_cells.index[0]), str(in_distribution.index[0])

    def verdict(self, writing: Writing = PLAIN_TEXT) -> str:
        """Say in a sentence or two which method to use, and what ties are based on.

        Parameters
        ----------
        writing : Writing, optional
            How names and important words are written; plain text if not given.
        """
        ranking = self.ranking_table()
        sentence = verdict_sentence(ranking, self.per_column, writing)
        if ranking["rank"].notna().sum() < 2:
            return sentence
        differing = self.disagreement()
        notes = [
            distribution_sentence(differing and differing[1], writing),
            noise_sentence(len({task.seed for task in self.tasks}), masks_vary=self.masks_vary),
        ]
        return " ".join(filter(None, [sentence, *notes]))

    def __repr__(self) -> str:
        return self._shown().text()

    def _repr_html_(self) -> str:
        return self._shown().html()

    def _shown(self) -> ShownComparison:
        n_seeds = len(self.settings["seeds"])
        title = f"{count(len(self.methods), 'method')} compared over {count(n_seeds, 'seed')}"
        return ShownComparison(
            title=title,
            verdict=self.verdict(),
            ranking=self.ranking_table(),
            winners=self.column_winners(),
            remarks=self._remarks(),
        )

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


def _score(task: TaskResult, name: str) -> float | None:
    """Return a score of a task; results of earlier versions have the skill by column only."""
    if name == "skill" and name not in task.scores and task.per_column:
        return float(pd.Series([row["skill"] for row in task.per_column], dtype=float).mean())
    return task.scores.get(name)


def _means_and_costs(done: pd.DataFrame) -> pd.DataFrame:
    """Return by method each score with its standard error over seeds, and the median costs."""
    scores = done.groupby("method")[list(SCORES)]
    means, errors = scores.mean(), scores.sem().add_suffix("_se")
    paired = [name for score in SCORES for name in (score, f"{score}_se")]
    table = pd.concat([means, errors], axis=1)[paired]
    return table.join(done.groupby("method")[list(COSTS)].median())
