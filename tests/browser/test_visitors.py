"""Visitors among themselves, with bad files, and with names that look like markup."""

import re

import pandas as pd
import pytest
from playwright.sync_api import expect

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


def token(visitor) -> str:
    return re.search(r"[?&]w=([\w-]+)", visitor.page.url)[1]


def test_two_visitors_do_not_see_each_other(new_visitor, survey):
    one, other = new_visitor(), new_visitor()
    one.open("/amputation_lab")
    one.page.get_by_role("textbox", name="Name of the scenario").fill("only mine")
    one.press_button("Keep")
    expect(one.page.get_by_text("Kept as only mine.")).to_be_visible()
    one.go_to("Data")
    one.upload(survey)
    expect(one.page.get_by_text("survey.csv is open.")).to_be_visible()

    other.open("/amputation_lab")

    assert token(one) != token(other)
    expect(other.page.get_by_text("No scenario is kept yet.")).to_be_visible()
    expect(other.page.get_by_role("link", name="penguins")).to_be_visible()
    assert "survey.csv" not in other.page.content()


def test_a_second_tab_of_the_same_visitor_has_the_same_table(visitor, new_visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.page.get_by_text("survey.csv is open.")).to_be_visible()
    visitor.settle()

    tab = new_visitor()
    tab.open(visitor.page.url)

    expect(tab.page.get_by_role("link", name="survey.csv")).to_be_visible()
    assert token(tab) == token(visitor)


def test_a_shared_view_brings_the_settings_and_not_the_table(visitor, new_visitor, survey):
    visitor.open()
    visitor.upload(survey)
    expect(visitor.page.get_by_text("survey.csv is open.")).to_be_visible()
    visitor.go_to("Masking lab")
    visitor.press_button("Upside down")
    visitor.settle()
    visitor.press_button("Share this view")
    link = visitor.page.get_by_text(re.compile(r"^http://\S+s=\S+$")).inner_text()

    friend = new_visitor()
    friend.open(link)

    expect(friend.page.get_by_text("This view has the settings of the link")).to_be_visible()
    expect(friend.slider("a: how strongly holes count")).to_have_value("-0.1")
    expect(friend.page.get_by_role("link", name="penguins")).to_be_visible()
    assert token(friend) != token(visitor)


def test_an_unknown_workspace_gives_a_new_one_and_says_so(visitor):
    visitor.open(f"/?w={'x' * 32}")
    expect(visitor.page.get_by_text("does not exist (any more)")).to_be_visible()
    assert token(visitor) != "x" * 32


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
    said = visitor.page.get_by_role("alert").filter(has_text="penguins stays open.")
    expect(said).to_be_visible()
    expect(visitor.page.get_by_role("link", name="penguins")).to_be_visible()
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
    expect(visitor.page.get_by_role("link", name=path.name)).to_be_visible()
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
    expect(visitor.page.get_by_text(image).first).to_be_visible()


def injected_elements(visitor) -> int:
    """Count what only our markup would make: an image, underlined or bold text, a formula."""
    markup = 'img[src="x"], main u, main b, main i i, main .katex, main a[href="b"]'
    return visitor.page.locator(markup).count()


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_of_the_window(new_visitor, width):
    visitor = new_visitor(width=width)
    for path in PATHS:
        visitor.open(path)
        main = visitor.page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 1, path


def test_on_a_telephone_no_camera_covers_a_legend(new_visitor):
    visitor = new_visitor(width=390)
    for path in PATHS:
        visitor.open(path)
        assert visitor.page.get_by_role("main").evaluate(COVERED_LEGENDS) == [], path


COVERED_LEGENDS = """
main => [...main.querySelectorAll('.js-plotly-plot')]
    .filter(figure => {
        const legend = figure.querySelector('.legend')?.getBoundingClientRect();
        const camera = figure.querySelector('.modebar-btn')?.getBoundingClientRect();
        return legend && camera && legend.right > camera.left && legend.top < camera.bottom;
    })
    .map(figure => figure.innerText)
"""


def test_every_control_has_a_name(visitor):
    for path in PATHS:
        visitor.open(path)
        unnamed = visitor.page.get_by_role("main").evaluate(UNNAMED_CONTROLS)
        assert unnamed == [], path


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
