"""A method as a user names it, and the methods that have to be run to know its cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pmae_core.imputers import make_imputer
from pmae_core.jobs.cost.estimate import NO_PROGRESS, MethodCost
from pmae_core.words import count, listed


@dataclass(frozen=True, kw_only=True)
class RequestedMethod:
    """A method that a user named, or a part of one.

    Attributes
    ----------
    name, params
        Its name and parameters.
    parts : list of RequestedMethod
        The methods that it fits; none where it does its work itself.
    n_comparisons : int or None
        How often all parts are fitted before the best are fitted again; None where each is fitted
        once.
    """

    name: str
    params: Mapping[str, Any]
    parts: list[RequestedMethod]
    n_comparisons: int | None = None

    @classmethod
    def make(cls, name: str, params: Mapping[str, Any]) -> RequestedMethod:
        """Return a method with what it declares about its parts."""
        declared = make_imputer(name, **params).work_parts()
        if declared is None:
            return cls(name=name, params=params, parts=[])
        return cls(
            name=name,
            params=params,
            parts=[cls.make(part, given) for part, given in declared.methods],
            n_comparisons=declared.n_comparisons,
        )

    @property
    def key(self) -> str:
        """A text that is the same for the same method with the same parameters."""
        return json.dumps([self.name, self.params], sort_keys=True, default=repr)

    def to_run(self) -> list[RequestedMethod]:
        """Return what has to be run: the method itself, or the methods that it fits."""
        return [one for part in self.parts for one in part.to_run()] or [self]

    def cost(self, costs: Mapping[str, MethodCost]) -> MethodCost:
        """Return the cost of the method, given those of what has to be run by key."""
        if not self.parts:
            return costs[self.key]
        found = [part.cost(costs) for part in self.parts]
        if self.n_comparisons is None:
            return self._summed(found)
        without_progress = [cost.method for cost in found if cost.error == NO_PROGRESS]
        if without_progress:
            reason = f"One of its methods, {without_progress[0]}, has no estimate: {NO_PROGRESS}"
            return MethodCost(method=self.name, error=reason)
        if all(cost.seconds is None for cost in found):
            return MethodCost(method=self.name, error=" ".join(str(cost.error) for cost in found))
        return self._combined(found, self.n_comparisons)

    def _summed(self, found: Sequence[MethodCost]) -> MethodCost:
        """Return the cost of all parts, each fitted once."""
        failed = [cost for cost in found if cost.seconds is None]
        if failed:
            return MethodCost(method=self.name, error=failed[0].error)
        low, seconds, high = (
            sum(getattr(cost, end) for cost in found) for end in ("low", "seconds", "high")
        )
        return MethodCost(
            method=self.name,
            low=low,
            seconds=seconds,
            high=high,
            memory_mb=max(cost.memory_mb or 0.0 for cost in found),
            busy=max(cost.busy for cost in found),
            how=" ".join([f"Estimated in {count(len(found), 'part')}.", *(c.how for c in found)]),
        )

    def _combined(self, found: Sequence[MethodCost], n_comparisons: int) -> MethodCost:
        """Return the cost of all comparisons, and of fitting the best methods once more."""
        working = [cost for cost in found if cost.seconds is not None]
        failed = [cost.method for cost in found if cost.seconds is None]
        low, seconds, high = (
            sum(getattr(cost, end) for cost in working) for end in ("low", "seconds", "high")
        )
        names = listed((cost.method for cost in working), most=len(working))
        without = f" (without {listed(failed)}, which failed)" if failed else ""
        return MethodCost(
            method=self.name,
            # One of the methods at least is fitted once more, and all of them at most.
            low=n_comparisons * low + min(cost.low or 0.0 for cost in working),
            seconds=(n_comparisons + 0.5) * seconds,
            high=(n_comparisons + 1) * high,
            memory_mb=max(cost.memory_mb or 0.0 for cost in working),
            busy=max(cost.busy for cost in working),
            how=f"{n_comparisons} comparisons of {names}{without}, then a fit of those chosen.",
        )
