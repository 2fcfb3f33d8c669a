"""Locks that end with their process."""

import subprocess
import sys

from pmae_core.jobs.posix import hold_lock
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
