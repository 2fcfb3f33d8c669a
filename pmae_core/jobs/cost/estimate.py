"""What a job will cost: short real runs of its methods, and what follows from them.

Every method is run for a moment on some rows of the table, then on as many as its share of the
time allows, and is stopped. Its own progress events say how far it came; the rest is a sum. The
range of an estimate is wide where much had to be guessed.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import psutil
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from pmae_core.errors import JobError
from pmae_core.evaluation.holdout import HoldoutPlan
from pmae_core.events import Callback, Event
from pmae_core.imputers import make_imputer
from pmae_core.imputers.auto import AutoImputer
from pmae_core.jobs.cost.probe import MEGABYTE, Probe
from pmae_core.storage.json_values import from_json_value
from pmae_core.table import Schema

if TYPE_CHECKING:
    from pmae_core.jobs.spec import JobSpec

LEAST_BUDGET_SECONDS = 5.0
BUDGET_SECONDS_A_METHOD = 1.0
NOTHING_SEEN = "It came nowhere in the time of the estimate; allow it more time."


@dataclass(frozen=True, kw_only=True)
class MethodCost:
    """What one fit of a method and one filling of the table will take.

    Attributes
    ----------
    method : str
        Its name.
    seconds, low, high : float or None
        The estimate and its range; None where there is none, and `error` says why.
    memory_mb : float or None
        Memory of the whole process at its peak, with the libraries it has loaded.
    busy : float
        By which factor other work on the machine slowed the short runs down: `high` is as if
        it went on, `low` as if it stopped.
    how : str
        What the estimate rests on, in a sentence.
    error : str or None
        Why there is no estimate, in a sentence.
    """

    method: str
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    memory_mb: float | None = None
    busy: float = 1.0
    how: str = ""
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class CostEstimate:
    """What a job will cost.

    Attributes
    ----------
    per_method : list of MethodCost
        One for each method, in the order in which they were named.
    seeds : int
        How often each method runs.
    probe_seconds : float
        What the estimate itself took, without loading libraries.
    method_limit, limit : float or None
        Seconds after which a single run, and all of them, will be stopped.
    """

    per_method: list[MethodCost] = field(default_factory=list)
    seeds: int = 1
    probe_seconds: float = 0.0
    method_limit: float | None = None
    limit: float | None = None

    @property
    def total_seconds(self) -> float:
        """All methods and seeds one after the other; methods without an estimate count 0."""
        return self._total("seconds")

    @property
    def total_range(self) -> tuple[float, float]:
        """The same of the lows and of the highs."""
        return self._total("low"), self._total("high")

    def _total(self, end: str) -> float:
        costs = [getattr(cost, end) or 0.0 for cost in self.per_method]
        total = self.seeds * sum(min(cost, self.method_limit or math.inf) for cost in costs)
        return min(total, self.limit or math.inf)

    @property
    def memory_mb(self) -> float | None:
        """The largest of the methods' peaks, as they run one after the other."""
        return max((c.memory_mb for c in self.per_method if c.memory_mb is not None), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON-able data, with its totals."""
        low, high = self.total_range
        totals = {"total_seconds": self.total_seconds, "total_low": low, "total_high": high}
        return {**asdict(self), **totals, "memory_mb": self.memory_mb}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CostEstimate:
        """Return the estimate that `to_dict` wrote; what was added to it is left out."""
        own = {one.name: data[one.name] for one in fields(cls) if one.name in data}
        costs = [MethodCost(**cost) for cost in data["per_method"]]
        return cls(**{**own, "per_method": costs})

    def with_actual(self, seconds: float) -> dict[str, Any]:
        """Return the estimate beside what the work took in the end, as JSON-able data.

        Parameters
        ----------
        seconds : float
            What it took.

        Returns
        -------
        dict
            That of `to_dict`, ``actual_seconds``, and their ``ratio`` (actual over estimated;
            None where nothing was estimated).
        """
        total = self.total_seconds
        ratio = seconds / total if total > 0 else None
        return {**self.to_dict(), "actual_seconds": seconds, "ratio": ratio}


@dataclass(frozen=True, kw_only=True)
class MethodProbed(Event):
    """The cost of one more method is known."""

    cost: MethodCost
    n_done: int
    n_methods: int


def estimate_cost(
    frame: pd.DataFrame,
    methods: Sequence[str],
    *,
    schema: Schema | Mapping[Any, str] | None = None,
    method_params: Mapping[str, Mapping[str, Any]] | None = None,
    seeds: int = 1,
    threads: int | None = None,
    budget_seconds: float | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> CostEstimate:
    """Say how long methods will take on a table, and how much memory, by short real runs.

    Parameters
    ----------
    frame : DataFrame
        The table with its holes.
    methods : sequence of str
        Names from :func:`pmae_core.imputers.list_imputers`.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    method_params : mapping of method to mapping, optional
        Parameters of methods.
    seeds : int, default 1
        How often each method will run.
    threads : int, optional
        Threads that the job will have; the probes take as many. By default as it is.
    budget_seconds : float, optional
        For all probes together; by default 1 s a method, and 5 s at the least. Loading
        libraries is not counted: the job needs them, too. A method asked to stop ends its unit of
        work first, so that it may take a moment more.
    callbacks : sequence of callables
        Each gets a :class:`MethodProbed` when the cost of a method is known.
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
        is a row with the reason.
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
    if not methods:
        raise JobError("Name at least one method to estimate.")
    if budget_seconds is not None and not budget_seconds > 0:
        raise JobError(f"The time for an estimate must be more than 0 s, not {budget_seconds}.")
    if len(frame) == 0:
        raise JobError("A table without rows costs nothing; there is nothing to estimate.")
    schema = schema if isinstance(schema, Schema) else Schema.infer(frame, roles=schema)
    stop = cancel or (lambda: False)
    wanted = [_Wanted.make(name, (method_params or {}).get(name, {})) for name in methods]
    single = {part.key: part for one in wanted for part in one.parts}
    probes = {
        key: Probe(part.name, part.params, frame, schema, stop) for key, part in single.items()
    }
    for probe in probes.values():
        probe.warm_up()
    if budget_seconds is None:
        budget_seconds = max(LEAST_BUDGET_SECONDS, BUDGET_SECONDS_A_METHOD * len(probes))
    started = time.perf_counter()
    base_mb = psutil.Process().memory_info().rss / MEGABYTE
    with threadpool_limits(threads):
        _look_at_all(list(probes.values()), started + budget_seconds)
    single_costs = {key: _cost(probe, base_mb) for key, probe in probes.items()}
    costs: list[MethodCost] = []
    for one in wanted:
        costs.append(one.cost(single_costs))
        event = MethodProbed(cost=costs[-1], n_done=len(costs), n_methods=len(wanted))
        for callback in callbacks:
            callback(event)
    seconds = time.perf_counter() - started
    return CostEstimate(per_method=costs, seeds=seeds, probe_seconds=round(seconds, 3))


def estimate_job(
    spec: JobSpec,
    load_table: Callable[[str], pd.DataFrame],
    *,
    budget_seconds: float | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> CostEstimate | None:
    """Say what a job will cost.

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
    frame, schema = _table_with_holes(spec, load_table)
    is_single = "method" in params
    method_params = {params["method"]: params.get("params", {})} if is_single else None
    estimate = estimate_cost(
        frame,
        [params["method"]] if is_single else list(params["methods"]),
        schema=schema,
        method_params=method_params or params.get("method_params"),
        seeds=1 if is_single else len(params["seeds"]),
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


def _table_with_holes(
    spec: JobSpec, load_table: Callable[[str], pd.DataFrame]
) -> tuple[pd.DataFrame, Schema]:
    """Return the table that the methods of a job will see, and the roles of its columns."""
    params = spec.params
    amputation: dict[str, Any] | None
    if spec.kind == "benchmark":
        from pmae_core.evaluation import benchmark_table

        table = benchmark_table(params["dataset"], max_rows=params.get("max_rows"), seed=spec.seed)
        frame, schema = table.frame, table.schema
        names = ("pattern", "mechanism", "coupling")
        amputation = {name: params[name] for name in names if params.get(name) is not None}
    elif spec.table is None:
        raise JobError("This job names no table; there is nothing to estimate.")
    else:
        frame = load_table(spec.table)
        schema = spec.read_schema() or Schema.infer(frame)
        amputation = params.get("amputation")
    target = from_json_value(params.get("target"))
    if target is not None and target in frame.columns:
        frame = frame.drop(columns=target)
        schema = Schema(tuple(column for column in schema if column.name != target))
    if amputation is not None:
        seed = int(params["seeds"][0])
        plan = HoldoutPlan(kind="amputation", amputation=amputation)
        frame = plan.make(frame, schema, seed).incomplete
    return frame, schema


# ---------------------------------------------------------------- which methods to probe


@dataclass(frozen=True, kw_only=True)
class _Method:
    """One method with its parameters."""

    name: str
    params: Mapping[str, Any]

    @property
    def key(self) -> str:
        return json.dumps([self.name, self.params], sort_keys=True, default=repr)


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """A method that a user named: itself, or for ``auto`` all that it fits."""

    name: str
    parts: list[_Method]
    n_repeats: int = 0

    @classmethod
    def make(cls, name: str, params: Mapping[str, Any]) -> _Wanted:
        imputer = make_imputer(name, **params)
        if not isinstance(imputer, AutoImputer):
            return cls(name=name, parts=[_Method(name=name, params=params)])
        given = imputer.method_params or {}
        parts = [_Method(name=one, params=given.get(one, {})) for one in imputer.methods]
        n_repeats = imputer.n_repeats if len(parts) > 1 else 0
        return cls(name=name, parts=parts, n_repeats=n_repeats)

    def cost(self, costs: Mapping[str, MethodCost]) -> MethodCost:
        found = [costs[part.key] for part in self.parts]
        if self.parts[0].name == self.name:
            return found[0]
        known = [cost for cost in found if cost.seconds is not None]
        too_slow = [cost.method for cost in found if cost.error == NOTHING_SEEN]
        if too_slow:
            reason = f"One of its methods, {too_slow[0]}, came nowhere in the time of the estimate."
            return MethodCost(method=self.name, error=reason)
        if not known:
            return MethodCost(method=self.name, error=" ".join(str(cost.error) for cost in found))
        failed = [cost.method for cost in found if cost.seconds is None]
        # In the end those chosen are fitted once more: one of them at least, all at most.
        every = [sum(getattr(cost, end) for cost in known) for end in ("low", "seconds", "high")]
        least = min(cost.low or 0.0 for cost in known)
        n = self.n_repeats
        without = f" (without {', '.join(failed)}, which fails)" if failed else ""
        return MethodCost(
            method=self.name,
            low=n * every[0] + least,
            seconds=(n + 0.5) * every[1],
            high=(n + 1) * every[2],
            memory_mb=max(cost.memory_mb or 0.0 for cost in known),
            busy=max(cost.busy for cost in known),
            how=f"{n} comparisons of {', '.join(cost.method for cost in known)}{without}, and then "
            "a last fit of those chosen.",
        )


# ---------------------------------------------------------------- sharing the time


def _look_at_all(probes: Sequence[Probe], deadline: float) -> None:
    """Glance at each method, then share what time is left: to those that told nothing first."""
    for turn, probe in enumerate(probes):
        # A method that tells nothing keeps half of its time for a smaller sample.
        probe.glance(_share_of_time(deadline, len(probes) - turn) / 2)
    silent = [probe for probe in probes if probe.best is None]
    for turn, probe in enumerate(silent):
        probe.look_closer(_share_of_time(deadline, len(silent) - turn))
    others = sorted((probe for probe in probes if probe not in silent), key=_seconds_so_far)
    for turn, probe in enumerate(others):
        probe.look_closer(_share_of_time(deadline, len(others) - turn))


def _share_of_time(deadline: float, n_left: int) -> float:
    return max(0.0, deadline - time.perf_counter()) / n_left


def _seconds_so_far(probe: Probe) -> float:
    guess = probe.guess()
    return math.inf if guess is None else guess.seconds


def _cost(probe: Probe, base_mb: float) -> MethodCost:
    best, guess, memory = probe.best, probe.guess(), probe.memory_mb()
    if best is None or guess is None or memory is None:
        return MethodCost(method=probe.method, error=probe.error or NOTHING_SEEN)
    return MethodCost(
        method=probe.method,
        seconds=guess.seconds,
        low=guess.low,
        high=guess.high,
        memory_mb=base_mb + memory,
        busy=best.busy,
        how=probe.how(),
    )
