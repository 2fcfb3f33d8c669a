"""Locks that end with their process, and folders that are known again."""

import shutil
import subprocess
import sys
import threading

import pytest

from pmae_core.jobs.posix import HeldFolder, hold_lock, locked
from tests.support.paths import ROOT


def test_a_lock_is_held_until_its_process_ends(tmp_path):
    code = (
        "import sys; from pathlib import Path; from pmae_core.jobs.posix import hold_lock\n"
        "print(hold_lock(Path(sys.argv[1])), flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "lock")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout.readline() == "True\n"
    assert not hold_lock(tmp_path / "lock")
    other.kill()
    other.communicate()
    assert hold_lock(tmp_path / "lock")


@pytest.fixture
def held(tmp_path):
    return HeldFolder(tmp_path / "above" / "folder")


def test_a_folder_is_made_and_is_there_whatever_happens_inside(held, tmp_path):
    (tmp_path / "above" / "folder" / "file").write_text("content")
    assert held.is_there()
    assert HeldFolder(tmp_path / "above" / "folder").is_there()


@pytest.mark.parametrize("what", ["folder", "above"])
@pytest.mark.parametrize("made_again", [False, True])
def test_a_folder_that_was_deleted_is_not_there(held, tmp_path, what, made_again):
    folder = tmp_path / "above" / "folder"
    shutil.rmtree(tmp_path / "above" if what == "above" else folder)
    if made_again:
        folder.mkdir(parents=True)
    assert not held.is_there()


def test_a_folder_that_was_moved_is_not_there(held, tmp_path):
    (tmp_path / "above" / "folder").rename(tmp_path / "elsewhere")
    assert not held.is_there()
    (tmp_path / "elsewhere").rename(tmp_path / "above" / "folder")
    assert held.is_there()


def test_a_shared_lock_keeps_out_only_those_that_want_it_alone(tmp_path):
    path, order = tmp_path / "lock", []

    def alone():
        with locked(path):
            order.append("alone")

    with locked(path, shared=True), locked(path, shared=True):
        thread = threading.Thread(target=alone)
        thread.start()
        thread.join(0.05)
        order.append("shared")
    thread.join()
    assert order == ["shared", "alone"]
