"""What an estimate is: the cost of each method, and of a whole job."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from pmae_core.events import Event

NO_PROGRESS = "No progress showed in the time of the estimate. Allow more time for it."


@dataclass(frozen=True, kw_only=True)
class MethodCost:
    """What one fit of a method and one imputation of the table will take.

    Attributes
    ----------
    method : str
        Its name.
    seconds, low, high : float or None
        The estimate and its range; None where there is none (see `error`). `seconds` and `high`
        assume that the other work on the machine goes on, `low` that it stops.
    memory_mb : float or None
        Peak memory of the whole process, including the libraries it has loaded.
    busy : float
        By which factor the other work on the machine would slow a job down.
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
        One per method, in the order in which they were named.
    seeds : int
        How often each method runs.
    probe_seconds : float
        Duration of the estimate itself, without loading libraries.
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
        """The totals of the lows and of the highs."""
        return self._total("low"), self._total("high")

    def _total(self, end: str) -> float:
        costs = [getattr(cost, end) or 0.0 for cost in self.per_method]
        total = self.seeds * sum(min(cost, self.method_limit or math.inf) for cost in costs)
        return min(total, self.limit or math.inf)

    @property
    def memory_mb(self) -> float | None:
        """The largest peak of all methods, which run one after the other."""
        return max((c.memory_mb for c in self.per_method if c.memory_mb is not None), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON-able data, with its totals."""
        low, high = self.total_range
        totals = {"total_seconds": self.total_seconds, "total_low": low, "total_high": high}
        return {**asdict(self), **totals, "memory_mb": self.memory_mb}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CostEstimate:
        """Return the estimate that `to_dict` wrote; keys that were added to it are ignored."""
        own = {one.name: data[one.name] for one in fields(cls) if one.name in data}
        costs = [MethodCost(**cost) for cost in data["per_method"]]
        return cls(**{**own, "per_method": costs})

    def with_actual(self, seconds: float) -> dict[str, Any]:
        """Return the estimate beside the actual duration, as JSON-able data.

        Parameters
        ----------
        seconds : float
            The actual duration.

        Returns
        -------
        dict
            As `to_dict`, with ``actual_seconds`` and the ``ratio`` of actual to estimated seconds
            (None where nothing was estimated).
        """
        total = self.total_seconds
        ratio = seconds / total if total > 0 else None
        return {**self.to_dict(), "actual_seconds": seconds, "ratio": ratio}


@dataclass(frozen=True, kw_only=True)
class MethodProbed(Event):
    """The cost of one more method was estimated."""

    cost: MethodCost
    n_done: int
    n_methods: int
