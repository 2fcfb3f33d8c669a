"""How many threads numerical work may use."""

import os

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Variables of the environment that numerical libraries read when they are loaded."""


def allowed_threads(n_jobs: int | None = None) -> int:
    """Return how many threads this process may use.

    Parameters
    ----------
    n_jobs : int, optional
        How many a user asked for, below 0 for all cores. By default as many as the environment
        says, else all cores.

    Examples
    --------
    >>> allowed_threads(3)
    3
    """
    if n_jobs is not None:
        return n_jobs if n_jobs > 0 else os.cpu_count() or 1
    given = os.environ.get(THREAD_VARIABLES[0], "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
