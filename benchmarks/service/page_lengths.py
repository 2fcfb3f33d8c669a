"""How long the pages of the dashboard are, and how long they take, before and after a change.

In a real browser at 1280 × 720: the height of every page of the navigation in its first state
and with results on a real table (SLID), the lines of its script, the seconds from a click in the
navigation to the settled page, the first paint, and the clicks and scrolls from an upload to the
answer of "does the method change my result?".

Each checkout has a label, and measuring one label leaves the other as it is. Seconds can only be
compared if both labels are measured in one run, in which the checkouts take turns.

PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.service.page_lengths
    --tree <a checkout> --label before --tree <another checkout> --label after
    [--rounds 7] [--starts 3]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Locator, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from benchmarks.recording import RESULTS, commit, machine, write_result
from benchmarks.service.dashboard_speed import IN_BROWSER, spread
from tests.support import seeded_runs
from tests.support.chromium import launch_chromium
from tests.support.paths import ROOT
from tests.support.studio import StudioServer, Visitor

NAME = "page_lengths"
WIDTH, HEIGHT = 1280, 720
TABLE = Path("real") / "SLID.csv"
# A page that has not changed for so long is settled; the wait itself does not count.
QUIET_SECONDS = 0.5
LONGEST_SWITCH_SECONDS = 120
LONGEST_RUN_SECONDS = 600
RUN_ENDED_SECONDS = 3.0


class Click(NamedTuple):
    """Something to click on the page, by its role ("text" for what has none) and name."""

    role: str
    name: str


# The field for files, whatever stands on it; choosing the file in the system's window is no click.
UPLOAD = Click("upload", "upload")


class Journey(NamedTuple):
    """The clicks from a file to an answer, the upload among them, and the question it answers."""

    clicks: tuple[Click, ...]
    answer: re.Pattern[str]


# The forms of the labels differ, so each has its own way.
JOURNEYS = {
    "before": Journey(
        clicks=(
            UPLOAD,
            Click("link", "Compare"),
            Click("button", "Quick"),
            Click("text", "What follows from the fillings?"),
            Click("button", "Add this conclusion"),
            Click("button", "Start comparison"),
        ),
        answer=re.compile("^Does the .* depend on the method"),
    ),
    "after": Journey(
        clicks=(UPLOAD, Click("link", "Compare"), Click("button", "Start comparison")),
        answer=re.compile("^Does the (method change|.* depend on the method)"),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 1 if a page or a journey failed."""
    options = parsed(arguments)
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as homes, sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        studios = [
            Studio(label, tree.resolve(), Path(homes) / label)
            for label, tree in zip(options.label, options.tree, strict=True)
        ]
        measured = measure(browser, studios, options)
        version = browser.version
        browser.close()
    run = {
        "in_one_run": options.label,
        "machine": machine(
            load_before, load_average_after=round(os.getloadavg()[0], 1), chromium=version
        ),
    }
    measured = {label: run | figures for label, figures in measured.items()}
    print(json.dumps(measured, indent=2), flush=True)
    write_result(NAME, beside_others(measured, RESULTS / f"{NAME}.json"))
    failed = [s.label for s in studios if s.failures or "failed" in measured[s.label]["journey"]]
    return int(bool(failed))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", type=Path, action="append", help="a checkout to measure")
    parser.add_argument(
        "--label", choices=JOURNEYS, action="append", help="its label, in the order of the trees"
    )
    parser.add_argument("--rounds", type=int, default=7, help="visits to each page, timed")
    parser.add_argument("--starts", type=int, default=3, help="first paints, each of a new server")
    options = parser.parse_args(arguments)
    options.tree, options.label = options.tree or [ROOT], options.label or ["after"]
    if len(options.tree) != len(options.label) or len(set(options.label)) < len(options.label):
        parser.error("Give each --tree a --label of its own.")
    if missing := [tree for tree in options.tree if not (tree / "dashboard" / "app.py").is_file()]:
        parser.error(f"{missing[0]} is not a checkout: it has no dashboard/app.py.")
    if min(options.rounds, options.starts) < 1:
        parser.error("--rounds and --starts must be positive.")
    options.table = Path(os.environ.get("PMAE_DATA_DIR", "")) / TABLE
    if not options.table.is_file():
        parser.error(f"The table {TABLE} was not found. Name its folder with PMAE_DATA_DIR.")
    return options


