"""What a method declares about its work, from which short runs estimate the cost of a whole run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class WorkProfile:
    """How a short run on some rows relates to a whole run on all of them.

    The units of work themselves, and how many there are at most, come from the progress events
    of the fit. The defaults describe a method that does all units it announces, and whose time
    grows in proportion to the rows.

    Attributes
    ----------
    params : mapping
        Parameters to set for a short run, so that a run on a sample has as many units of work as
        a run on the whole table.
    earliest_end : int or None
        Units after which the method can stop at the earliest, where it stops by itself once
        nothing improves; None where that is not known.
    usual_share : float
        Share of the announced units that the method usually does. It counts only where
        `earliest_end` is None and no run on a smaller sample reached its end.
    growth : float
        Power of the rows with which the time of the work grows. It counts only where one size of
        sample was run. 0 for a fixed number of steps on batches of a fixed size.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    earliest_end: int | None = None
    usual_share: float = 1.0
    growth: float = 1.0


# The methods that a method fits, by name, each with its parameters.
WorkParts = tuple[tuple[str, Mapping[str, Any]], ...]
