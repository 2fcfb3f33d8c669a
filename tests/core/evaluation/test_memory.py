from pathlib import Path

import numpy as np
import pytest

from pmae_core.evaluation import memory
from pmae_core.evaluation.memory import PeakMemory


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_memory_that_was_freed_again_is_seen():
    with PeakMemory() as peak:
        array = np.ones(100 * 1024 * 1024, dtype=np.uint8)
        memory.threading.Event().wait(0.2)
        del array
    assert 80 < peak.megabytes < 200


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_little_work_takes_little():
    with PeakMemory() as peak:
        sum(range(100))
    assert 0 <= peak.megabytes < 30


def test_elsewhere_the_growth_of_the_highest_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "_STATM", Path("/nowhere"))
    readings = iter([200 * 1024 * 1024, 250 * 1024 * 1024])
    monkeypatch.setattr(memory, "_highest_bytes_so_far", lambda: next(readings))
    with PeakMemory() as peak:
        pass
    assert peak.megabytes == 50


def test_where_nothing_can_be_measured_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr(memory, "_STATM", Path("/nowhere"))
    monkeypatch.setattr(memory, "_highest_bytes_so_far", lambda: None)
    with PeakMemory() as peak:
        pass
    assert peak.megabytes is None


def test_the_highest_so_far_is_in_bytes():
    pytest.importorskip("resource")
    assert 20e6 < memory._highest_bytes_so_far() < 1e12
