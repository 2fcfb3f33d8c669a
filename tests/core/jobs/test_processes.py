"""Processes are told from later ones with the same number, however the clock is set."""

import os
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest

from pmae_core.jobs import processes
from pmae_core.jobs.processes import ProcessId

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def without_proc(monkeypatch, tmp_path):
    """What macOS and the BSDs have to offer."""
    monkeypatch.setattr(processes, "BOOT_ID", tmp_path / "nothing")


def test_a_process_exists_until_it_is_reaped():
    child = subprocess.Popen(["sleep", "60"])
    known = ProcessId.of(child.pid)
    assert known.exists()
    child.kill()
    child.wait()
    assert not known.exists()
    assert ProcessId.of(child.pid) is None


def test_a_process_exists_until_it_is_reaped_where_there_is_no_proc(without_proc):
    test_a_process_exists_until_it_is_reaped()


@linux_only
def test_the_clock_has_no_part_in_it(monkeypatch):
    before = ProcessId.current()
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: 0.0)
    assert before.exists()
    assert ProcessId.current() == before


@linux_only
def test_another_process_or_another_boot_with_the_same_number():
    child = subprocess.Popen(["sleep", "60"])
    me, other = ProcessId.current(), ProcessId.of(child.pid)
    child.kill()
    child.wait()
    assert not replace(me, birth=other.birth).exists()
    boot, ticks = me.birth.split()
    assert not replace(me, birth=f"another-boot {ticks}").exists()
    assert replace(me, birth=f"{boot} {ticks}").exists()


def test_the_name_of_a_program_may_look_like_anything(monkeypatch, tmp_path):
    (tmp_path / "boot").write_text("b00t\n")
    monkeypatch.setattr(processes, "BOOT_ID", tmp_path / "boot")
    monkeypatch.setattr(processes, "PROCESSES", tmp_path)
    (tmp_path / "7").mkdir()
    fields = ["S", *map(str, range(4, 53))]  # each the number that proc(5) gives it
    (tmp_path / "7" / "stat").write_text(f"7 (a) S 1 (2) b) {' '.join(fields)}\n")
    assert ProcessId.of(7).birth == "b00t 22"


def test_a_time_of_creation_may_differ_a_little(without_proc, monkeypatch):
    me = ProcessId.current()
    created = psutil.Process().create_time()
    for seconds, exists in ((1.5, True), (-1.5, True), (2.5, False)):
        monkeypatch.setattr(psutil.Process, "create_time", lambda self, s=seconds: created + s)
        assert me.exists() is exists


def test_what_earlier_releases_stored():
    created = psutil.Process().create_time()
    me = {"pid": os.getpid(), "created": created, "host": "here"}
    assert ProcessId.from_dict(me).exists()
    assert not ProcessId.from_dict({**me, "created": created - 1000}).exists()
