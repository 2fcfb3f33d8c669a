"""PMAE Studio as people meet it: its real server, and a visitor in a real browser."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import Browser, BrowserContext, Locator, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from tests.support.paths import ROOT

# Chosen for a machine that does much else at the same time; nothing waits longer than it must.
PATIENCE_SECONDS = float(os.environ.get("PMAE_BROWSER_PATIENCE", "90"))
# What only the log may hold, and what a page says instead.
FAILURES_IN_LOG = ("Traceback (most recent call last)", "A page failed")
FAILURES_ON_PAGE = ("Traceback (most recent call last)", "This part of the page failed")

# Narrower windows are telephones, which Streamlit knows by the name of their browser.
NARROW = 600
TELEPHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/150.0.0.0 Mobile Safari/537.36"
)

_STILL_WORKING = ", ".join(
    [
        '[data-testid="stApp"]:not([data-test-script-state="notRunning"])',
        '[data-testid="stSkeleton"]',
        '[data-testid="stSpinner"]',
        '[data-testid="stElementContainer"][data-stale="true"]',
    ]
)


APP = "dashboard/app.py"


def server_command(port: int, script: str = APP) -> list[str]:
    """Return what ``make run`` runs, without opening a browser."""
    options = ["--server.headless", "true", "--server.port", str(port)]
    return [sys.executable, "-m", "streamlit", "run", script, *options]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class StudioServer:
    """A server of the dashboard with a home of its own, started and stopped with ``with``.

    Parameters
    ----------
    home
        The folder for workspaces (PMAE_HOME).
    port
        A free one by default.
    script
        What it serves, relative to the tree: the dashboard, or a page for one test.
    tree
        The checkout whose dashboard runs; this one by default.
    """

    def __init__(
        self, home: Path, port: int | None = None, script: str = APP, *, tree: Path = ROOT
    ) -> None:
        self.home = home
        self.script = script
        self.tree = tree
        self.port = port or free_port()
        self.url = f"http://localhost:{self.port}"
        self.log_path = home / f"server-{self.port}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start it and wait until it answers."""
        self.home.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "PMAE_HOME": str(self.home), "PYTHONPATH": str(self.tree)}
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                server_command(self.port, self.script),
                cwd=self.tree,
                env=environment,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"The server did not start:\n{self.log()}")
            time.sleep(0.05)
        return self

    def stop(self) -> None:
        """End it, politely first."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def crash(self) -> None:
        """End it and all that it started, at once and without a word, as a power cut does."""
        if self._process is None:
            return
        family = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        self._process.wait()
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family, timeout=15)
        self._process = None

    def restart(self) -> None:
        """Stop it and start it again, at the same address with the same home."""
        self.stop()
        self.start()

    def memory(self) -> int:
        """Return the bytes of memory that the server itself holds, without those of jobs."""
        if self._process is None:
            raise RuntimeError("The server is not running.")
        return int(psutil.Process(self._process.pid).memory_info().rss)

    def processor_seconds(self) -> float:
        """Return the seconds of the processor that the server itself has used, without jobs."""
        if self._process is None:
            raise RuntimeError("The server is not running.")
        used = psutil.Process(self._process.pid).cpu_times()
        return float(used.user + used.system)

    def log(self) -> str:
        """Return what the server wrote."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def failures(self) -> list[str]:
        """Return the lines of the log that tell of a failed page."""
        return [line for line in self.log().splitlines() if any(f in line for f in FAILURES_IN_LOG)]

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class Profiles:
    """Profiles of a browser that visitors use one after the other, each as if it were new.

    Cookies, storage and permissions of a visitor are removed. What stays are the scripts of the
    pages, loaded and compiled in a process of the browser that a plain page keeps alive.

    Parameters
    ----------
    browser
        Its pages of one site share a process, see :func:`launch_chromium`.
    address
        Of the server that is visited.
    """

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser = browser
        self._address = address
        self._options: dict[BrowserContext, tuple[object, ...]] = {}
        self._free: dict[tuple[object, ...], list[BrowserContext]] = defaultdict(list)

    def new_context(self, **options: Any) -> BrowserContext:
        """Return a profile with these options that no other visitor has."""
        wanted = tuple(sorted(options.items()))
        if self._free[wanted]:
            return self._free[wanted].pop()
        context = self._browser.new_context(**options)
        context.new_page().goto(f"{self._address}/_stcore/health")
        self._options[context] = wanted
        return context

    def take_back(self, context: BrowserContext) -> None:
        """Close the windows of a profile and remove what its visitor left there."""
        plain, *windows = context.pages
        for window in windows:
            window.close()
        everything = {"origin": self._address, "storageTypes": "all"}
        context.new_cdp_session(plain).send("Storage.clearDataForOrigin", everything)
        context.clear_cookies()
        context.clear_permissions()
        self._free[self._options[context]].append(context)


