"""Commands that stand in the Makefile and elsewhere are the same."""

import os
import shutil
import subprocess

import pytest

from tests.support.paths import ROOT
from tests.support.studio import server_command


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_server_of_the_browser_tests_is_that_of_make_run(tmp_path):
    (tmp_path / "bin").mkdir()
    for done in ("bin/python", ".runtime-installed"):
        (tmp_path / done).touch()
    variables = ["HEADLESS=true", "PORT=4321", f"VENV={tmp_path}"]
    dry_run = ["make", "--dry-run", f"--old-file={tmp_path}/.runtime-installed", "run", *variables]

    # Run by `make test`, make would speak as a make within another.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    said = subprocess.run(
        dry_run, cwd=ROOT, env=alone, capture_output=True, text=True, check=True
    ).stdout

    words = said.replace("\\\n", " ").split()
    assert words[words.index("-m") :] == server_command(4321)[1:]
