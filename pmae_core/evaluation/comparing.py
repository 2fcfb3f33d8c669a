"""Compare methods on a table: the same held-out cells for all, results as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.comparison import Comparison
from pmae_core.evaluation.comparison_run import ComparisonRun
from pmae_core.evaluation.downstream import Downstream
from pmae_core.evaluation.holdout import HoldoutKind, HoldoutPlan
from pmae_core.evaluation.leakage import check_leaks
from pmae_core.evaluation.parallel import Pool, TaskPool
from pmae_core.evaluation.store import ResultStore, table_digest
from pmae_core.evaluation.tasks import Task
from pmae_core.events import Callback
from pmae_core.imputers import make_imputer
from pmae_core.progress import watched
from pmae_core.storage.json_values import to_json_value
from pmae_core.table import Schema
from pmae_core.words import listed

# Enough to rank methods: the scores' expectation does not depend on how many there are.
IMPUTATIONS = 5


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
    imputations: int = IMPUTATIONS,
    i_score: bool = False,
    results_dir: str | Path | None = None,
    retry_failed: bool = False,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
    n_jobs: int = 1,
    pool: Pool | None = None,
    run_order: Iterable[str] | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare methods on a table, all on the same held-out cells.

    For each seed, cells are held out once. Every method imputes the same table and is scored on
    the held-out cells whose true value is known.

    Parameters
    ----------
    table : DataFrame
        The table: with its missing values, or complete for an amputation.
    methods : sequence of str
        Names from :func:`pmae_core.imputers.list_imputers`, or those of `imputers`.
    seeds : sequence of int, default (0, 1, 2)
        Three or more seeds show how much results vary.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred if not given.
    holdout : {"like-mine", "amputation", "known-truth"}, optional
        Which cells are held out; see :class:`~pmae_core.evaluation.holdout.HoldoutPlan`. By default
        "known-truth" with `truth`, "amputation" with `amputation`, else "like-mine".
    amputation : mapping, optional
        Settings of :func:`pmae_core.amputation.ampute`, without seed and schema.
    holdout_share : float, default 0.1
        For "like-mine": about which share of the observed cells to hold out.
    method_params : mapping of method to mapping, optional
        Parameters of methods.
    imputers : mapping of method to str, optional
        The imputer of each method whose name is not that of an imputer. With this, one imputer
        can be compared under several settings.
    budget_seconds : float, optional
        Time limit of the whole comparison. A task that is running then is stopped; the rest
        get the error "not run: time budget".
    method_budget_seconds : float, optional
        Time limit of each method and seed. A method is asked to stop then, and its row says so.
    truth : DataFrame, optional
        The complete table, if methods are scored on the missing values of `table` itself.
    target : column name, optional
        A column to leave out, such as the label of a later prediction.
    downstream : Downstream, optional
        Labels of the rows, to be predicted from the features as a further score. Each method is
        fitted again, to the training rows of the prediction only.
    imputations : int, default 5
        How many random imputations of each method that draws them are scored as a distribution;
        see :func:`~pmae_core.evaluation.score_imputations`. A method that gives one imputation is
        scored as a point mass. 0 scores single imputations only.
    i_score : bool, default False
        Also compute the :func:`~pmae_core.evaluation.energy_i_score` of each method on the table
        itself. It costs one more fit per method and seed for the table, and one for each of its
        incomplete columns.
    results_dir : path, optional
        Each result is written there at once, in its own file. A later call with the same table,
        roles and hold-out reuses these files, even with more methods or seeds;
        a different comparison in the same folder is refused. A result without the scores that are
        asked for, or one that is damaged, is computed again.
    retry_failed : bool, default False
        Run tasks again that failed in an earlier call.
    callbacks : sequence of callables
        Each is called with :class:`~pmae_core.evaluation.tasks.TaskStarted`, ``TaskProgress``
        and ``TaskFinished``, and with :class:`~pmae_core.events.DamageFound`.
    cancel : callable, optional
        Returns ``True`` to stop.
    n_jobs : int, default 1
        Tasks at a time, each in its own process if more than 1; see
        :class:`~pmae_core.evaluation.parallel.TaskPool`.
    pool : Pool, optional
        Runs the tasks elsewhere, for example on a cluster, instead of in `n_jobs` processes. It
        handles callbacks and cancellation inside a task itself.
    run_order : iterable of str, optional
        The methods in the order in which they run, each with all its seeds: the quick ones first
        give a first answer early. It is asked for one at a time, so it may still be computed while
        the first methods run. By default all methods run a seed before any runs the next.
    progress : bool, default False
        Whether to show a bar with the time that is left, in a terminal or a notebook. The first
        interrupt then ends the comparison as `cancel` does, the second at once.

    Returns
    -------
    Comparison
        Results, ranks and winners; :func:`~pmae_core.evaluation.write_comparison` writes them.

    Raises
    ------
    ScoringError, ImputationError, AmputationError, SchemaError
        If the comparison cannot start with these settings, or if a feature is a copy or a
        one-to-one recoding of the labels of `downstream`. A method that fails later is a row.
    Cancelled
        If the user asked to stop; results in `results_dir` are kept.

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
    _check_counts(methods, seeds, n_jobs, pool)
    if imputations < 0:
        raise ScoringError(f"imputations must be at least 0, not {imputations}.")
    schema = schema if isinstance(schema, Schema) else Schema.infer(table, roles=schema)
    if target is not None:
        table, schema = _without_target(table, schema, target)
    plan.make(table, schema, seeds[0], truth)  # what cannot work fails before any time is spent
    if downstream is not None:
        check_leaks(downstream.pose(table, schema))

    common: dict[str, Any] = {"table": table, "schema": schema, "holdout": plan, "truth": truth}
    common |= {"budget_seconds": method_budget_seconds, "downstream": downstream}
    common |= {"imputations": imputations, "i_score": i_score}
    tasks = _tasks(seeds, params, imputers or {}, common)
    specification = _specification(tasks[0], target)
    with watched("Comparing", progress=progress, callbacks=callbacks, cancel=cancel) as work:
        store = None
        if results_dir is not None:
            store = ResultStore(results_dir, specification, work.callbacks)
        run = ComparisonRun(
            tasks=tasks,
            run_order=run_order,
            store=store,
            retry_failed=retry_failed,
            deadline=None if budget_seconds is None else started + budget_seconds,
            callbacks=work.callbacks,
            cancel=work.cancel,
            pool=TaskPool(n_jobs, work.cancel) if n_jobs > 1 else pool,
        )
        results = run.results()
    limits = {
        "budget_seconds": budget_seconds,
        "method_budget_seconds": method_budget_seconds,
        "n_jobs": n_jobs,
        "imputations": imputations,
        **({"i_score": True} if i_score else {}),
    }
    settings = {**_settings(tasks, imputers or {}), **limits, **specification}
    del settings["schema"]
    return Comparison(tasks=results, settings=settings)


def _tasks(
    seeds: Sequence[int],
    params: Mapping[str, Mapping[str, Any]],
    imputers: Mapping[str, str],
    common: Mapping[str, Any],
) -> list[Task]:
    """Return a task per method and seed; all methods run a seed before any runs the next."""
    return [
        Task(method=method, seed=int(seed), params=own, imputer=imputers.get(method), **common)
        for seed in dict.fromkeys(seeds)
        for method, own in params.items()
    ]


def _settings(tasks: Sequence[Task], imputers: Mapping[str, str]) -> dict[str, Any]:
    """Return what is compared, as JSON-able data."""
    return {
        "methods": list(dict.fromkeys(task.method for task in tasks)),
        "seeds": list(dict.fromkeys(task.seed for task in tasks)),
        "method_params": {task.method: dict(task.params) for task in tasks if task.params},
        **({"imputers": dict(imputers)} if imputers else {}),
    }


def _check_counts(
    methods: Sequence[str], seeds: Sequence[int], n_jobs: int, pool: Pool | None
) -> None:
    if not methods or not len(seeds):
        raise ScoringError("Name at least one method and one seed.")
    if n_jobs < 1:
        raise ScoringError(f"n_jobs must be at least 1, not {n_jobs}.")
    if n_jobs > 1 and pool is not None:
        raise ScoringError(
            "Give either n_jobs or a pool: the pool decides how many tasks run at once."
        )


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
        raise ScoringError(
            f"The hold-out {holdout!r} has no use for settings of an amputation. Leave them out, "
            "or choose the hold-out 'amputation'."
        )
    if (truth is None) == (holdout == "known-truth"):
        raise ScoringError(
            "The hold-out 'known-truth' needs `truth`, the complete table; other hold-outs do not "
            "use it."
        )
    return HoldoutPlan(kind=holdout, share=share, amputation=dict(amputation or {}))


def _checked_params(
    methods: Sequence[str],
    method_params: Mapping[str, Mapping[str, Any]],
    imputers: Mapping[str, str],
) -> dict[str, dict[str, Any]]:
    not_compared = [name for name in {**method_params, **imputers} if name not in methods]
    if not_compared:
        raise ScoringError(
            f"There are parameters for {listed(not_compared)}, which is not among the methods."
        )
    params = {name: dict(method_params.get(name, {})) for name in methods}
    for name, given in params.items():
        reserved = sorted({"schema", "random_state"} & set(given))
        if reserved:
            raise ScoringError(
                f"Leave {listed(reserved)} out of the parameters of {name}: the comparison sets "
                "them for all methods."
            )
        make_imputer(imputers.get(name, name), **given)  # refuses unknown names and parameters
    return params


def _without_target(
    table: pd.DataFrame, schema: Schema, target: Any
) -> tuple[pd.DataFrame, Schema]:
    if target not in table.columns:
        raise ScoringError(f"The table has no column {target!r} to use as the target.")
    features = table.drop(columns=target)
    return features, schema.only(features.columns)


def _specification(task: Task, target: Any) -> dict[str, Any]:
    """Return all settings that results must share to be comparable, as JSON-able data."""
    table, plan = task.table, task.holdout
    labels = {}
    if task.downstream is not None:
        digest = table_digest(task.downstream.labels.to_frame("label"))
        labels = {"downstream": f"{task.downstream.task} of {digest}"}
        if task.downstream.fit_rows == "training":
            labels["downstream"] += ", imputers fitted to the training rows"
    return {
        "table": table_digest(table),
        "n_rows": len(table),
        "n_columns": table.shape[1],
        "n_missing": int(table.isna().to_numpy().sum()),
        "schema": task.schema.to_dict(),
        "holdout": plan.kind,
        "holdout_share": plan.share if plan.kind == "like-mine" else None,
        "amputation": dict(plan.amputation) if plan.kind == "amputation" else None,
        "truth": None if task.truth is None else table_digest(task.truth),
        "target": to_json_value(target),
        **labels,
    }
