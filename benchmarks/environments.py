"""A virtual environment for each package that does not go with our own requirements."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "benchmarks" / "peers"
ENVIRONMENTS = ROOT / "build" / "peers"
INSTALL_SECONDS = 1800


class EnvironmentUnavailable(Exception):
    """An environment could not be made."""


def environment(name: str) -> Path:
    """Return the Python of a package's environment; make the environment if it is not there.

    It is made again after its requirements have changed.

    Raises
    ------
    EnvironmentUnavailable
        If a requirement cannot be installed.
    """
    requirements = REQUIREMENTS / name / "requirements.txt"
    folder = ENVIRONMENTS / name
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == requirements.read_text():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    _run(name, [sys.executable, "-m", "venv", str(folder)])
    _run(name, [str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)])
    # Written last, so that an interrupted installation starts anew.
    stamp.write_text(requirements.read_text())
    return python


def _run(name: str, command: list[str]) -> None:
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise EnvironmentUnavailable(
            f"The environment of {name} was not made within {INSTALL_SECONDS} s."
        ) from None
    if finished.returncode:
        lines = (finished.stderr + finished.stdout).strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
        reason = errors[0] if errors else f"exit code {finished.returncode}"
        raise EnvironmentUnavailable(f"The environment of {name} could not be made: {reason}")
