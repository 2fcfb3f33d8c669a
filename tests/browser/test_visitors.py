"""Visitors among themselves, with bad files, and with names that look like markup."""

import re
from urllib.parse import urlsplit

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.support.studio import Visitor

PAGES = (
    "Data",
    "Missingness",
    "Masking lab",
    "Amputation lab",
    "Train",
    "Compare",
    "Impute",
    "Export",
    "Learn",
    "Paper",
)
PATHS = ("/", *(f"/{page.lower().replace(' ', '_')}" for page in PAGES[1:]))
VIEWS = ("How much", "Where", "Together", "Patterns", "Clues", "Complete cases", "Pictures")


def test_two_visitors_do_not_see_each_other(new_visitor, survey):
    one, other = new_visitor(), new_visitor()
    one.open("/amputation_lab")
    one.page.get_by_role("tab", name="Scenarios").click()
    one.page.get_by_role("textbox", name="Name of the scenario").fill("only mine")
    one.press_button("Save")
    expect(one.page.get_by_text("Saved as only mine.")).to_be_visible()
    one.go_to("Data")
    one.upload(survey)
    expect(one.page.get_by_text("survey.csv is open.")).to_be_visible()

    other.open("/amputation_lab")

    assert one.workspace_key() != other.workspace_key()
    other.page.get_by_role("tab", name="Scenarios").click()
    expect(other.page.get_by_text("No scenarios saved yet.")).to_be_visible()
    expect(other.open_table("cirrhosis")).to_be_visible()
    assert "survey.csv" not in other.page.content()


def test_a_profile_that_is_used_again_knows_nothing_of_its_last_visitor(profiles, server):
    """Otherwise tests in one file would not be independent of each other."""
    plain = f"{server.url}/_stcore/health"
    visitor = Visitor(profiles, server.url)
    context = visitor.page.context
    visitor.page.goto(plain)
    visitor.page.evaluate("localStorage.mine = document.cookie = 'mine=1'")
    visitor.close()

    somebody_new = Visitor(profiles, server.url)
    somebody_new.page.goto(plain)

    assert somebody_new.page.context is context
    assert somebody_new.page.evaluate("localStorage.length") == 0
    assert "mine" not in somebody_new.page.evaluate("document.cookie")
    somebody_new.close()


def test_the_bare_address_finds_the_workspace_again(visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.open_table("survey.csv")).to_be_visible()
    visitor.settle()

    visitor.open("/compare")

    expect(visitor.open_table("survey.csv")).to_be_visible()


def test_a_copied_address_shows_nothing_of_its_owner(visitor, new_visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.open_table("survey.csv")).to_be_visible()
    visitor.settle()

    stranger = new_visitor()
    stranger.open(visitor.page.url)

    expect(stranger.open_table("cirrhosis")).to_be_visible()
    assert "survey.csv" not in stranger.page.content()
    assert stranger.workspace_key() != visitor.workspace_key()


def test_the_link_for_another_device_opens_the_workspace_there_once(visitor, new_visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.open_table("survey.csv")).to_be_visible()
    visitor.settle()
    visitor.open_table("survey.csv").click()
    visitor.page.get_by_text("Open on another device").click()
    visitor.press_button("Create a link")
    link = visitor.page.get_by_text(re.compile(r"^http://\S+enter=\S+$")).inner_text()
    expect(visitor.page.get_by_role("img", name="QR code of the link")).to_be_visible()
    assert visitor.workspace_key() not in visitor.page.content()

    device = new_visitor(width=390)
    device.open(link)

    expect(device.open_table("survey.csv")).to_be_visible()
    assert device.workspace_key() == visitor.workspace_key()
    assert urlsplit(device.page.url).query == ""
    device.open("/missingness")  # the browser found the way in for good
    expect(device.open_table("survey.csv")).to_be_visible()

    late = new_visitor()
    late.open(link)

    expect(late.page.get_by_text("This link no longer works")).to_be_visible()
    expect(late.open_table("cirrhosis")).to_be_visible()
    assert "survey.csv" not in late.page.content()
    assert late.workspace_key() != visitor.workspace_key()
    assert urlsplit(late.page.url).query == ""


def test_an_old_link_with_the_key_lets_in_one_browser(visitor, new_visitor):
    visitor.open()
    key = visitor.workspace_key()

    first, second = new_visitor(), new_visitor()
    first.open(f"/compare?w={key}")
    second.open(f"/compare?w={key}")
    visitor.open(f"/compare?w={key}")

    assert first.workspace_key() == visitor.workspace_key() == key
    assert second.workspace_key() != key
    for browser in (first, second, visitor):
        assert urlsplit(browser.page.url).query == ""


def test_a_table_opened_before_is_one_click_away(visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.open_table("survey.csv")).to_be_visible()
    visitor.settle()

    visitor.open_table("survey.csv").click()
    visitor.page.get_by_role("button", name="cirrhosis").click()

    expect(visitor.open_table("cirrhosis")).to_be_visible()


