"""What a worker prints never ends it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FULL = Path("/dev/full")

PRINTING = """
import logging, sys, threading, traceback, warnings
from pmae_core.jobs.worker.log import print_as_far_as_possible
print_as_far_as_possible()
def report():
    for number in range(2000):
        print("a line", number, flush=True)
    try:
        raise ValueError("cracked ü")
    except ValueError:
        traceback.print_exc()
    warnings.warn("careful")
    logging.error("loud")
    done.append(True)
done = []
thread = threading.Thread(target=report)
thread.start()
thread.join()
sys.exit(0 if done else 3)
"""


def print_into(log):
    return subprocess.run(
        [sys.executable, "-c", PRINTING], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
    ).returncode


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_a_log_on_a_full_disk_ends_nothing():
    with FULL.open("wb") as log:
        assert print_into(log) == 0


def test_a_log_on_another_disk_has_every_line_in_order(tmp_path):
    with (tmp_path / "log.txt").open("wb") as log:
        assert print_into(log) == 0
    lines = (tmp_path / "log.txt").read_text(encoding="utf-8").splitlines()
    assert lines[:2000] == [f"a line {number}" for number in range(2000)]
    assert "ValueError: cracked ü" in lines
    assert lines[-1] == "ERROR:root:loud"
