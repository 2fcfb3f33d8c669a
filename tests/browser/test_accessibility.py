"""Everybody can use the pages: by keyboard, by screen reader, with weak eyes, and on paper."""

import os
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.support import seeded_runs
from tests.support.accessibility import THEMES, choose_theme, low_contrasts, violations
from tests.support.paths import ROOT
from tests.support.studio import Visitor

PAGES = (
    "data",
    "missingness",
    "masking_lab",
    "amputation_lab",
    "train",
    "compare",
    "impute",
    "analyze",
    "export",
    "learn",
    "paper",
)
SIZES = {1280: 720, 390: 844}


@pytest.fixture(scope="module")
def workspace_with_results(browser, server) -> str:
    """Give the key of a workspace in which every page has something to show."""
    visitor = Visitor(browser, server.url)
    visitor.open()
    key = visitor.workspace_key()
    visitor.close()
    environment = os.environ | {"PMAE_HOME": str(server.home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-P", seeded_runs.__file__]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return key


@pytest.fixture
def analyst(new_visitor, workspace_with_results):
    """Return a function that opens a window of somebody who has results."""

    def enter(width: int = 1280) -> Visitor:
        visitor = new_visitor(width=width, height=SIZES[width])
        visitor.enter_workspace(workspace_with_results)
        return visitor

    return enter


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_serious_violation_and_its_text_is_readable(analyst, page, width):
    visitor = analyst(width)
    visitor.open("/" if page == "data" else f"/{page}")

    for theme in THEMES:
        choose_theme(visitor, theme)

        assert low_contrasts(visitor) == [], theme
        assert violations(visitor, theme) == [], theme


def test_an_answer_is_readable_after_the_solution_is_shown(visitor):
    visitor.open("/learn")
    guesses = visitor.page.get_by_role("radiogroup", name="Your guess")
    guesses.locator("label").first.click()
    visitor.settle()
    visitor.press_button("Show the solution")
    visitor.settle()

    for theme in THEMES:
        choose_theme(visitor, theme)
        assert low_contrasts(visitor) == [], theme
        assert violations(visitor, theme) == [], theme


def test_what_the_header_opens_is_readable_and_without_violations(analyst):
    visitor = analyst()
    visitor.open("/missingness")
    visitor.open_table("cirrhosis").click()
    visitor.page.get_by_text("Open on another device").click()
    visitor.press_button("Create a link")
    visitor.page.get_by_role("img", name="QR code of the link").wait_for()

    for theme in THEMES:
        choose_theme(visitor, theme)
        assert low_contrasts(visitor) == [], theme
        assert violations(visitor, theme) == [], theme

    visitor.page.keyboard.press("Escape")
    visitor.page.locator(".st-key-runs").get_by_role("button").click()
    visitor.page.get_by_role("link", name=seeded_runs.MARK).first.wait_for()
    for theme in THEMES:
        choose_theme(visitor, theme)
        assert low_contrasts(visitor) == [], theme
        assert violations(visitor, theme) == [], theme


def test_low_contrast_is_found(visitor):
    """The measure itself: gray words on white, on a gray box, and in a figure."""
    visitor.open("/missingness")
    visitor.page.evaluate(
        """() => {
            const words = document.createElement("p");
            words.innerHTML = '<span style="color: #999">pale</span>'
                + '<span style="color: #000; background: #555">dark</span>'
                + '<span style="color: #000; opacity: 0.4">faint</span>'
                + '<span style="color: #000">fine</span>';
            document.querySelector('[data-testid="stMainBlockContainer"]').append(words);
            document.querySelector(".xtick text").style.setProperty("fill", "#aaa", "important");
        }"""
    )

    found = {low["text"]: low["contrast"] for low in low_contrasts(visitor)}

    assert found == {"pale": 2.85, "dark": 2.82, "faint": 2.85, "0%": 2.32}


# On paper

CONTROLS = "button, input, textarea, select, [role=tab], [role=radiogroup], [role=slider], nav"
VISIBLE_CONTROLS = f"""
() => [...document.querySelectorAll('{CONTROLS}')]
    .filter(control => control.checkVisibility({{visibilityProperty: true}}))
    .map(control => control.outerHTML.slice(0, 200))
"""
# The window is as wide as the paper between its margins.
PAPER = {"width": 704, "height": 1000}
STICKING_OUT = """
() => [...document.querySelectorAll('.js-plotly-plot .main-svg, [data-testid="stMain"] p')]
    .filter(element => element.getBoundingClientRect().right > window.innerWidth + 1)
    .map(element => element.outerHTML.slice(0, 200))
"""


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", ["missingness", "compare", "analyze", "export"])
def test_a_page_prints_on_white_without_controls(analyst, page, theme):
    visitor = analyst()
    visitor.page.emulate_media(color_scheme=theme)
    visitor.open(f"/{page}")
    title = visitor.page.get_by_role("heading", level=1)

    visitor.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    visitor.page.emulate_media(media="print", color_scheme=theme)

    expect(title).to_be_visible()
    expect(visitor.page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(visitor.open_table("cirrhosis")).to_be_hidden()
    assert visitor.page.evaluate(VISIBLE_CONTROLS) == []
    ground = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"
    assert visitor.page.evaluate(ground) == "rgb(255, 255, 255)"
    assert low_contrasts(visitor) == []
    visitor.page.set_viewport_size(PAPER)
    assert visitor.page.evaluate(STICKING_OUT) == []


def test_after_printing_figures_are_as_before(analyst):
    visitor = analyst()
    visitor.open("/missingness")
    drawing = visitor.page.locator(".js-plotly-plot .svg-container").first
    before = drawing.evaluate("drawing => drawing.outerHTML")

    visitor.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert drawing.evaluate("drawing => drawing.outerHTML") != before
    visitor.page.evaluate("dispatchEvent(new Event('afterprint'))")

    after = drawing.evaluate("drawing => drawing.outerHTML")
    assert after.replace(" ", "") == before.replace(" ", "")


# By keyboard

FOCUSED = """
() => {
    let focused = document.activeElement;
    while (focused.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    const { outlineStyle, boxShadow } = getComputedStyle(focused);
    const box = focused.getBoundingClientRect();
    return {
        tag: focused.localName,
        name: focused.ariaLabel || focused.innerText || '',
        ring: outlineStyle !== 'none' || boxShadow !== 'none',
        inSight: box.right > 0 && box.width > 1,
    };
}
"""
MOST_TABS = 60


def tab_stops(visitor: Visitor) -> list[dict]:
    """Return where the Tab key leads from the top of the page, until it leaves the page."""
    stops: list[dict] = []
    while len(stops) < MOST_TABS:
        visitor.page.keyboard.press("Tab")
        stop = visitor.page.evaluate(FOCUSED)
        if stop["tag"] == "body":
            break
        stops.append(stop)
    return stops


@pytest.mark.parametrize("width", SIZES)
def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(analyst, width):
    visitor = analyst(width)
    visitor.open("/missingness")

    stops = tab_stops(visitor)

    names = [stop["name"] for stop in stops]
    assert names[0] == "Skip to main content"
    order = [
        next(at for at, name in enumerate(names) if part in name)
        for part in ("Skip", "Main menu", "cirrhosis", "Runs", "How much", "Menu of this figure")
    ]
    assert order == sorted(order)
    assert [stop["name"] for stop in stops if not stop["inSight"]] == []
    links_and_buttons = [stop for stop in stops if stop["tag"] in ("a", "button")]
    assert [stop["name"] for stop in links_and_buttons if not stop["ring"]] == []
    assert any("Paper" in name for name in names) == (width == 1280)


def test_the_header_opens_and_closes_by_keyboard(analyst):
    visitor = analyst()
    visitor.open("/missingness")
    visitor.page.keyboard.press("Tab")
    visitor.page.keyboard.press("Enter")  # skips the navigation
    visitor.page.keyboard.press("Tab")
    opener = visitor.open_table("cirrhosis")
    expect(opener).to_be_focused()

    visitor.page.keyboard.press("Enter")
    expect(visitor.page.get_by_text("Open on another device")).to_be_visible()
    visitor.page.keyboard.press("Escape")

    expect(visitor.page.get_by_text("Open on another device")).to_be_hidden()
    expect(opener).to_be_focused()
