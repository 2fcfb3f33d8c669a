"""The cost of methods on a table: short real runs within a budget of time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import psutil
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from pmae_core.errors import JobError
from pmae_core.events import Callback
from pmae_core.jobs.cost.estimate import NO_PROGRESS, CostEstimate, MethodCost, MethodProbed
from pmae_core.jobs.cost.extrapolation import MEGABYTE
from pmae_core.jobs.cost.load import MachineLoad
from pmae_core.jobs.cost.parts import RequestedMethod
from pmae_core.jobs.cost.probe import Probe
from pmae_core.jobs.cost.samples import TableSamples
from pmae_core.table import Schema

LEAST_BUDGET_SECONDS = 5.0
BUDGET_SECONDS_PER_METHOD = 1.0


def estimate_cost(
    frame: pd.DataFrame,
    methods: Sequence[str],
    *,
    schema: Schema | Mapping[Any, str] | None = None,
    method_params: Mapping[str, Mapping[str, Any]] | None = None,
    seeds: int = 1,
    imputations: int = 0,
    threads: int | None = None,
    budget_seconds: float | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> CostEstimate:
    """Estimate the time and memory of methods on a table by short real runs.

    Parameters
    ----------
    frame : DataFrame
        The table with its missing cells.
    methods : sequence of str
        Names from :func:`pmae_core.imputers.list_imputers`.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    method_params : mapping of method to mapping, optional
        Parameters of methods.
    seeds : int, default 1
        How often each method will run.
    imputations : int, default 0
        How many random imputations each run is followed by, of a method that draws them.
    threads : int, optional
        Threads that the job will have; the short runs take as many. By default, no limit is set.
    budget_seconds : float, optional
        For all short runs together; by default 1 s per method, and at least 5 s. Loading
        libraries does not count: the job needs them, too. A method that is stopped ends its unit
        of work first, so the estimate may take a moment more.
    callbacks : sequence of callables
        Each gets a :class:`MethodProbed` when the cost of a method is estimated.
    cancel : callable, optional
        ``True`` when the user wants to stop.

    Returns
    -------
    CostEstimate
        For each method, and in total.

    Raises
    ------
    JobError, SchemaError, ImputationError
        If the methods or the table cannot be used as asked. A method that fails on the table
        has the reason in its ``error``.
    Cancelled
        If the user asked to stop.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 80)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::4, "y"] = np.nan
    >>> estimate = estimate_cost(table, ["naive", "em"], budget_seconds=1)
    >>> [cost.method for cost in estimate.per_method]
    ['naive', 'em']
    >>> 0 < estimate.total_seconds < 10
    True
    """
    _check_request(frame, methods, budget_seconds)
    schema = schema if isinstance(schema, Schema) else Schema.infer(frame, roles=schema)
    given = method_params or {}
    requested = [RequestedMethod.make(name, given.get(name, {})) for name in methods]
    probes = _warm_probes(
        requested, TableSamples(frame, schema), cancel or (lambda: False), imputations
    )
    if budget_seconds is None:
        budget_seconds = max(LEAST_BUDGET_SECONDS, BUDGET_SECONDS_PER_METHOD * len(probes))
    started = time.perf_counter()
    base_mb = psutil.Process().memory_info().rss / MEGABYTE
    with threadpool_limits(threads):
        _run_probes(list(probes.values()), started + budget_seconds)
    # The load is that of the machine: the runs of one method are often too short to tell it.
    load = MachineLoad.during([run for probe in probes.values() for run in probe.runs])
    costs_of_parts = {key: _cost(probe, base_mb, load) for key, probe in probes.items()}
    costs: list[MethodCost] = []
    for one in requested:
        costs.append(one.cost(costs_of_parts))
        event = MethodProbed(cost=costs[-1], n_done=len(costs), n_methods=len(requested))
        for callback in callbacks:
            callback(event)
    seconds = time.perf_counter() - started
    return CostEstimate(per_method=costs, seeds=seeds, probe_seconds=round(seconds, 3))


def _check_request(
    frame: pd.DataFrame, methods: Sequence[str], budget_seconds: float | None
) -> None:
    if not methods:
        raise JobError("Name at least one method to estimate.")
    if budget_seconds is not None and not budget_seconds > 0:
        raise JobError(f"The time for an estimate must be more than 0 s, not {budget_seconds}.")
    if len(frame) == 0:
        raise JobError("A table without rows has no cost to estimate. Use one with rows.")


def _warm_probes(
    requested: Sequence[RequestedMethod],
    samples: TableSamples,
    cancel: Callable[[], bool],
    imputations: int,
) -> dict[str, Probe]:
    """Return one probe per method with its parameters, ready to be timed."""
    to_run = {part.key: part for one in requested for part in one.to_run()}
    probes = {
        key: Probe(part.name, part.params, samples, cancel, imputations)
        for key, part in to_run.items()
    }
    for probe in probes.values():
        probe.warm_up()
    return probes


def _run_probes(probes: Sequence[Probe], deadline: float) -> None:
    """Run each method first, then share what time is left: methods without a speed first."""
    for turn, probe in enumerate(probes):
        # A method that shows no speed keeps half of its time for a smaller sample.
        probe.run_first(_share_of_time(deadline, len(probes) - turn) / 2)
    unknown = [probe for probe in probes if probe.largest_run is None]
    for turn, probe in enumerate(unknown):
        probe.run_larger(_share_of_time(deadline, len(unknown) - turn))
    others = sorted((probe for probe in probes if probe not in unknown), key=_seconds_so_far)
    for turn, probe in enumerate(others):
        probe.run_larger(_share_of_time(deadline, len(others) - turn))


def _share_of_time(deadline: float, n_left: int) -> float:
    return max(0.0, deadline - time.perf_counter()) / n_left


def _seconds_so_far(probe: Probe) -> float:
    extrapolation = probe.extrapolation()
    return math.inf if extrapolation is None else extrapolation.time_range().seconds


def _cost(probe: Probe, base_mb: float, load: MachineLoad) -> MethodCost:
    extrapolation = probe.extrapolation(load)
    if extrapolation is None:
        return MethodCost(method=probe.method, error=probe.error or NO_PROGRESS)
    whole = extrapolation.time_range()
    return MethodCost(
        method=probe.method,
        seconds=whole.seconds,
        low=whole.low,
        high=whole.high,
        memory_mb=base_mb + extrapolation.memory_mb(),
        busy=extrapolation.load.slowdown_of_job,
        how=extrapolation.basis(),
    )