def beside_others(measured: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the whole result: what was measured now, beside the other labels of the file."""
    earlier = json.loads(path.read_text())["measured"] if path.exists() else {}
    by_label = earlier | measured
    return {
        "what": f"the dashboard's pages at {WIDTH} x {HEIGHT}: height in pixels in the first state "
        f"and with results on {TABLE.name}, lines of the script, seconds, and one journey",
        "command": "python -m benchmarks.service.page_lengths "
        "--tree <a checkout> --label before --tree <another checkout> --label after",
        "seconds_are_comparable": "between labels of one run only, see in_one_run",
        "measured": {label: by_label[label] for label in JOURNEYS if label in by_label},
    }


# A checkout and its dashboard


class Link(NamedTuple):
    """A page as the navigation shows it."""

    title: str
    path: str


@dataclass
class Studio:
    """A checkout with its running dashboard, one visitor, and what was measured so far."""

    label: str
    tree: Path
    home: Path
    failures: list[str] = field(default_factory=list)
    server: StudioServer = field(init=False)
    visitor: Visitor = field(init=False)
    links: list[Link] = field(init=False)

    def start(self, browser: Browser) -> StudioServer:
        """Return its server, for ``with``, as a new visitor finds it."""
        self.server = StudioServer(self.home, tree=self.tree).start()
        self.visitor = new_visitor(browser, self.server)
        self.visitor.open()
        self.links = [Link(*link) for link in self.visitor.page.evaluate(LINKS)]
        return self.server

    def switch_to(self, link: Link) -> float:
        """Click a page in the navigation; return the seconds until it was settled."""
        limits = [link.path, 1000 * QUIET_SECONDS, 1000 * LONGEST_SWITCH_SECONDS]
        seconds = self.visitor.page.evaluate(SWITCH_PAGE, limits) / 1000
        self.failures += [f"{link.title}: {failure}" for failure in self.visitor.failures()]
        return float(seconds)

    def on_each_page(self, look: str) -> dict[str, Any]:
        """Go to every page; return by title what a script in the browser sees there."""
        seen = {}
        for link in self.links:
            self.switch_to(link)
            seen[link.title] = self.visitor.page.get_by_test_id("stMain").evaluate(look)
        return seen

    def script_lines(self) -> dict[str, int]:
        """Return the lines of every page's script."""
        return {link.title: n_lines(self.tree / "pages" / script_of(link)) for link in self.links}

    def seed_results(self, table: Path) -> None:
        """Open a table in the visitor's workspace, and run there what gives each page results."""
        self.switch_to(self.links[0])
        upload(self.visitor, table)
        environment = os.environ | {"PMAE_HOME": str(self.home), "PYTHONPATH": str(self.tree)}
        command = [sys.executable, "-P", seeded_runs.__file__]
        subprocess.run(command, cwd=self.tree, env=environment, check=True)


def new_visitor(browser: Browser, server: StudioServer) -> Visitor:
    return Visitor(browser, server.url, width=WIDTH, height=HEIGHT)


def upload(visitor: Visitor, table: Path) -> None:
    visitor.upload(table)
    visitor.page.get_by_role("main").get_by_text(table.name).first.wait_for()
    visitor.settle(seconds=RUN_ENDED_SECONDS)


def script_of(link: Link) -> str:
    """Return the file of a page; the page that opens has no path of its own.

    Examples
    --------
    >>> script_of(Link("Data", "/")), script_of(Link("Masking lab", "/masking_lab"))
    ('data.py', 'masking_lab.py')
    """
    return f"{link.path.strip('/') or link.title.lower().replace(' ', '_')}.py"


def n_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


# What is measured


def measure(
    browser: Browser, studios: Sequence[Studio], options: argparse.Namespace
) -> dict[str, Any]:
    """Return all figures by label."""
    paints = first_paints(browser, studios, options.starts)
    with ExitStack() as running:
        for studio in studios:
            running.callback(studio.start(browser).stop)
        first_state = {studio.label: studio.on_each_page(PIXELS) for studio in studios}
        for studio in studios:
            studio.seed_results(options.table)
        with_results = {studio.label: studio.on_each_page(PIXELS) for studio in studios}
        named = {studio.label: studio.on_each_page(NAMES_A_RUN) for studio in studios}
        switches = page_switches(studios, options.rounds)
        journeys = {s.label: journey(browser, s, options.table) for s in studios}
        for studio in studios:
            studio.failures += studio.server.failures()
    return {
        studio.label: {
            "commit": commit(studio.tree),
            "pages": side_by_side(
                script_lines=studio.script_lines(),
                first_state_pixels=first_state[studio.label],
                with_results_pixels=with_results[studio.label],
                page_switch_seconds=switches[studio.label],
            ),
            # Runs that a page does not show make no page longer: without names, look why.
            "pages_that_name_a_run": [t for t, is_named in named[studio.label].items() if is_named],
            "first_paint_seconds": paints[studio.label],
            "journey": journeys[studio.label],
            "failures": studio.failures,
        }
        for studio in studios
    }


def side_by_side(**figures: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Turn figures by kind and page into figures by page and kind."""
    pages = next(iter(figures.values()))
    return {page: {kind: by_page[page] for kind, by_page in figures.items()} for page in pages}


def turns(studios: Sequence[Studio], number: int) -> list[Studio]:
    """Return all studios, each time beginning with the next one."""
    first = number % len(studios)
    return [*studios[first:], *studios[:first]]


def first_paints(browser: Browser, studios: Sequence[Studio], starts: int) -> dict[str, Any]:
    """Time the first visit to a server that has just started, from the request on."""
    times: dict[str, list[dict[str, float]]] = {studio.label: [] for studio in studios}
    for number, studio in [(n, s) for n in range(starts) for s in turns(studios, n)]:
        home = studio.home.with_name(f"{studio.label}-start-{number}")
        with StudioServer(home, tree=studio.tree) as server:
            visitor = new_visitor(browser, server)
            visitor.page.goto(server.url, wait_until="commit")
            limits = [1000 * QUIET_SECONDS, 1000 * LONGEST_SWITCH_SECONDS]
            times[studio.label].append(visitor.page.evaluate(FIRST_PAINT, limits))
            visitor.close()
    return {
        label: {event: spread([paint[event] / 1000 for paint in paints]) for event in paints[0]}
        for label, paints in times.items()
    }


def page_switches(studios: Sequence[Studio], rounds: int) -> dict[str, dict[str, Any]]:
    """Time page switches with results; the dashboards take turns at every page."""
    times: dict[str, dict[str, list[float]]] = {
        studio.label: {link.title: [] for link in studio.links} for studio in studios
    }
    for number in range(rounds):
        for place in range(max(len(studio.links) for studio in studios)):
            for studio in turns(studios, number + place):
                if place < len(studio.links):
                    link = studio.links[place]
                    times[studio.label][link.title].append(studio.switch_to(link))
    return {
        label: {title: spread(seconds) for title, seconds in by_page.items()}
        for label, by_page in times.items()
    }


def journey(browser: Browser, studio: Studio, table: Path) -> dict[str, Any]:
    """Go from an upload to the answer as a new visitor, counting clicks and scrolls."""
    way = JOURNEYS[studio.label]
    visitor = new_visitor(browser, studio.server)
    visitor.open()
    steps: list[dict[str, Any]] = []
    try:
        for click in way.clicks:
            target = clickable(visitor, click)
            steps.append({"click": click.name, "scrolls": scrolled_to(target)})
            if click == UPLOAD:
                upload(visitor, table)
            else:
                target.click()
                visitor.settle()
        answer = visitor.heading(way.answer).first
        answer.wait_for(timeout=1000 * LONGEST_RUN_SECONDS)
        # The first methods answer while the others still run.
        visitor.settle(seconds=RUN_ENDED_SECONDS, patience=LONGEST_RUN_SECONDS)
        depth = answer.evaluate(DEPTH)
        answer_scrolls = scrolled_to(answer)
    except PlaywrightTimeoutError as error:
        return {"failed": str(error).split("\n")[0], "steps": steps}
    finally:
        studio.failures += visitor.failures()
        visitor.close()
    return {
        "clicks": len(steps),
        "scrolls": sum(step["scrolls"] for step in steps) + answer_scrolls,
        "answer_screens_down": round(depth / HEIGHT, 2),
        "answer_on_screen": 1 + int(depth // HEIGHT),
        "steps": steps,
    }


def clickable(visitor: Visitor, click: Click) -> Locator:
    """Return what to click, as soon as it is there."""
    page = visitor.page
    if click == UPLOAD:
        found = page.get_by_test_id("stFileUploaderDropzone").first
    elif click.role == "text":
        found = page.get_by_text(click.name, exact=True).first
    else:
        found = page.get_by_role(click.role, name=click.name, exact=True).first
    found.wait_for()
    return found


def scrolled_to(target: Locator) -> int:
    """Bring something into the window; return by how many screens the page had to move."""
    box = target.bounding_box() or {"y": 0.0, "height": 0.0}
    target.scroll_into_view_if_needed()
    return screens_to_scroll(box["y"], box["height"])


def screens_to_scroll(top: float, height: float) -> int:
    """Return by how many screens to scroll until something is in the window as a whole.

    Examples
    --------
    >>> screens_to_scroll(700, 20), screens_to_scroll(701, 20), screens_to_scroll(-1, 20)
    (0, 1, 1)
    """
    outside = max(0.0, -top, top + height - HEIGHT)
    return math.ceil(outside / HEIGHT)


# What runs in the browser, where nothing comes between the event and the clock

LINKS = """
() => [...document.querySelectorAll('[data-testid="stSidebarNavLink"]')].map(link => [
    link.innerText.trim().split('\\n').pop().trim(), new URL(link.href).pathname,
])
"""

# The least is the window's own height.
PIXELS = "main => main.scrollHeight"

# A chosen run stands in a field, whose text is a value.
NAMES_A_RUN = f"""
main => [main.innerText, ...[...main.querySelectorAll('input')].map(input => input.value)]
    .some(text => text.includes('{seeded_runs.MARK}'))
"""

_SETTLED = """
    // Returns when the page last worked or changed, once it has been quiet for a while.
    const settled = async (quiet, limit) => {
        const begun = performance.now();
        let last = begun, seen = null;
        while (performance.now() - last < quiet) {
            const main = document.querySelector('[data-testid="stMain"]');
            const shown = main ? main.scrollHeight + ':' + main.innerText.length : null;
            if (shown === null || working() || shown !== seen) last = performance.now();
            if (last - begun > limit) throw new Error('The page does not come to rest.');
            seen = shown;
            await pause();
        }
        return last;
    };
"""

SWITCH_PAGE = f"""
async ([path, quiet, limit]) => {{
    {IN_BROWSER} {_SETTLED}
    const links = [...document.querySelectorAll('[data-testid="stSidebarNavLink"]')];
    const begun = performance.now();
    links.find(link => new URL(link.href).pathname === path).click();
    await until(() => location.pathname === path);
    return await settled(quiet, limit) - begun;
}}
"""

FIRST_PAINT = f"""
async ([quiet, limit]) => {{
    {IN_BROWSER} {_SETTLED}
    await until(() => document.querySelector('[data-testid="stMain"] h1'));
    const heading = performance.now();
    const whole_page = await settled(quiet, limit);
    const paint = performance.getEntriesByName('first-contentful-paint')[0].startTime;
    return {{ first_contentful_paint: paint, heading, whole_page }};
}}
"""

DEPTH = """
target => {
    const main = document.querySelector('[data-testid="stMain"]');
    return target.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop;
}
"""

if __name__ == "__main__":
    sys.exit(main())
