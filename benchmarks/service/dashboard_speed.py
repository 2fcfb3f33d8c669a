"""How long people wait for the dashboard, measured in a real browser.

First paint after the server starts, switching pages, moving a slider until its figure is redrawn,
a comparison of methods from Start to its first answer and its last one,
and tables from their upload to each of their views: a survey of 90 columns, a real table of 58,788
rows, and 1,000,000 rows of 50 columns. What needs a real table is skipped where PMAE_DATA_DIR does
not name its folder.

[PMAE_DATA_DIR=<folder of the tables>] python -m benchmarks.service.dashboard_speed
    [--rows 1000000] [--without-large-table]
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from playwright.sync_api import Browser, sync_playwright

from benchmarks.recording import machine, write_result
from tests.support.chromium import launch_chromium
from tests.support.studio import StudioServer, Visitor
from tests.support.wide_survey import wide_survey

STARTS = 3
ROUNDS = 5
MOVES = 20
# Targets for the first page, a page switch, a slider, and a view of each table.
WANTED_SECONDS = {
    "first_paint": 3.0,
    "page_switch": 1.0,
    "slider": 0.4,
    "first_answer": 10.0,
    "wide_table": 1.0,
    "long_table": 1.0,
    "large_table": 10.0,
}
FIRST_ANSWER = re.compile("^Does the (method change|.* depend on the method)")
LONGEST_COMPARISON_SECONDS, RUN_ENDED_SECONDS = 900.0, 3.0
TABLES = ("wide_table", "long_table", "large_table")
LONG_TABLE, COMPARED_TABLE = Path("real") / "movies.csv", Path("real") / "SLID.csv"
PAGES = ("Missingness", "Masking lab", "Amputation lab", "Data")
WHICH_VIEW = "What do you want to know?"
VIEWS = ("How much", "Where", "Together", "Patterns", "Clues", "Complete cases")
MASKING_WEIGHTS = "How much does each task weigh in the loss of a column?"
AMPUTED_CELLS = "Which cells were removed?"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 1 if a target is missed."""
    options = parsed(arguments)
    load_before = os.getloadavg()[0]
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        measured = {"first_paint": first_paints(browser)}
        with tempfile.TemporaryDirectory() as home, StudioServer(Path(home)) as server:
            measured |= {
                "page_switch": page_switches(browser, server),
                "slider": slider_moves(browser, server),
                "new_missing_values": new_missing_values(browser, server),
            }
        if (table := real_table(COMPARED_TABLE)) is not None:
            measured["comparison"] = comparison(browser, table)
        measured |= {name: views(browser, table) for name, table in tables(options.rows).items()}
        version = browser.version
        browser.close()
    late = too_slow(measured)
    result = {
        "what": "seconds that people wait for the dashboard, measured in the browser",
        "command": "python -m benchmarks.service.dashboard_speed",
        "machine": machine(
            load_before, load_average_after=round(os.getloadavg()[0], 1), chromium=version
        ),
        "wanted_seconds": WANTED_SECONDS,
        "seconds": measured,
        "slower_than_wanted": late,
    }
    print(result, flush=True)
    write_result("dashboard_speed", result)
    return int(bool(late))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large table")
    parser.add_argument("--without-large-table", dest="rows", action="store_const", const=0)
    return parser.parse_args(arguments)


def spread(seconds: Sequence[float]) -> dict[str, float | int]:
    """Return median, minimum and maximum of some times."""
    return {
        "median": round(statistics.median(seconds), 3),
        "least": round(min(seconds), 3),
        "most": round(max(seconds), 3),
        "n": len(seconds),
    }


def too_slow(measured: dict[str, Any]) -> list[str]:
    """Return the names of the medians above their target."""
    medians = {
        "first_paint": measured["first_paint"]["heading"]["median"],
        "slider": measured["slider"]["figure_drawn"]["median"],
        **{f"page_switch: {p}": t["median"] for p, t in measured["page_switch"].items()},
    }
    if "comparison" in measured:
        medians["first_answer"] = measured["comparison"]["first_answer"]
    for table in measured.keys() & TABLES:
        drawn = measured[table]["drawn"]
        medians |= {f"{table}: {view}": seconds for view, seconds in drawn.items()}
    return [name for name, t in medians.items() if t > WANTED_SECONDS[name.split(":")[0]]]


# What is measured


def first_paints(browser: Browser) -> dict[str, Any]:
    """Time the first visit to a server that has just started."""
    times: dict[str, list[float]] = {"heading": [], "whole_page": []}
    started_up = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as home:
            begun = time.perf_counter()
            with StudioServer(Path(home)) as server:
                started_up.append(time.perf_counter() - begun)
                visitor = Visitor(browser, server.url)
                begun = time.perf_counter()
                visitor.page.goto(server.url)
                visitor.heading("Data", level=1).wait_for()
                times["heading"].append(time.perf_counter() - begun)
                visitor.page.evaluate(AT_REST)
                times["whole_page"].append(time.perf_counter() - begun)
                visitor.close()
    return {name: spread(t) for name, t in times.items()} | {"server_start": spread(started_up)}


