"""How well the Masking lab follows the hand, measured in a real browser.

The sliders a and b are dragged for some seconds on a table of 12 and on one of 90 columns. What
counts are frames in which the curve is another than in the frame before, the longest wait for
such a frame, the time from the release to what Python draws, and the processor time of the
server. The hand is once in the page, which moves the slider before every frame, and once the
mouse of this script, whose moves reach the browser one by one. With --tree, an older checkout is
dragged by the mouse in the same run; the checkouts take turns.

python -m benchmarks.service.live [--tree <an older checkout>] [--seconds 3] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from playwright.sync_api import Browser, Locator, sync_playwright

from benchmarks.recording import commit, machine, write_result
from benchmarks.service.dashboard_speed import cpu_seconds
from tests.support.chromium import launch_chromium
from tests.support.paths import ROOT
from tests.support.studio import StudioServer, Visitor
from tests.support.wide_survey import wide_survey

WIDTH, HEIGHT = 1280, 720
WANTED_FRAMES_PER_SECOND = 50
SLIDERS = {"a": "a: effect of missingness", "b": "b: overall masking rate"}
N_COLUMNS = (12, 90)
IN_PAGE, MOUSE = "in the page", "mouse"
HANDS = {"now": (IN_PAGE, MOUSE), "before": (MOUSE,)}
# The hand goes to and fro, at a speed at which each frame sees it elsewhere.
REACH_PIXELS, PIXELS_PER_SECOND = 40, 240
END_PIXELS = 5
# The curve: of the live figure, and of the Plotly figure that an older checkout has.
CURVES = {"now": ("path.line", ".curve svg"), "before": ("path.js-line", ".js-plotly-plot")}
# What Python draws after the release.
PYTHON_FIGURE = {
    "now": "How much does each task weigh in the loss of a column?",
    "before": "What share is masked?",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 1 if the lab is slower than wanted."""
    options = parsed(arguments)
    load_before = os.getloadavg()[0]
    trees = {"now": ROOT} | ({"before": options.tree} if options.tree else {})
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        browser = launch_chromium(stack.enter_context(sync_playwright()))
        studios = [Studio(label, tree, home / label) for label, tree in trees.items()]
        for studio in studios:
            stack.enter_context(studio.server)
        drags = measure(browser, studios, options)
        failures = [failure for studio in studios for failure in studio.server.failures()]
        version = browser.version
        browser.close()
    result = {
        "what": "frames per second in which the curve of the Masking lab follows a dragged slider",
        "command": "python -m benchmarks.service.live --tree <an older checkout>",
        "machine": machine(
            load_before, load_average_after=round(os.getloadavg()[0], 1), chromium=version
        ),
        "seconds_per_drag": options.seconds,
        "wanted_frames_per_second": WANTED_FRAMES_PER_SECOND,
        "commit": {label: commit(tree) for label, tree in trees.items()},
        "drags": drags,
        "failures": failures,
    }
    print(json.dumps(result, indent=2), flush=True)
    write_result("live", result)
    return int(bool(failures) or too_slow(drags["now"]))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", type=Path, help="an older checkout, to compare with")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a drag")
    parser.add_argument("--rounds", type=int, default=3, help="drags of each slider and table")
    options = parser.parse_args(arguments)
    if options.seconds <= 0 or options.rounds < 1:
        parser.error("--seconds and --rounds must be positive.")
    if options.tree and not (options.tree / "dashboard" / "app.py").is_file():
        parser.error(f"{options.tree} is not a checkout: it has no dashboard/app.py.")
    return options


def too_slow(drags: dict[str, Any]) -> bool:
    """Say whether any slider on any table misses the wanted frames per second."""
    return any(
        drag["frames_per_second"] < WANTED_FRAMES_PER_SECOND
        for by_slider in drags.values()
        for by_hand in by_slider.values()
        for drag in by_hand
        if drag["hand"] == IN_PAGE
    )


