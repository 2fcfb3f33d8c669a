"""The browser that tests, screenshots and benchmarks drive: found, or installed where it can be.

python -m tests.support.chromium
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Playwright, sync_playwright

ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DEBIAN_PACKAGES = ("chromium", "fonts-liberation")
NONE_FOUND = (
    "No Chromium was found. Install one (on Debian: apt-get install chromium), or name one that "
    "is there already with PMAE_CHROMIUM=/path/to/chromium."
)


class NoBrowserError(Exception):
    """There is no browser to drive; the message says what to do."""


def find_chromium() -> Path | None:
    """Return the browser of PMAE_CHROMIUM, else one on the PATH, else None.

    Raises
    ------
    NoBrowserError
        If PMAE_CHROMIUM names a file that is not there.
    """
    if named := os.environ.get("PMAE_CHROMIUM"):
        if not Path(named).is_file():
            raise NoBrowserError(f"PMAE_CHROMIUM names {named}, which does not exist.")
        return Path(named)
    found = filter(None, map(shutil.which, ON_PATH))
    return next(map(Path, found), None)


def launch_chromium(playwright: Playwright, *, one_process: bool = False) -> Browser:
    """Start the browser that is there, else the one that Playwright keeps for itself.

    Parameters
    ----------
    playwright
        As ``sync_playwright`` gives it.
    one_process
        Whether all pages of a site share a process. A page then loads several times faster, since
        its scripts are compiled, but measurements would depend on what else is open.

    Raises
    ------
    NoBrowserError
        If there is neither.
    """
    own = Path(playwright.chromium.executable_path)
    path = find_chromium() or (own if own.is_file() else None)
    if path is None:
        raise NoBrowserError(NONE_FOUND)
    # The sandbox does not work for root, and containers have a small /dev/shm.
    arguments = ["--disable-dev-shm-usage", "--disable-gpu"]
    arguments += ["--process-per-site"] if one_process else []
    arguments += ["--no-sandbox"] if is_root() else []
    return playwright.chromium.launch(executable_path=path, args=arguments)


def install_chromium() -> None:
    """Install a browser: Debian's where we may, else Playwright's own."""
    if is_root() and shutil.which("apt-get"):
        print("Installing Debian's chromium for the tests in the browser ...", flush=True)
        quiet = {"check": False, "stdout": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update", "-qq"], **quiet)
        command = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        if subprocess.run([*command, *DEBIAN_PACKAGES], env=environment, **quiet).returncode == 0:
            return
    print("Installing Playwright's chromium for the tests in the browser ...", flush=True)
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def is_root() -> bool:
    """Say whether we may do everything on this machine; nobody may on Windows."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def is_there() -> bool:
    """Say whether there is a browser to launch."""
    if find_chromium():
        return True
    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path).is_file()


def main() -> int:
    """Install a browser if there is none; without one the tests say so, and nothing fails here."""
    try:
        if not is_there():
            install_chromium()
        if not is_there():
            print(NONE_FOUND, file=sys.stderr)
    except NoBrowserError as error:
        print(error, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
