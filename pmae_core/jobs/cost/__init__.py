"""What a job will cost, measured by short real runs before it is run.

Every method is run for a moment on some rows of the table, then on as many rows as its share of
the time allows, and is stopped. Its own progress events say how far it came (`short_run`), and
the rest is extrapolated (`extrapolation`). The range of an estimate (`estimate`) is wide where
much had to be extrapolated. A method declares itself how its short runs relate to a whole one, see
:class:`pmae_core.imputers.work.WorkProfile`.
"""

from pmae_core.jobs.cost.estimate import CostEstimate, MethodCost, MethodProbed
from pmae_core.jobs.cost.job import estimate_job
from pmae_core.jobs.cost.methods import estimate_cost

__all__ = ["CostEstimate", "MethodCost", "MethodProbed", "estimate_cost", "estimate_job"]
