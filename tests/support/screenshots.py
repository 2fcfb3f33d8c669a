"""Pictures of every page, light and dark, on a desk and on a telephone, for docs/screenshots.

python -m tests.support.screenshots [FOLDER]
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.support.chromium import launch_chromium
from tests.support.paths import ROOT
from tests.support.studio import StudioServer, Visitor

FOLDER = ROOT / "docs" / "screenshots"
SAMPLE = "cirrhosis"
WIDTHS = {1280: 800, 390: 844}
COLOR_SCHEMES = ("light", "dark")
# Long pages are cut here; beyond it a picture shows nothing new.
LONGEST = 7000

MISSINGNESS_VIEWS = {
    "how-much": "How much",
    "where": "Where",
    "together": "Together",
    "patterns": "Patterns",
    "clues": "Clues",
    "complete-cases": "Complete cases",
    "pictures": "Pictures",
}
IMPUTE_VIEWS = {
    "table": "Columns to trust",
    "distribution": "Distribution",
    "what-if": "What-if shift",
}
LONGEST_JOB_SECONDS = 600


def main(folder: Path = FOLDER) -> None:
    """Take all pictures; those of pages that are no more are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = set()
    with (
        tempfile.TemporaryDirectory() as home,
        StudioServer(Path(home)) as server,
        sync_playwright() as playwright,
    ):
        browser = launch_chromium(playwright)
        workspace = prepared_workspace(browser, server.url)
        for width, height in WIDTHS.items():
            for scheme in COLOR_SCHEMES:
                visitor = Visitor(
                    browser, server.url, width=width, height=height, color_scheme=scheme
                )
                visitor.enter_workspace(workspace)
                visitor.open()
                for name, show in views():
                    show(visitor)
                    path = folder / f"{name}-{scheme}-{width}.png"
                    path.write_bytes(smaller(whole_page(visitor)))
                    taken.add(path)
                    print(path, f"{path.stat().st_size / 1024:.0f} kB", flush=True)
                    if failures := visitor.failures():
                        raise SystemExit(f"{path.name}: {failures}")
                visitor.close()
        browser.close()
    for old in set(folder.glob("*.png")) - taken:
        old.unlink()


def views() -> Iterator[tuple[str, Callable[[Visitor], None]]]:
    """Yield the name of each view and how to come to it from the one before."""
    yield "data", page_view("Data")
    for name, choice in MISSINGNESS_VIEWS.items():
        yield f"missingness-{name}", choice_view("Missingness", "What do you want to know?", choice)
    for page in ("Masking lab", "Amputation lab", "Train", "Compare"):
        yield page.lower().replace(" ", "-"), page_view(page)
    for name, choice in IMPUTE_VIEWS.items():
        yield f"impute-{name}", choice_view("Impute", "Details", choice)
    for page in ("Analyze", "Export", "Learn", "Paper"):
        yield page.lower(), page_view(page)


def prepared_workspace(browser: Browser, url: str) -> str:
    """Do once what an analyst does, and return the key of the workspace with all results."""
    visitor = Visitor(browser, url)
    open_sample(visitor)
    train(visitor)
    compare(visitor)
    visitor.go_to("Impute")
    for method in ("Expectation maximization", "PMAE blend"):
        impute(visitor, method)
    key = visitor.workspace_key()
    visitor.close()
    return key


def open_sample(visitor: Visitor) -> None:
    """Open the sample with real missing values."""
    visitor.open()
    visitor.choose("Or a sample", SAMPLE)
    visitor.open_table(SAMPLE).wait_for()
    visitor.settle()


def train(visitor: Visitor) -> None:
    """Train a small network."""
    visitor.go_to("Train")
    visitor.pick("Preset", "Quick")
    finish(visitor, "Start training")


def compare(visitor: Visitor) -> None:
    """Compare the methods that the page suggests, and see whether they change a mean."""
    visitor.go_to("Compare")
    visitor.press_button("Start comparison")
    cancel = visitor.page.get_by_role("button", name="Cancel")
    cancel.first.wait_for()
    cancel.first.wait_for(state="hidden", timeout=1000 * LONGEST_JOB_SECONDS)
    visitor.settle()


def impute(visitor: Visitor, method: str) -> None:
    """Impute the open table by a method, on the page Impute."""
    again = visitor.page.get_by_role("button", name="Impute again")
    if again.is_visible():
        again.click()
        visitor.settle()
    visitor.choose("Method", method)
    finish(visitor, "Start imputation", done=f"cells imputed by {method}")


def finish(visitor: Visitor, button: str, *, done: str = "^Done in") -> None:
    """Start a job and wait for its end, which the page announces by the text `done`."""
    visitor.press_button(button)
    visitor.page.get_by_role("button", name="Cancel").first.wait_for()
    announced = visitor.page.get_by_text(re.compile(done)).first
    announced.wait_for(timeout=1000 * LONGEST_JOB_SECONDS)
    visitor.settle()


def page_view(title: str) -> Callable[[Visitor], None]:
    """Return the way to a page by the navigation."""
    return lambda visitor: visitor.go_to(title)


def choice_view(title: str, question: str, choice: str) -> Callable[[Visitor], None]:
    """Return the way to one of the views of a page."""

    def show(visitor: Visitor) -> None:
        if not visitor.heading(title, level=1).is_visible():
            visitor.go_to(title)
        visitor.pick(question, choice)

    return show


def whole_page(visitor: Visitor) -> bytes:
    """Return a picture of the whole page: the window is made as high as what it shows."""
    page = visitor.page
    height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": visitor.width, "height": min(max(height, 600), LONGEST)})
    page.mouse.move(0, 0)
    visitor.settle()
    picture = page.screenshot()
    page.set_viewport_size({"width": visitor.width, "height": visitor.height})
    return picture


def smaller(picture: bytes) -> bytes:
    """Return a picture with fewer colors: pages of text and flat figures need no more."""
    # Coverage, not frequency: the rare colors are those that mean something.
    method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    few = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, method, dither=dither)
    content = io.BytesIO()
    few.save(content, "PNG", optimize=True)
    return content.getvalue()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
