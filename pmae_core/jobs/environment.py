"""The environment of processes that run methods: workers, and those that estimate a cost."""

from __future__ import annotations

import os
from pathlib import Path

from pmae_core.threads import THREAD_VARIABLES

_PACKAGE_FOLDER = Path(__file__).parents[2]


def process_environment(threads: int) -> dict[str, str]:
    """Return the environment of a new process that finds this package and uses so many threads.

    Nothing accumulates in it: this process may be one that was started so itself.

    Parameters
    ----------
    threads : int
        Threads that numerical libraries may use; they read it when they are loaded.
    """
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    search_path = dict.fromkeys([str(_PACKAGE_FOLDER), *filter(None, inherited)])
    return {
        **os.environ,
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        "PYTHONPATH": os.pathsep.join(search_path),
    }