# A checkout and a visitor in its lab


@dataclass
class Studio:
    """A checkout with its server."""

    label: str
    tree: Path
    home: Path

    def __post_init__(self) -> None:
        self.server = StudioServer(self.home, tree=self.tree)

    def open_lab(self, browser: Browser, table: Path) -> Visitor:
        """Return a new visitor in the Masking lab with a table."""
        visitor = Visitor(browser, self.server.url, width=WIDTH, height=HEIGHT)
        visitor.open()
        visitor.upload(table)
        visitor.open_table(table.name).wait_for()
        visitor.settle()
        visitor.go_to("Masking lab")
        return visitor

    def drag(
        self, visitor: Visitor, slider: Locator, hand: str, seconds: float, end: float
    ) -> dict[str, float]:
        """Drag a slider to and fro, and count what the browser draws meanwhile.

        It ends so many pixels beside its start: the release has to change something.
        """
        selector, figure = CURVES[self.label]
        x, y = slider.evaluate(THUMB)
        mouse = visitor.page.mouse
        mouse.move(x, y)
        mouse.down()
        cpu_before = cpu_seconds(self.server)
        visitor.page.locator(figure).first.evaluate(COUNT_FRAMES, selector)
        if hand == IN_PAGE:
            moves = slider.evaluate(MOVE_IN_PAGE, [seconds, REACH_PIXELS, PIXELS_PER_SECOND])
        else:
            moves = move_mouse(visitor, x, y, seconds)
        counted = visitor.page.evaluate("() => window.stopCounting()")
        mouse.move(x + end, y)
        cpu_dragging = cpu_seconds(self.server) - cpu_before
        visitor.page.evaluate(WATCH_RELEASE, PYTHON_FIGURE[self.label])
        mouse.up()
        release = visitor.page.evaluate("() => window.redrawn")
        visitor.settle()
        return {
            "frames_per_second": round(counted["changed"] / counted["seconds"], 1),
            "moves_of_the_hand_per_second": round(moves / counted["seconds"], 1),
            "screen_frames_per_second": round(counted["frames"] / counted["seconds"], 1),
            "longest_wait_ms": round(counted["longest"]),
            "release_to_python_figure_ms": round(release),
            "server_cpu_seconds_while_dragging": round(cpu_dragging, 3),
            "server_cpu_seconds_with_release": round(cpu_seconds(self.server) - cpu_before, 3),
        }


def move_mouse(visitor: Visitor, x: float, y: float, seconds: float) -> int:
    """Move the mouse to and fro as fast as the browser takes it; return how often."""
    begun, moves = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - begun) < seconds:
        visitor.page.mouse.move(x + place_of_hand(elapsed), y)
        moves += 1
    return moves


def place_of_hand(seconds: float) -> float:
    """Return how far the hand is from where it began: it goes to and fro at an even speed.

    Examples
    --------
    >>> [round(place_of_hand(n * REACH_PIXELS / PIXELS_PER_SECOND)) for n in range(5)]
    [0, 40, 0, -40, 0]
    """
    turn = seconds * PIXELS_PER_SECOND / REACH_PIXELS
    return REACH_PIXELS * (2 / math.pi) * math.asin(math.sin(turn * math.pi / 2))


# What is measured


def measure(
    browser: Browser, studios: Sequence[Studio], options: argparse.Namespace
) -> dict[str, Any]:
    """Return the medians of all drags by checkout, columns and slider, one for each hand."""
    drags: dict[str, Any] = {studio.label: {} for studio in studios}
    for n_columns in N_COLUMNS:
        table = studios[0].home / f"survey_{n_columns}.csv"
        made_table(n_columns).to_csv(table, index=False)
        visitors = {studio.label: studio.open_lab(browser, table) for studio in studios}
        hands = [(studio, hand) for studio in studios for hand in HANDS[studio.label]]
        measured: dict[tuple[str, str, str], list[dict[str, float]]] = {}
        for number in range(options.rounds):
            for name, label in SLIDERS.items():
                for studio, hand in hands if number % 2 else reversed(hands):
                    visitor = visitors[studio.label]
                    slider, end = visitor.slider(label), END_PIXELS * (-1) ** number
                    drag = studio.drag(visitor, slider, hand, options.seconds, end)
                    measured.setdefault((studio.label, name, hand), []).append(drag)
        for (label, name, hand), rounds in measured.items():
            by_slider = drags[label].setdefault(f"{n_columns} columns", {})
            by_slider.setdefault(name, []).append({"hand": hand, **medians(rounds)})
        for visitor in visitors.values():
            visitor.close()
    return drags