def test_a_shared_view_brings_the_settings_and_not_the_table(visitor, new_visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.page.get_by_text("survey.csv is open.")).to_be_visible()
    visitor.go_to("Masking lab")
    visitor.press_button("Negative a")
    visitor.settle()
    visitor.press_button("Share this view")
    link = visitor.page.get_by_text(re.compile(r"^http://\S+s=\S+$")).inner_text()

    friend = new_visitor()
    friend.open(link)

    expect(friend.page.get_by_text("This page has the settings of the link")).to_be_visible()
    expect(friend.slider("a: effect of missingness")).to_have_value("-0.1")
    expect(friend.open_table("cirrhosis")).to_be_visible()
    assert friend.workspace_key() != visitor.workspace_key()


def test_an_unknown_workspace_gives_a_new_one_and_says_so(visitor):
    visitor.open(f"/?w={'x' * 32}")
    expect(visitor.page.get_by_text("no longer exists")).to_be_visible()
    assert visitor.workspace_key() != "x" * 32


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("fake.parquet", b"PAR1 but not really"),
        ("fake.xlsx", b"name,age\nAnn,41\n"),
        ("binary.csv", bytes(range(256)) * 40),
    ],
)
def test_a_bad_file_is_told_in_a_sentence_and_nothing_is_lost(visitor, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    visitor.open()
    visitor.upload(tmp_path / name)
    said = visitor.page.get_by_role("alert").filter(has_text="cirrhosis stays open.")
    expect(said).to_be_visible()
    expect(visitor.open_table("cirrhosis")).to_be_visible()
    assert visitor.failures() == []


def test_markup_in_names_and_cells_is_text_on_every_page(visitor, tmp_path):
    image, words = "<img src=x onerror=alert(1)>", "**bold** :red[x] $a^2$ <b>b</b>"
    frame = pd.DataFrame({image: range(60), words: ["<u>no</u>", "[a](b)", "`c`"] * 20})
    frame["<script>alert(2)</script>"] = [n % 7 for n in range(60)]
    frame = frame.astype(object)
    frame.loc[::3, image] = None
    frame.loc[::4, words] = None
    path = tmp_path / "<i>markup<i>.csv"
    frame.to_csv(path, index=False)

    visitor.open()
    visitor.upload(path)
    expect(visitor.open_table(path.name)).to_be_visible()
    for page in PAGES:
        visitor.go_to(page)
        assert injected_elements(visitor) == 0, page
        assert visitor.failures() == [], page
    visitor.go_to("Missingness")
    for view in VIEWS:
        visitor.pick("What do you want to know?", view)
        assert injected_elements(visitor) == 0, view
        assert visitor.failures() == [], view
    visitor.go_to("Masking lab")
    expect(visitor.page.locator(".of-column")).to_contain_text(f"Column {image} is observed in")


def injected_elements(visitor) -> int:
    """Count what only our markup would make: an image, underlined or bold text, a formula."""
    markup = 'img[src="x"], main u, main b, main i i, main .katex, main a[href="b"]'
    return visitor.page.locator(markup).count()


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_its_window_and_its_controls_have_names(new_visitor, width):
    """One way through all pages for all that is asked of each."""
    visitor = new_visitor(width=width)
    for path in PATHS:
        visitor.open(path)
        whole, main = visitor.page.get_by_test_id("stMain"), visitor.page.get_by_role("main")
        assert whole.evaluate("main => main.scrollWidth - main.clientWidth") <= 1, path
        assert main.evaluate(FIGURES_WITHOUT_A_CLEAR_MENU) == [], path
        assert main.evaluate(UNNAMED_CONTROLS) == [], path


FIGURES_WITHOUT_A_CLEAR_MENU = """
main => [...main.querySelectorAll('[class*="st-key-figure-"]')]
    .filter(figure => figure.offsetParent !== null)  // not in a tab that is closed
    .filter(figure => {
        const menu = figure.querySelector('[data-testid="stBidiComponentIsolated"]')
            ?.shadowRoot.querySelector('.opener')?.getBoundingClientRect();
        const legend = figure.querySelector('.legend')?.getBoundingClientRect();
        const covers = menu && legend && legend.right > menu.left && legend.top < menu.bottom;
        return !menu || menu.width === 0 || menu.right > window.innerWidth || covers;
    })
    .map(figure => figure.innerText)
"""

UNNAMED_CONTROLS = """
main => [...main.querySelectorAll('button, input, textarea, [role=slider], [role=combobox]')]
    .filter(control => control.checkVisibility({visibilityProperty: true}))
    .filter(control => control.offsetParent !== null && control.type !== 'file')
    .filter(control => !(
        control.innerText.trim() || control.getAttribute('aria-label') || control.title
        || control.getAttribute('aria-labeledby') || control.labels?.length
    ))
    .map(control => control.outerHTML.slice(0, 200))
"""
