"""A method as a user names it, and the methods that have to be run to know its cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pmae_core.imputers import make_imputer
from pmae_core.jobs.cost.estimate import NO_PROGRESS, MethodCost
from pmae_core.words import listed


@dataclass(frozen=True, kw_only=True)
class MethodToRun:
    """One method with its parameters."""

    name: str
    params: Mapping[str, Any]

    @property
    def key(self) -> str:
        """A text that is the same for the same method with the same parameters."""
        return json.dumps([self.name, self.params], sort_keys=True, default=repr)


@dataclass(frozen=True, kw_only=True)
class RequestedMethod:
    """A method that a user named.

    Attributes
    ----------
    name : str
        Its name.
    parts : list of MethodToRun
        What to run: the method itself, or the methods that it fits.
    n_comparisons : int or None
        How often all parts are fitted before the best are fitted again; 0 if all parts are fitted
        once, None for a method that does its work itself.
    """

    name: str
    parts: list[MethodToRun]
    n_comparisons: int | None = None

    @classmethod
    def make(cls, name: str, params: Mapping[str, Any]) -> RequestedMethod:
        """Return a method with what it declares about its parts."""
        declared = make_imputer(name, **params).work_parts()
        if declared is None:
            return cls(name=name, parts=[MethodToRun(name=name, params=params)])
        parts = [MethodToRun(name=part, params=given) for part, given in declared.methods]
        return cls(name=name, parts=parts, n_comparisons=declared.n_comparisons)

    def cost(self, costs: Mapping[str, MethodCost]) -> MethodCost:
        """Return the cost of the method, given those of its parts by key."""
        found = [costs[part.key] for part in self.parts]
        if self.n_comparisons is None:
            return found[0]
        without_progress = [cost.method for cost in found if cost.error == NO_PROGRESS]
        if without_progress:
            reason = f"One of its methods, {without_progress[0]}, has no estimate: {NO_PROGRESS}"
            return MethodCost(method=self.name, error=reason)
        if all(cost.seconds is None for cost in found):
            return MethodCost(method=self.name, error=" ".join(str(cost.error) for cost in found))
        return self._combined(found, self.n_comparisons)

    def _combined(self, found: Sequence[MethodCost], n_comparisons: int) -> MethodCost:
        """Return the cost of all comparisons, and of fitting the best methods once more."""
        working = [cost for cost in found if cost.seconds is not None]
        failed = [cost.method for cost in found if cost.seconds is None]
        low, seconds, high = (
            sum(getattr(cost, end) for cost in working) for end in ("low", "seconds", "high")
        )
        names = listed((cost.method for cost in working), most=len(working))
        without = f" (without {listed(failed)}, which failed)" if failed else ""
        memory_mb = max(cost.memory_mb or 0.0 for cost in working)
        busy = max(cost.busy for cost in working)
        if not n_comparisons:
            return MethodCost(
                method=self.name,
                low=low,
                seconds=seconds,
                high=high,
                memory_mb=memory_mb,
                busy=busy,
                how=f"One fit each of {names}{without}.",
            )
        return MethodCost(
            method=self.name,
            # One of the methods at least is fitted once more, and all of them at most.
            low=n_comparisons * low + min(cost.low or 0.0 for cost in working),
            seconds=(n_comparisons + 0.5) * seconds,
            high=(n_comparisons + 1) * high,
            memory_mb=memory_mb,
            busy=busy,
            how=f"{n_comparisons} comparisons of {names}{without}, then a fit of those chosen.",
        )
