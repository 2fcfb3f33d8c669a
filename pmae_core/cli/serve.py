"""``pmae serve``: the dashboard, from a clone or from an installed package."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from pmae_core.cli.options import with_examples
from pmae_core.errors import PMAEError

HELP = with_examples(
    "Open the dashboard in the browser. Stop it with Ctrl+C; its jobs keep running.",
    "pmae serve",
    "pmae serve --port 8080 --no-browser",
    "pmae serve --address 0.0.0.0    # other computers in the network can open it, too",
)

_PACKAGE = Path(__file__).resolve().parents[1]
# Where the dashboard is: inside the installed package, or beside it in a clone.
_HOMES = (_PACKAGE / "_studio", _PACKAGE.parent)


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8501,
    address: Annotated[
        str, typer.Option(help="Address to listen on; by default only this computer connects.")
    ] = "localhost",
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
) -> None:
    """Open the dashboard in the browser."""
    if importlib.util.find_spec("streamlit") is None:
        raise PMAEError(
            "The dashboard needs packages that are not installed. "
            "Install them with: pip install 'pmae[dashboard]'"
        )
    studio = _studio_folder()
    _replace_process(server_command(studio, port, address, browser), _environment(studio))


def server_command(studio: Path, port: int, address: str, browser: bool) -> list[str]:
    """Return the command that starts the server."""
    options = {"headless": str(not browser).lower(), "address": address, "port": str(port)}
    script = str(studio / "dashboard" / _script())
    flags = [f"--server.{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "streamlit", "run", script, *flags]


def _script() -> str:
    """Return the script to serve: behind a login, the one whose server knows who is logged in."""
    return "server.py" if os.environ.get("PMAE_LOGIN") else "app.py"


def _studio_folder() -> Path:
    for folder in _HOMES:
        if (folder / "dashboard" / "app.py").is_file():
            return folder
    raise PMAEError("This installation has no dashboard. Install pmae again, or run it in a clone.")


def _environment(studio: Path) -> dict[str, str]:
    """Return the server's environment, in which all its processes find the dashboard's modules."""
    paths = [str(studio), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _replace_process(command: list[str], environment: dict[str, str]) -> None:
    """Become the server, so that signals and exit codes are its own."""
    sys.stdout.flush()
    if os.name == "nt":  # Windows would give the prompt back while the server runs
        raise typer.Exit(subprocess.call(command, env=environment))
    os.execve(command[0], command, environment)
