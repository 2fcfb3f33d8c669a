"""A method as a user names it, and the methods that have to be run to know its cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pmae_core.imputers import make_imputer
from pmae_core.jobs.cost.estimate import MethodCost
from pmae_core.words import count


@dataclass(frozen=True, kw_only=True)
class RequestedMethod:
    """A method that a user named, or a part of one.

    Attributes
    ----------
    name, params
        Its name and parameters.
    parts : list of RequestedMethod
        The methods that it fits, each once; none where it does its work itself.
    """

    name: str
    params: Mapping[str, Any]
    parts: list[RequestedMethod]

    @classmethod
    def make(cls, name: str, params: Mapping[str, Any]) -> RequestedMethod:
        """Return a method with what it declares about its parts."""
        declared = make_imputer(name, **params).work_parts()
        parts = [cls.make(part, given) for part, given in declared]
        return cls(name=name, params=params, parts=parts)

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
        return self._summed(found)

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
