"""Other work on the machine: by how much it slows short runs down, and jobs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import psutil

from pmae_core.jobs.cost.short_run import ShortRun
from pmae_core.jobs.engines.local import NICENESS, available_cores

# Runs of fewer seconds do not tell how busy the machine is: its clocks tick too slowly.
TELLING_SECONDS = 0.5
# By which factor a process's share of the processor shrinks with each step of niceness, on Linux.
SHARE_PER_NICENESS = 1.25


@dataclass(frozen=True)
class MachineLoad:
    """How busy the machine was during short runs.

    Attributes
    ----------
    slowdown : float
        By which factor other work slowed them down.
    idle_cores : float
        Cores that nobody used meanwhile; infinite if the runs were too short to tell.
    """

    slowdown: float
    idle_cores: float

    @classmethod
    def during(cls, runs: Sequence[ShortRun]) -> Self:
        """Return the load during some runs, each of which counts by its duration."""
        seconds = sum(run.seconds for run in runs)
        idle = sum(run.idle_seconds for run in runs)
        return cls(
            slowdown=seconds / max(sum(run.seconds / run.slowdown for run in runs), 1e-9),
            idle_cores=idle / seconds if seconds >= TELLING_SECONDS else math.inf,
        )

    @property
    def slowdown_of_job(self) -> float:
        """By which factor the same work would slow a job down.

        That is more where this process has a higher priority than jobs have, and all cores are in
        use: then the processor is shared by priority. Where a core is free, a job gets it.
        """
        steps = max(0, NICENESS - psutil.Process().nice())
        lost = (SHARE_PER_NICENESS**steps - 1) * max(0.0, 1.0 - self.idle_cores)
        return self.slowdown + lost * (self.slowdown - 1 / available_cores())