class Visitor:
    """A browser window of somebody new, and what people do in it.

    Parameters
    ----------
    browser
        The browser to open it in, or profiles of it that visitors use one after the other; nothing
        is shared with its other windows.
    address
        Of the server.
    width, height, color_scheme
        Of the window.
    """

    def __init__(
        self,
        browser: Browser | Profiles,
        address: str,
        *,
        width: int = 1280,
        height: int = 900,
        color_scheme: str = "light",
    ) -> None:
        self.address = address
        self.width, self.height = width, height
        self._profiles = browser if isinstance(browser, Profiles) else None
        self._context = browser.new_context(
            user_agent=TELEPHONE if width < NARROW else None,
            has_touch=width < NARROW,
            color_scheme=color_scheme,
            reduced_motion="reduce",
        )
        self._context.set_default_timeout(1000 * PATIENCE_SECONDS)
        self._context.set_default_navigation_timeout(1000 * PATIENCE_SECONDS)
        self.page: Page = self._context.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.script_errors: list[str] = []
        self.page.on("pageerror", lambda error: self.script_errors.append(str(error)))
        self.page.on("dialog", self._refuse_dialog)

    def close(self) -> None:
        """Close the window and forget its cookies."""
        if self._profiles is None:
            self._context.close()
        else:
            self._profiles.take_back(self._context)

    def _refuse_dialog(self, dialog: Any) -> None:
        self.script_errors.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()

    # Going

    def open(self, path: str = "/") -> None:
        """Open an address of the app, as written or as a path."""
        self.page.goto(path if "://" in path else self.address + path)
        self.settle()

    def go_to(self, title: str) -> None:
        """Follow the navigation to a page."""
        # In a narrow window the navigation is folded away.
        unfold = self.page.get_by_role("button", name="Expand sidebar")
        if unfold.is_visible():
            unfold.click()
        link = self.page.get_by_role("link", name=title, exact=True).first
        self._until_done(link.click, self.heading(title, level=1).wait_for)
        self.settle()

    def settle(self, seconds: float = 0.4, *, patience: float = PATIENCE_SECONDS) -> None:
        """Wait until the page has been at rest for a while."""
        deadline = time.monotonic() + patience
        at_rest_since: float | None = None
        last = None
        while True:
            now = time.monotonic()
            state = self.page.evaluate(_STATE_OF_PAGE, _STILL_WORKING)
            if state["working"] or state["size"] != last:
                at_rest_since, last = None, state["size"]
            elif at_rest_since is None:
                at_rest_since = now
            elif now - at_rest_since >= seconds:
                return
            if now > deadline:
                raise TimeoutError("The page does not come to rest.")
            self.page.wait_for_timeout(50)

    # Seeing

    def heading(self, text: str, *, level: int | None = None) -> Locator:
        """Return a heading by its text."""
        return self.page.get_by_role("heading", name=text, level=level)

    def text(self) -> str:
        """Return what stands on the page, without the navigation."""
        return self.page.get_by_role("main").inner_text()

    def open_table(self, name: str) -> Locator:
        """Return the header's word on the open table, if that has this name."""
        return self.page.locator(".st-key-switcher").get_by_role("button", name=name)

    def workspace_key(self) -> str:
        """Return what the browser keeps to find its workspace again."""
        (key,) = (
            cookie["value"]
            for cookie in self._context.cookies()
            if cookie["name"].startswith("pmae_workspace")
        )
        return str(key)

    def enter_workspace(self, key: str) -> None:
        """Let the browser know the key of a workspace, as if it had been there before."""
        name = f"pmae_workspace_{urlsplit(self.address).port}"
        self._context.add_cookies([{"name": name, "value": key, "url": self.address}])

    def failures(self) -> list[str]:
        """Return what a page must never show, and errors of scripts."""
        shown = [failure for failure in FAILURES_ON_PAGE if failure in self.text()]
        exceptions = self.page.get_by_test_id("stException").all_inner_texts()
        return [*shown, *exceptions, *self.script_errors]

    def figure_data(self, question: str) -> list[dict[str, Any]]:
        """Return the traces of the figure that answers a question: names, x and y as lists."""
        plot = self.page.get_by_role("figure", name=question).locator(".js-plotly-plot")
        deadline = time.monotonic() + PATIENCE_SECONDS
        # Looked up each time: a page that refreshes itself may put another one in its place.
        while (traces := plot.evaluate(_TRACES)) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"The figure stays empty: {question}")
            self.page.wait_for_timeout(50)
        return list(traces)

    def grid(self, *headers: str) -> Grid:
        """Return the table on the page that has these columns."""
        return Grid(self.page, headers)

    # Doing

    def upload(self, path: Path) -> None:
        """Send a file on the Data page."""
        self.page.locator("input[type=file]").first.set_input_files(path)

    def choose(self, label: str, option: str) -> None:
        """Choose in a list, which is opened again if something that refreshes closes it."""
        box = self.page.get_by_role("combobox", name=label, exact=True)
        self._until_done(box.click, self.page.get_by_role("option", name=option).first.click)
        self.settle()

    def _until_done(self, begin: Callable[[], None], finish: Callable[..., None]) -> None:
        """Do something in two steps, again from the first if a refresh undid it between."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            begin()
            try:
                return finish(timeout=5_000)
            except PlaywrightTimeoutError:
                if time.monotonic() > deadline:
                    raise
                self.page.keyboard.press("Escape")

    def pick(self, label: str, option: str) -> None:
        """Pick one of the choices that stand side by side or one below the other."""
        group = self.page.get_by_role("radiogroup", name=label)
        group.get_by_text(option, exact=True).click()
        self.settle()

    def slider(self, label: str) -> Locator:
        """Return a slider; the arrow keys move it."""
        return self.page.get_by_role("slider", name=re.compile(f"^{re.escape(label)}"))

    def press_button(self, name: str) -> None:
        """Press a button by its name."""
        self.page.get_by_role("button", name=name, exact=True).click()


class Grid:
    """A table that is drawn on a canvas; its cells are read from what screen readers get."""

    ROW_HEIGHT = 35

    def __init__(self, page: Page, headers: Sequence[str]) -> None:
        grids = page.get_by_test_id("data-grid-canvas")
        for header in headers:
            cell = page.locator("th", has_text=re.compile(f"^{re.escape(header)}$"))
            grids = grids.filter(has=cell)
        self.page = page
        self.canvas = grids.first

    def rows(self) -> list[list[str]]:
        """Return the cells that are in view."""
        self.canvas.scroll_into_view_if_needed()
        return list(
            self.canvas.evaluate(
                "canvas => [...canvas.querySelectorAll('tbody tr')]"
                ".map(row => [...row.children].map(cell => cell.textContent))"
            )
        )

    def select(self, row: int, x: float = 30) -> None:
        """Put the cursor on the cell of a row that lies at x: the first one, if x is small."""
        self.canvas.scroll_into_view_if_needed()
        # Forced: what scrolls lies above the canvas and hands the clicks on.
        self.canvas.click(position={"x": x, "y": self.ROW_HEIGHT * (row + 1) + 18}, force=True)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(100)


_STATE_OF_PAGE = """
working => {
    const main = document.querySelector('[data-testid="stMain"]');
    const started = main && document.querySelector('[data-testid="stApp"]');
    const figures = [...document.querySelectorAll('[data-testid="stPlotlyChart"]')];
    const empty = figures.some(figure => !figure.querySelector('.main-svg'));
    return {
        working: !started || empty || document.querySelector(working) !== null,
        size: main ? main.scrollHeight + ':' + main.innerText.length : '',
    };
}
"""

# Plotly's own copy of the traces: what the server sends may be packed. It has none at first.
_TRACES = """
figure => figure._fullData
    ? figure._fullData.map(trace => ({
        name: trace.name ?? '',
        x: Array.from(trace.x ?? []),
        y: Array.from(trace.y ?? []),
    }))
    : null
"""
