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


@dataclass(frozen=True, kw_only=True)
class WorkParts:
    """The work of a method that fits other methods.

    Attributes
    ----------
    methods : tuple of (str, mapping)
        Names of the methods with their parameters.
    n_comparisons : int or None
        How often all of them are fitted before the best are fitted to the whole table; None for a
        method that fits each of them once and uses all.
    """

    methods: tuple[tuple[str, Mapping[str, Any]], ...]
    n_comparisons: int | None
