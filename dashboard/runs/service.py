"""The store of runs and the engine that does them, one pair per server.

Pages never do long work. They submit a job, which a process of its own does; the store knows how
far it is, however often the browser or the server starts anew. There is no daemon: every
look at jobs also takes care of them.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import streamlit as st

from dashboard.state.environment import environment_number
from pmae_core.errors import JobError
from pmae_core.jobs import JobPaths, JobStore
from pmae_core.jobs.engines import Engine, make_engine
from pmae_core.jobs.store.recovery import remains
from pmae_core.storage.home import pmae_home

POLL_SECONDS = 1.0
SPARE_MINUTES = 10.0


class _Keeper:
    """A store with its engine, and when it was looked after last."""

    def __init__(self, home: Path, engine_name: str) -> None:
        self.store = JobStore(home)
        self.engine = make_engine(
            self.store, engine_name or None, spare_seconds=60 * spare_minutes()
        )
        self._lock = threading.Lock()
        self._supervised_at = 0.0

    def supervise(self) -> None:
        """Look after the jobs of all users; once a second is enough, however many ask."""
        if self._lock.acquire(blocking=False):
            try:
                if time.monotonic() - self._supervised_at >= POLL_SECONDS / 2:
                    self.engine.supervise()
                    self._supervised_at = time.monotonic()
            finally:
                self._lock.release()


@st.cache_resource(max_entries=4, show_spinner=False)
def _keeper(home: Path, engine_name: str) -> _Keeper:
    return _Keeper(home, engine_name)


def _current() -> _Keeper:
    return _keeper(pmae_home(), os.environ.get("PMAE_ENGINE", ""))


def store() -> JobStore:
    """Return the store of all jobs."""
    return _current().store


def engine() -> Engine:
    """Return what runs the jobs that are handed in here."""
    return _current().engine


def supervise() -> None:
    """Notice workers that died, and start what waits; without a store there is nothing to do."""
    if store_exists():
        _current().supervise()


def prepare() -> None:
    """Have a worker process ready, so that a job that the user may start soon starts at once."""
    engine().prepare()


def spare_minutes() -> float:
    """Return how many minutes a spare worker process waits for a job; 0 for none."""
    return environment_number(
        "PMAE_SPARE_MINUTES",
        SPARE_MINUTES,
        advice="a number of minutes, or to 0 for no spare process",
        error=JobError,
    )


def store_exists() -> bool:
    """Say whether anybody submitted a job yet."""
    paths = JobPaths(pmae_home())
    return paths.database.exists() or remains(paths)
