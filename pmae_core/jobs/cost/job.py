"""The cost of a job: that of its methods on the table they will get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from pmae_core.errors import JobError
from pmae_core.evaluation.holdout import HoldoutPlan
from pmae_core.events import Callback
from pmae_core.jobs.cost.estimate import CostEstimate
from pmae_core.jobs.cost.methods import estimate_cost
from pmae_core.storage.json_values import from_json_value
from pmae_core.table import Schema

if TYPE_CHECKING:
    from pmae_core.jobs.spec import JobSpec


def estimate_job(
    spec: JobSpec,
    load_table: Callable[[str], pd.DataFrame],
    *,
    budget_seconds: float | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> CostEstimate | None:
    """Estimate what a job will cost.

    Parameters
    ----------
    spec : JobSpec
        The job.
    load_table : callable
        Returns the table of a digest.
    budget_seconds, callbacks, cancel
        As in :func:`estimate_cost`.

    Returns
    -------
    CostEstimate or None
        None for a job that only applies a trained model.
    """
    params = spec.params
    if "model" in params:
        return None
    frame, schema = _incomplete_table(spec, load_table)
    is_single = "method" in params
    method_params = {params["method"]: params.get("params", {})} if is_single else None
    estimate = estimate_cost(
        frame,
        [params["method"]] if is_single else list(params["methods"]),
        schema=schema,
        method_params=method_params or params.get("method_params"),
        seeds=1 if is_single else len(params["seeds"]),
        imputations=params.get("imputations") or 0,
        threads=spec.resources.threads,
        budget_seconds=budget_seconds,
        callbacks=callbacks,
        cancel=cancel,
    )
    return replace(
        estimate,
        method_limit=params.get("method_budget_seconds"),
        limit=params.get("budget_seconds"),
    )


def _incomplete_table(
    spec: JobSpec, load_table: Callable[[str], pd.DataFrame]
) -> tuple[pd.DataFrame, Schema]:
    """Return the table that the methods of a job will get, and the roles of its columns."""
    params = spec.params
    amputation: dict[str, Any] | None
    if spec.kind == "benchmark":
        from pmae_core.evaluation import benchmark_table

        table = benchmark_table(params["dataset"], max_rows=params.get("max_rows"), seed=spec.seed)
        frame, schema = table.frame, table.schema
        names = ("pattern", "mechanism", "coupling")
        amputation = {name: params[name] for name in names if params.get(name) is not None}
    elif spec.table is None:
        raise JobError("This job has no table, so there is nothing to estimate.")
    else:
        frame = load_table(spec.table)
        schema = spec.read_schema() or Schema.infer(frame)
        amputation = params.get("amputation")
    target = from_json_value(params.get("target"))
    if target is not None and target in frame.columns:
        frame = frame.drop(columns=target)
        schema = schema.only(set(schema.names()) - {target})
    if amputation is not None:
        seed = int(params["seeds"][0])
        plan = HoldoutPlan(kind="amputation", amputation=amputation)
        frame = plan.make(frame, schema, seed).incomplete
    return frame, schema
