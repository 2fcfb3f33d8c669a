"""Compare methods on a table: the same hidden cells for all, results as they come."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import Cancelled, ScoringError
from pmae_core.evaluation.downstream import Downstream
from pmae_core.evaluation.holdout import HoldoutKind, HoldoutPlan
from pmae_core.evaluation.metrics import METRICS
from pmae_core.evaluation.parallel import Pool, TaskPool
from pmae_core.evaluation.ranking import column_winners, rank_methods
from pmae_core.evaluation.store import ResultStore, table_digest
from pmae_core.evaluation.tasks import (
    SCORES,
    Task,
    TaskFinished,
    TaskResult,
    TaskStarted,
    run_task,
)
from pmae_core.events import Callback, Event
from pmae_core.imputers import make_imputer
from pmae_core.storage.json_values import to_json_value
from pmae_core.table import Schema

COSTS = ("fit_seconds", "impute_seconds", "peak_memory_mb")
NOT_RUN = "not run: time budget"


def compare(
    table: pd.DataFrame,
    methods: Sequence[str],
    *,
    seeds: Sequence[int] = (0, 1, 2),
    schema: Schema | Mapping[Any, str] | None = None,
    holdout: HoldoutKind | None = None,
    amputation: Mapping[str, Any] | None = None,
    holdout_share: float = 0.1,
    method_params: Mapping[str, Mapping[str, Any]] | None = None,
    imputers: Mapping[str, str] | None = None,
    budget_seconds: float | None = None,
    method_budget_seconds: float | None = None,
    truth: pd.DataFrame | None = None,
    target: Any = None,
    downstream: Downstream | None = None,
    results_dir: str | Path | None = None,
    retry_failed: bool = False,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
    n_jobs: int = 1,
    pool: Pool | None = None,
) -> Comparison:
    """Compare methods on a table, each on the same hidden cells.

    For each seed cells are hidden once; every method fills the same table and is scored on the
    cells whose truth is known.

    Parameters
    ----------
    table : DataFrame
        The table: with its holes, or complete for an amputation.
    methods : sequence of str
        Names from :func:`pmae_core.imputers.list_imputers`, or those of `imputers`.
    seeds : sequence of int, default (0, 1, 2)
        Three or more let noise be told from merit.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    holdout : {"like-mine", "amputation", "known-truth"}, optional
        Which cells are hidden; see :class:`~pmae_core.evaluation.holdout.HoldoutPlan`. By default
        "known-truth" with `truth`, "amputation" with `amputation`, else "like-mine".
    amputation : mapping, optional
        Settings of :func:`pmae_core.amputation.ampute`, without seed and schema.
    holdout_share : float, default 0.1
        For "like-mine": about which share of the observed cells is hidden.
    method_params : mapping of method to mapping, optional
        Parameters of methods.
    imputers : mapping of method to str, optional
        Names of imputers for methods that are called otherwise, so that one imputer can be
        compared with itself under other parameters.
    budget_seconds : float, optional
        For all together. A task that runs at that time is stopped, the others get the
        row "not run: time budget".
    method_budget_seconds : float, optional
        For each method and seed. A method is asked to stop then, and its row says so.
    truth : DataFrame, optional
        The complete table, if the holes of `table` are those to judge by.
    target : column name, optional
        A column that methods must not see, as the label of a later prediction.
    downstream : Downstream, optional
        Labels of the rows: how well they are predicted from each filled table is measured, too.
    results_dir : path, optional
        Each result is written there at once, in its own file. A later call with the same table,
        roles and hold-out takes up what is there (also with more methods or seeds);
        another comparison in the same folder is refused.
    retry_failed : bool, default False
        Run those again that failed in an earlier call.
    callbacks : sequence of callables
        Each gets :class:`~pmae_core.evaluation.tasks.TaskStarted`, ``TaskProgress`` and
        ``TaskFinished``.
    cancel : callable, optional
        ``True`` when the user wants to stop.
    n_jobs : int, default 1
        Tasks at a time, in processes of their own where more than 1; see
        :class:`~pmae_core.evaluation.parallel.TaskPool`.
    pool : Pool, optional
        Runs the tasks elsewhere, for example on a cluster, instead of `n_jobs` processes. It has
        listeners and a wish to stop of its own for what happens inside a task.

    Returns
    -------
    Comparison
        Results, ranks, winners, and the report.

    Raises
    ------
    ScoringError, ImputationError, AmputationError, SchemaError
        If the comparison cannot begin as asked. A method that fails later is a row.
    Cancelled
        If the user asked to stop; what is in `results_dir` stays.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 80)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::4, "y"] = np.nan
    >>> comparison = compare(table, ["naive", "em"], seeds=[0])
    >>> comparison.table["status"].tolist()
    ['done', 'done']
    """
    started = time.monotonic()
    plan = _plan(holdout, amputation, holdout_share, truth)
    params = _checked_params(methods, method_params or {}, imputers or {})
    if not methods or not len(seeds):
        raise ScoringError("Name at least one method and one seed.")
    if n_jobs < 1:
        raise ScoringError(f"n_jobs must be at least 1, not {n_jobs}.")
    if n_jobs > 1:
        if pool is not None:
            raise ScoringError("Give either n_jobs or a pool: the pool knows how many it can run.")
        pool = TaskPool(n_jobs, cancel or (lambda: False))
    schema = schema if isinstance(schema, Schema) else Schema.infer(table, roles=schema)
    if target is not None:
        table, schema = _without_target(table, schema, target)
    plan.make(table, schema, seeds[0], truth)  # what cannot work fails before anything is spent

    tasks = [
        Task(
            method=method,
            seed=int(seed),
            table=table,
            schema=schema,
            holdout=plan,
            params=params[method],
            imputer=(imputers or {}).get(method),
            truth=truth,
            budget_seconds=method_budget_seconds,
            downstream=downstream,
        )
        # All methods have their first seed before any has its second.
        for seed in dict.fromkeys(seeds)
        for method in dict.fromkeys(methods)
    ]
    specification = _specification(table, schema, plan, truth, target, downstream)
    run = _ComparisonRun(
        tasks=tasks,
        store=ResultStore(results_dir, specification) if results_dir is not None else None,
        retry_failed=retry_failed,
        deadline=None if budget_seconds is None else started + budget_seconds,
        callbacks=callbacks,
        cancel=cancel or (lambda: False),
        pool=pool,
    )
    settings = {
        "methods": list(dict.fromkeys(methods)),
        "seeds": [int(seed) for seed in dict.fromkeys(seeds)],
        "method_params": {name: dict(value) for name, value in params.items() if value},
        **({"imputers": dict(imputers)} if imputers else {}),
        "budget_seconds": budget_seconds,
        "method_budget_seconds": method_budget_seconds,
        "n_jobs": n_jobs,
        **{key: value for key, value in specification.items() if key != "schema"},
    }
    return Comparison(tasks=run.results(), settings=settings)


@dataclass
class Comparison:
    """The results of a comparison.

    Attributes
    ----------
    tasks : list of TaskResult
        One for each method and seed.
    settings : dict
        JSON-able: methods, seeds, hold-out, budgets, and what the table was.
    """

    tasks: list[TaskResult]
    settings: dict[str, Any]

    @property
    def methods(self) -> list[str]:
        """The methods, in the order in which they were named."""
        return list(self.settings["methods"])

    @property
    def masks_vary(self) -> bool:
        """Whether each seed hides other cells."""
        return bool(self.settings["holdout"] != "known-truth")

    @property
    def table(self) -> pd.DataFrame:
        """A row for each method and seed: status, error, scores, seconds and memory."""
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
        """A row for each method, seed and scored column: metrics, and skill over the mean."""
        rows = [
            {"method": task.method, "seed": task.seed, **column}
            for task in self.tasks
            for column in task.per_column
        ]
        figures = dict.fromkeys((*METRICS, "skill"), float)
        columns = ["method", "seed", "column", "role", "n_missing", "n_scored", *figures]
        return pd.DataFrame(rows, columns=columns).astype(figures)

    def summary(self, metric: str = "imputation_accuracy") -> pd.DataFrame:
        """Return one row a method, best first: means, standard errors, ranks with ties.

        Parameters
        ----------
        metric : str, default "imputation_accuracy"
            By which to rank; see :func:`~pmae_core.evaluation.ranking.rank_methods`.

        Returns
        -------
        DataFrame
            By method: ``rank`` (missing where there is no result), ``band``, how far ``behind``
            the leader of the band, each score with its standard error over seeds (``_se``), the
            medians of seconds and memory, ``n_done`` of ``n_tasks``, and a ``remark`` with the
            reasons of what is lacking.
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
        scores = done.groupby("method")[list(SCORES)]
        means, errors = scores.mean(), scores.sem().add_suffix("_se")
        paired = [name for score in SCORES for name in (score, f"{score}_se")]
        summary = pd.concat([means, errors], axis=1)[paired]
        summary = summary.join(done.groupby("method")[list(COSTS)].median())
        summary = ranks.join(summary, how="left")
        without_rank = [method for method in self.methods if method not in ranks.index]
        summary = summary.reindex([*ranks.index, *without_rank])
        summary = summary.assign(
            n_done=n_done, n_tasks=n_tasks, remark=pd.Series(self._remarks(), dtype=object)
        )
        summary.index.name = "method"
        return summary.astype({"rank": "Int64", "band": "Int64"})

    def column_winners(self) -> pd.DataFrame:
        """Return for each column the best method, those tied with it, and a verdict in words."""
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
        """Write the results, a row for each method and seed, and those by column beside them."""
        self.table.to_csv(path, index=False)
        if per_column is not None:
            self.per_column.to_csv(per_column, index=False)

    def to_html(self, path: str | Path) -> None:
        """Write the report: one file with all figures in it, which needs no network."""
        from pmae_core.evaluation.report import comparison_report

        Path(path).write_text(comparison_report(self), encoding="utf-8")

    def write(self, folder: str | Path) -> list[Path]:
        """Write results.csv, per_column.csv, comparison.json and report.html into a folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        names = ("results.csv", "per_column.csv", "comparison.json", "report.html")
        results, per_column, everything, report = paths = [folder / name for name in names]
        self.to_csv(results, per_column=per_column)
        everything.write_text(self.to_json() + "\n", encoding="utf-8")
        self.to_html(report)
        return paths

    def _remarks(self) -> dict[str, str]:
        reasons: dict[str, dict[str, list[int]]] = {method: {} for method in self.methods}
        for task in self.tasks:
            if task.error:
                reasons[task.method].setdefault(task.error, []).append(task.seed)
        return {
            method: " ".join(
                f"Seed {', '.join(map(str, seeds))}: {error}" for error, seeds in errors.items()
            )
            for method, errors in reasons.items()
        }


@dataclass
class _ComparisonRun:
    """The tasks of a comparison on their way to results."""

    tasks: Sequence[Task]
    store: ResultStore | None
    retry_failed: bool
    deadline: float | None
    callbacks: Sequence[Callback]
    cancel: Callable[[], bool]
    pool: Pool | None
    n_done: int = 0
    unstarted: list[Task] = field(default_factory=list)

    def results(self) -> list[TaskResult]:
        """Take what is on disk, run the rest, and return all in the order of the tasks."""
        found = {}
        for task in self.tasks:
            result = self._from_disk(task)
            if result is not None:
                found[task.method, task.seed] = result
                self._tell_result(result, from_disk=True)
            else:
                self.unstarted.append(task)
        for result in self._run():
            if self.store is not None and self._is_final(result):
                self.store.save(result, _identity(self._task_of(result)))
            found[result.method, result.seed] = result
            self._tell_result(result)
        return [found[task.method, task.seed] for task in self.tasks]

    def _run(self) -> Iterator[TaskResult]:
        if self.pool is not None:
            yield from self.pool.run(self._next_task)
        else:
            while (task := self._next_task()) is not None:
                yield run_task(task, callbacks=self.callbacks, cancel=self.cancel)
        for task in self.unstarted:
            yield TaskResult(method=task.method, seed=task.seed, status="not run", error=NOT_RUN)

    def _next_task(self) -> Task | None:
        """Return the next task with the time it has, None if there is no task or no time."""
        if self.cancel():
            raise Cancelled("The comparison was stopped.")
        remaining = None if self.deadline is None else self.deadline - time.monotonic()
        if not self.unstarted or (remaining is not None and remaining <= 0):
            return None
        task = self.unstarted.pop(0)
        self._tell(TaskStarted(method=task.method, seed=task.seed))
        budgets = [one for one in (task.budget_seconds, remaining) if one is not None]
        return replace(task, budget_seconds=min(budgets, default=None))

    def _from_disk(self, task: Task) -> TaskResult | None:
        if self.store is None:
            return None
        result = self.store.load(task.method, task.seed, _identity(task))
        if result is None or (result.status == "failed" and self.retry_failed):
            return None
        if result.status == "stopped" and _more_time(task.budget_seconds, result.budget_seconds):
            return None
        return result

    def _is_final(self, result: TaskResult) -> bool:
        """Say whether a result would be the same another time: not if all time was used up."""
        if result.status != "stopped":
            return result.status != "not run"
        return result.budget_seconds == self._task_of(result).budget_seconds

    def _task_of(self, result: TaskResult) -> Task:
        return next(t for t in self.tasks if (t.method, t.seed) == (result.method, result.seed))

    def _tell_result(self, result: TaskResult, *, from_disk: bool = False) -> None:
        self.n_done += 1
        self._tell(
            TaskFinished(
                result=result, n_done=self.n_done, n_tasks=len(self.tasks), from_disk=from_disk
            )
        )

    def _tell(self, event: Event) -> None:
        for callback in self.callbacks:
            callback(event)


def _identity(task: Task) -> dict[str, Any]:
    """Return what a result on disk must have been made with to be that of the task."""
    named = {} if task.imputer in (None, task.method) else {"imputer": task.imputer}
    return {**named, **task.params}


def _more_time(now: float | None, then: float | None) -> bool:
    return now is None or (then is not None and now > then)


def _plan(
    holdout: HoldoutKind | None,
    amputation: Mapping[str, Any] | None,
    share: float,
    truth: pd.DataFrame | None,
) -> HoldoutPlan:
    if holdout is None:
        with_amputation: HoldoutKind = "like-mine" if amputation is None else "amputation"
        holdout = with_amputation if truth is None else "known-truth"
    if amputation is not None and holdout != "amputation":
        raise ScoringError(f"Settings of an amputation mean nothing to the hold-out {holdout!r}.")
    if (truth is None) == (holdout == "known-truth"):
        raise ScoringError(
            "The hold-out 'known-truth', and no other, needs `truth`, the complete table."
        )
    return HoldoutPlan(kind=holdout, share=share, amputation=dict(amputation or {}))


def _checked_params(
    methods: Sequence[str],
    method_params: Mapping[str, Mapping[str, Any]],
    imputers: Mapping[str, str],
) -> dict[str, dict[str, Any]]:
    strangers = [name for name in {**method_params, **imputers} if name not in methods]
    if strangers:
        raise ScoringError(
            f"There are parameters for {', '.join(strangers)}, which is not compared."
        )
    params = {name: dict(method_params.get(name, {})) for name in methods}
    for name, given in params.items():
        reserved = sorted({"schema", "random_state"} & set(given))
        if reserved:
            raise ScoringError(
                f"Leave {' and '.join(reserved)} out of the parameters of {name}: the comparison "
                "gives them to all methods alike."
            )
        make_imputer(
            imputers.get(name, name), **given
        )  # an unknown name or parameter is refused at once
    return params


def _without_target(
    table: pd.DataFrame, schema: Schema, target: Any
) -> tuple[pd.DataFrame, Schema]:
    if target not in table.columns:
        raise ScoringError(f"The table has no column {target!r} that could be the target.")
    columns = tuple(column for column in schema if column.name != target)
    return table.drop(columns=target), Schema(columns)


def _specification(
    table: pd.DataFrame,
    schema: Schema,
    plan: HoldoutPlan,
    truth: pd.DataFrame | None,
    target: Any,
    downstream: Downstream | None,
) -> dict[str, Any]:
    """Return all that makes results comparable, as JSON-able data."""
    asked_too = {}
    if downstream is not None:
        labels = table_digest(downstream.labels.to_frame("label"))
        asked_too = {"downstream": f"{downstream.task} of {labels}"}
    return {
        "table": table_digest(table),
        "n_rows": len(table),
        "n_columns": table.shape[1],
        "n_missing": int(table.isna().to_numpy().sum()),
        "schema": schema.to_dict(),
        "holdout": plan.kind,
        "holdout_share": plan.share if plan.kind == "like-mine" else None,
        "amputation": dict(plan.amputation) if plan.kind == "amputation" else None,
        "truth": None if truth is None else table_digest(truth),
        "target": to_json_value(target),
        **asked_too,
    }