def page_switches(browser: Browser, server: StudioServer) -> dict[str, Any]:
    """Time from a click in the navigation to the complete page; the first visit is separate."""
    visitor = Visitor(browser, server.url)
    visitor.open()
    times: dict[str, list[float]] = {page: [] for page in PAGES}
    for _ in range(ROUNDS + 1):
        for page in PAGES:
            milliseconds = visitor.page.evaluate(SWITCH_PAGE, page)
            times[page].append(milliseconds / 1000)
            visitor.settle()
    visitor.close()
    return {page: spread(t[1:]) | {"first_time": round(t[0], 3)} for page, t in times.items()}


def slider_moves(browser: Browser, server: StudioServer) -> dict[str, Any]:
    """Time from a key press on slider a to what Python draws, and to the page at rest.

    The curve itself follows in the browser alone: see ``benchmarks.service.live``.
    """
    visitor = Visitor(browser, server.url)
    visitor.open("/masking_lab")
    slider = visitor.slider("a: effect of missingness")
    slider.focus()
    keys = ["ArrowRight", "ArrowLeft"] * (MOVES // 2)
    moves = [lambda key=key: slider.press(key) for key in keys]
    times = times_of_redrawing(visitor, server, MASKING_WEIGHTS, moves)
    visitor.close()
    return times


def new_missing_values(browser: Browser, server: StudioServer) -> dict[str, Any]:
    """Time from another seed in the Amputation lab to the figure of its missing values."""
    visitor = Visitor(browser, server.url)
    visitor.open("/amputation_lab")
    visitor.page.get_by_role("tab", name="Removed values").click()
    visitor.settle()
    more = visitor.page.get_by_role("button", name="Increment")
    times = times_of_redrawing(visitor, server, AMPUTED_CELLS, [more.click] * (MOVES // 2))
    visitor.close()
    return times


def times_of_redrawing(
    visitor: Visitor, server: StudioServer, question: str, moves: Sequence[Callable[[], None]]
) -> dict[str, Any]:
    """Time each move, and the processor time of the server, which other work changes little."""
    drawn, at_rest = [], []
    visitor.figure_data(question)
    cpu_before = cpu_seconds(server)
    for move in moves:
        visitor.page.evaluate(WATCH_FIGURE, question)
        move()
        times = visitor.page.evaluate("() => window.redrawn")
        drawn.append(times["drawn"] / 1000)
        at_rest.append(times["rest"] / 1000)
        visitor.settle()
    cpu = (cpu_seconds(server) - cpu_before) / len(moves)
    return {
        "figure_drawn": spread(drawn),
        "page_at_rest": spread(at_rest),
        "server_cpu_per_move": round(cpu, 3),
    }


def comparison(browser: Browser, table: Path) -> dict[str, Any]:
    """Time a comparison with the settings a new visitor finds, from Start to its answers."""
    with tempfile.TemporaryDirectory() as home, StudioServer(Path(home)) as server:
        visitor = Visitor(browser, server.url)
        visitor.open()
        visitor.upload(table)
        visitor.page.get_by_text(f"{table.name} is open.").wait_for()
        visitor.go_to("Compare")
        begun = time.perf_counter()
        visitor.page.get_by_role("button", name="Start comparison").click()
        answer = visitor.heading(FIRST_ANSWER).first
        answer.wait_for(timeout=1000 * LONGEST_COMPARISON_SECONDS)
        first = time.perf_counter() - begun
        visitor.settle(RUN_ENDED_SECONDS, patience=LONGEST_COMPARISON_SECONDS)
        last = time.perf_counter() - begun - RUN_ENDED_SECONDS
        failures = [*visitor.failures(), *server.failures()]
        visitor.close()
    if failures:
        raise SystemExit(f"A page failed while it compared methods: {failures}")
    return {"table": table.name, "first_answer": round(first, 1), "last_answer": round(last, 1)}


def real_table(name: Path) -> Path | None:
    """Find a real table; say so if it is not there."""
    path = Path(os.environ.get("PMAE_DATA_DIR", "")) / name
    if path.is_file():
        return path
    print(f"Skipped: {name} was not found. Name its folder with PMAE_DATA_DIR.")
    return None


def tables(large_rows: int) -> dict[str, pd.DataFrame]:
    """Return the tables to look at, by the name of their target."""
    chosen = {"wide_table": wide_survey()}
    if (path := real_table(LONG_TABLE)) is not None:
        chosen["long_table"] = pd.read_csv(path)
    if large_rows:
        chosen["large_table"] = made_table(large_rows)
    return chosen


def views(browser: Browser, table: pd.DataFrame) -> dict[str, Any]:
    """Time a table from its upload to each of the views of its missingness."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        table.to_parquet(path)
        with StudioServer(Path(folder) / "home") as server:
            visitor = Visitor(browser, server.url)
            visitor.open()
            begun = time.perf_counter()
            visitor.upload(path)
            visitor.page.get_by_text(f"{path.name} is open.").wait_for(timeout=600_000)
            opened = time.perf_counter() - begun
            visitor.settle()
            whole = time.perf_counter() - begun
            drawn = {"Missingness": timed(lambda: visitor.go_to("Missingness"))}
            for view in VIEWS[1:]:
                drawn[view] = timed(lambda view=view: visitor.pick(WHICH_VIEW, view))
            for page in PAGES[1:3]:
                drawn[page] = timed(lambda page=page: visitor.go_to(page))
            memory = server_process(server).memory_info().rss
            failures = [*visitor.failures(), *server.failures()]
            visitor.close()
        if failures:
            raise SystemExit(f"A page failed on a table of {table.shape}: {failures}")
        return {
            "rows": len(table),
            "columns": table.shape[1],
            "file_mb": round(path.stat().st_size / 1e6, 1),
            "upload_to_open": round(opened, 2),
            "upload_to_data_page": round(whole, 2),
            "drawn": drawn,
            "server_memory_mb": round(memory / 1e6),
        }


def timed(action: Callable[[], None]) -> float:
    """Return the seconds of an action until the page is at rest, without the rest itself."""
    begun = time.perf_counter()
    action()
    return round(time.perf_counter() - begun - 0.4, 2)


def cpu_seconds(server: StudioServer) -> float:
    times = server_process(server).cpu_times()
    return float(times.user + times.system)


def server_process(server: StudioServer) -> psutil.Process:
    children = psutil.Process().children()
    return next(child for child in children if str(server.port) in child.cmdline())


def made_table(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Return 40 numerical and 10 categorical columns with missing values, partly not at random."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    reason = rng.normal(size=n_rows)
    for number in range(40):
        values = (reason + rng.normal(size=n_rows)).round(2).astype("float32")
        missing = rng.random(n_rows) < number / 60 + 0.1 * (reason > 1)
        columns[f"number_{number}"] = np.where(missing, np.float32("nan"), values)
    labels = np.array(["red", "green", "blue", "white"])
    for number in range(10):
        codes = rng.integers(0, len(labels), n_rows)
        codes[rng.random(n_rows) < number / 20] = -1
        columns[f"label_{number}"] = pd.Categorical.from_codes(codes, labels)
    return pd.DataFrame(columns)


# What runs in the browser, where nothing comes between the event and the clock

IN_BROWSER = """
    const pause = () => new Promise(done => setTimeout(done, 10));
    const painted = () => new Promise(requestAnimationFrame);
    const working = () => document.querySelector([
        '[data-testid="stApp"]:not([data-test-script-state="notRunning"])',
        '[data-testid="stSkeleton"]', '[data-testid="stSpinner"]',
        '[data-testid="stElementContainer"][data-stale="true"]',
    ].join()) !== null || [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
        .some(chart => !chart.querySelector('.main-svg'));
    const until = async condition => { while (!condition()) await pause(); await painted(); };
"""

AT_REST = f"async () => {{ {IN_BROWSER} await until(() => !working()); }}"

SWITCH_PAGE = f"""
async title => {{
    {IN_BROWSER}
    const links = [...document.querySelectorAll('nav a, [data-testid="stSidebarNav"] a')];
    const begun = performance.now();
    links.find(link => link.innerText.trim().endsWith(title)).click();
    await until(() => document.querySelector('main h1, [data-testid="stMain"] h1')
        ?.innerText.startsWith(title) && !working());
    return performance.now() - begun;
}}
"""

WATCH_FIGURE = f"""
question => {{
    {IN_BROWSER}
    // Looked up each time: a figure may be taken away and put back.
    const figure = () => [...document.querySelectorAll('figure, [role="figure"]')]
        .find(one => one.getAttribute('aria-label') === question)
        ?.querySelector('.js-plotly-plot');
    const content = () => JSON.stringify(figure()?._fullData?.map(
        trace => [
            Array.from(trace.x ?? []), Array.from(trace.y ?? []),
            Array.from(trace.z ?? [], row => Array.from(row)),
        ]
    ));
    const first = figure();
    const before = content();
    const begin = new Promise(resolve => {{
        for (const kind of ['keydown', 'pointerdown'])
            window.addEventListener(kind, () => resolve(performance.now()),
                {{ once: true, capture: true }});
    }});
    window.redrawn = (async () => {{
        const begun = await begin;
        await until(() => ![before, undefined].includes(content()));
        const drawn = performance.now() - begun;
        await until(() => !working());
        return {{ drawn, rest: performance.now() - begun, anew: figure() !== first }};
    }})();
}}
"""

if __name__ == "__main__":
    sys.exit(main())
