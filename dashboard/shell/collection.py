"""The server cleans up its home by itself, when it starts and then every hour.

Workspaces that nobody uses go with their runs and tables, and so do expired classes and one-time
codes. Several servers may share a home: one of them does it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from pathlib import Path

from dashboard.classroom.store import sweep as sweep_classes
from dashboard.state.documents import Documents
from dashboard.state.environment import environment_number
from dashboard.state.one_time_codes import remove_expired
from dashboard.state.workspace import workspace_days
from pmae_core.errors import PMAEError
from pmae_core.jobs import JobStore
from pmae_core.jobs.collection import collect
from pmae_core.jobs.store import GarbageReport
from pmae_core.storage.home import pmae_home

DEFAULT_MINUTES = 60.0

_log = logging.getLogger(__name__)


class BackgroundCollection:
    """Cleans up the home again and again, in a thread of its own."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin, unless it has begun or is switched off."""
        with self._lock:
            if self.thread is None and collection_minutes() > 0:
                self.thread = threading.Thread(target=self._run, name="collection", daemon=True)
                self.thread.start()

    def stop(self) -> None:
        """End it after the clean-up that goes on."""
        self._stopped.set()
        if self.thread is not None:
            self.thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            seconds = 60 * collection_minutes()
            try:
                collect_if_due(pmae_home(), seconds)
            except Exception:  # the next one may succeed: the disk was full, the store busy
                _log.exception("The clean-up failed. It is tried again later.")
            self._stopped.wait(seconds)


_of_this_server = BackgroundCollection()


def keep_collecting() -> None:
    """Clean up now and then in the background, until the server ends; begin at the first call."""
    _of_this_server.start()


def collection_minutes() -> float:
    """Return how many minutes pass between two clean-ups; 0 for none."""
    return environment_number(
        "PMAE_COLLECTION_MINUTES",
        DEFAULT_MINUTES,
        advice="a number of minutes, or to 0 to never clean up",
        error=PMAEError,
    )


def collect_if_due(home: Path, seconds: float) -> GarbageReport | None:
    """Clean up, unless any server did so within these seconds; None if so."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = time.time()
    with Documents(home / "collection").changing("last") as last:
        # A clock may also have been set back.
        if abs(now - last.get("at", 0.0)) < 0.9 * seconds:
            return None
        report = collect_home(home, now=now)
        last.update(at=now)
    return report


def collect_home(home: Path, *, now: float | None = None) -> GarbageReport:
    """Remove what expired: workspaces with their runs and tables, classes and one-time codes."""
    now = time.time() if now is None else now
    sweep_classes(home, now=now)
    remove_expired(home, now=now)
    with contextlib.closing(JobStore(home)) as store:
        report = collect(store, unused_days=workspace_days(), now=now)
    _log.info(
        "Clean-up: %d workspaces, %d runs and %d tables removed, %.1f MB.",
        len(report.workspaces),
        len(report.jobs),
        len(report.tables),
        report.bytes_freed / 1e6,
    )
    return report
