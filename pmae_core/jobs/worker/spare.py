"""The process that waits for a job: ``python -m pmae_core.jobs.worker.spare SECONDS``.

Its standard input is a socket. When its imports are done it says so there, and reads a
:class:`~pmae_core.jobs.engines.spare.Handover`: then it runs that job as a new worker would.
It ends without a job when the other end closes, as it does however the engine's process ends,
and when none has come for so many seconds.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import select
import socket
import sys

from pmae_core.jobs.engines.local import TOKEN_VARIABLE
from pmae_core.jobs.engines.spare import LISTEN_LONGER_SECONDS, READY, Handover
from pmae_core.jobs.worker import process
from pmae_core.jobs.worker.log import STDERR, STDOUT, print_as_far_as_possible

WORK_MODULES = (
    "pmae_core.evaluation",
    "pmae_core.explain",
    "pmae_core.jobs.cost",
    "pmae_core.jobs.worker.consequences",
)
STDIN = 0


def main(arguments: list[str] | None = None) -> int:
    """Wait for a job, run it, and return the exit code of the process.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the command line by default.
    """
    parser = argparse.ArgumentParser(prog="pmae_core.jobs.worker.spare", description=__doc__)
    parser.add_argument("seconds", type=float)
    seconds = parser.parse_args(arguments).seconds
    load_libraries()
    job = _receive(seconds + LISTEN_LONGER_SECONDS)
    if job is None:
        return 0
    _become_worker(job)
    return process.main(job.arguments)


def load_libraries() -> None:
    """Import what the work of a job imports when it begins."""
    from pmae_core.imputers.registry import load_imputers

    for name in WORK_MODULES:
        importlib.import_module(name)
    load_imputers()


def _receive(seconds: float) -> Handover | None:
    """Return the job that arrives within this time; None if the other end closes or is silent."""
    with socket.socket(fileno=os.dup(STDIN)) as engine:
        try:
            engine.sendall(READY)
            if not select.select([engine], [], [], seconds)[0]:
                return None
            with engine.makefile("rb") as stream:
                text = stream.read()
        except ConnectionError:
            return None
    return Handover.read(json.loads(text)) if text else None


def _become_worker(job: Handover) -> None:
    """Take on what a new worker gets from its engine when it starts."""
    os.environ[TOKEN_VARIABLE] = job.token
    with open(os.devnull, "rb") as nothing, open(job.log, "ab") as log:
        os.dup2(nothing.fileno(), STDIN)
        os.dup2(log.fileno(), STDOUT)
        os.dup2(log.fileno(), STDERR)
    print_as_far_as_possible()


if __name__ == "__main__":
    sys.exit(main())