def made_table(n_columns: int) -> pd.DataFrame:
    """Return a survey with so many columns."""
    survey = wide_survey()
    return survey[survey.columns[-n_columns:]]


def medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure.

    Examples
    --------
    >>> medians([{"frames": 50}, {"frames": 60}, {"frames": 52}])
    {'frames': 52}
    """
    return {name: statistics.median(drag[name] for drag in rounds) for name in rounds[0]}


# What runs in the browser, where nothing comes between a frame and the clock

THUMB = """
slider => {
    const { left, top, width, height } = slider.getBoundingClientRect();
    if (slider.tagName !== "INPUT") return [left + width / 2, top + height / 2];
    const share = (slider.value - slider.min) / (slider.max - slider.min);
    return [left + 8 + share * (width - 16), top + height / 2];
}
"""

MOVE_IN_PAGE = """
(slider, [seconds, reach, speed]) => new Promise(done => {
    const start = Number(slider.value);
    const perPixel = (slider.max - slider.min) / (slider.clientWidth - 16);
    const begun = performance.now();
    let moves = 0;
    const move = (now) => {
        const elapsed = Math.max(now - begun, 0) / 1000;
        if (elapsed > seconds) return done(moves);
        const turn = (elapsed * speed) / reach;
        const place = reach * (2 / Math.PI) * Math.asin(Math.sin(turn * Math.PI / 2));
        slider.value = start + place * perPixel;
        slider.dispatchEvent(new Event("input"));
        moves += 1;
        requestAnimationFrame(move);
    };
    requestAnimationFrame(move);
})
"""

COUNT_FRAMES = """
(figure, selector) => {
    const curve = () => [...figure.querySelectorAll(selector)].map(p => p.getAttribute("d")).join();
    const begun = performance.now();
    const seen = { frames: 0, changed: 0, longest: 0 };
    let [last, lastChange, counting] = [curve(), begun, true];
    const look = (now) => {
        if (!counting) return;
        seen.frames += 1;
        const drawn = curve();
        if (drawn !== last) {
            seen.changed += 1;
            seen.longest = Math.max(seen.longest, now - lastChange);
            [last, lastChange] = [drawn, now];
        }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    window.stopCounting = () => {
        counting = false;
        const now = performance.now();
        seen.longest = Math.max(seen.longest, now - lastChange);
        return { ...seen, seconds: (now - begun) / 1000 };
    };
}
"""

WATCH_RELEASE = """
question => {
    const figure = () => [...document.querySelectorAll('figure, [role="figure"]')]
        .find(one => one.getAttribute('aria-label') === question)
        ?.querySelector('.js-plotly-plot');
    const content = () => JSON.stringify(figure()?._fullData?.map(
        trace => [Array.from(trace.x ?? []), Array.from(trace.y ?? [])]
    ));
    const before = content();
    window.redrawn = new Promise(resolve => {
        window.addEventListener('pointerup', () => {
            const begun = performance.now();
            const look = () => {
                if ([before, undefined].includes(content())) setTimeout(look, 10);
                else requestAnimationFrame(() => resolve(performance.now() - begun));
            };
            look();
        }, { once: true, capture: true });
    });
}
"""

if __name__ == "__main__":
    sys.exit(main())
