"""The reports of a worker: the newest progress, and patience with a busy store."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pmae_core.errors import JobError
from pmae_core.events import FitProgress
from pmae_core.jobs import ProcessId
from pmae_core.jobs.store.database import DATABASE_FAILED
from pmae_core.jobs.worker.context import PhaseStarted
from pmae_core.jobs.worker.reporter import Reporter
from tests.support.paths import ROOT
from tests.support.waiting import eventually


def test_of_the_same_progress_only_the_newest_is_written(store, spec):
    store.submit(spec)
    record, token = store.claim_next(
        "local", running_limit=9, gpu_limit=0, owner=ProcessId.current()
    )
    reporter = Reporter(
        store, record.id, token, memory_mb=None, cancel_grace=9, supervise=lambda: None
    )
    reporter.emit(PhaseStarted(phase="fit"))
    for done in range(1000):
        reporter.emit(FitProgress(done=done, total=1000, unit="round", eta_seconds=np.nan))
    reporter.emit(PhaseStarted(phase="impute"))
    reporter.start()
    reporter.stop()
    events = store.events(record.id)[2:]
    assert [event.kind for event in events] == ["PhaseStarted", "FitProgress", "PhaseStarted"]
    assert events[1].data == {"done": 999, "total": 1000, "unit": "round", "eta_seconds": None}


def test_a_busy_store_does_not_disturb_the_work(store, spec, monkeypatch):
    store.submit(spec)
    record, token = store.claim_next(
        "local", running_limit=9, gpu_limit=0, owner=ProcessId.current()
    )
    append, refused = store.append_events, []

    def busy_at_first(*arguments):
        if len(refused) < 2:
            refused.append(1)
            raise JobError("The database is locked.", code=DATABASE_FAILED)
        append(*arguments)

    monkeypatch.setattr(store, "append_events", busy_at_first)
    reporter = Reporter(
        store, record.id, token, memory_mb=None, cancel_grace=9, supervise=lambda: None
    )
    reporter.start()
    reporter.emit(PhaseStarted(phase="fit"))
    assert eventually(lambda: len(store.events(record.id)) == 3, 10)
    reporter.stop()
    assert len(refused) == 2


DYING = """
import os, sys
from pmae_core.jobs import JobStore, ProcessId
from pmae_core.jobs.worker.context import PhaseStarted
from pmae_core.jobs.worker.reporter import Reporter
os.setsid()
store = JobStore(sys.argv[1])
record, token = store.claim_next("local", running_limit=9, gpu_limit=0, owner=ProcessId.current())
reporter = Reporter(store, record.id, token, memory_mb=None, cancel_grace=9, supervise=lambda: 0)
store.append_events = lambda *arguments: 1 / 0
reporter.start()
reporter.emit(PhaseStarted(phase="fit"))
reporter._thread.join()
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_reporter_that_cannot_even_log_ends_its_worker(store, spec, home):
    """Its thread died in the log before, and the job looked frozen for ever."""
    store.submit(spec)
    with open("/dev/full", "wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-c", DYING, str(home)], cwd=ROOT, stdout=log, stderr=log
        )
        assert worker.wait(timeout=60) == -signal.SIGKILL
