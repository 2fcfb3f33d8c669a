"""The menu of a figure: what it saves and copies is real, in both themes."""

import io
import re
from xml.etree import ElementTree

import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support import figures_page
from tests.support.studio import StudioServer

OPENER = "Menu of this figure: download or copy"
TITLE = f"How much of {figures_page.HOSTILE_NAME} is missing, and how much was observed?"
SCALE = 3
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory):
    home = tmp_path_factory.mktemp("figures")
    with StudioServer(home, script="tests/support/figures_page.py") as running:
        yield running


@pytest.fixture
def visitor(new_visitor):
    return opened(new_visitor())


def opened(visitor):
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open()
    return visitor


def figure(visitor, key: str):
    return visitor.page.locator(f".st-key-figure-{key}")


def choose(visitor, key: str, item: str) -> None:
    figure(visitor, key).get_by_role("button", name=OPENER).click()
    figure(visitor, key).get_by_role("menuitem", name=item).click()


def download(visitor, key: str, item: str) -> tuple[str, bytes]:
    with visitor.page.expect_download() as started:
        choose(visitor, key, item)
    return started.value.suggested_filename, started.value.path().read_bytes()


def copied_code(visitor, key: str) -> str:
    choose(visitor, key, "Copy code for a notebook")
    expect(figure(visitor, key).get_by_role("status")).to_contain_text("Copied.")
    return visitor.page.evaluate("navigator.clipboard.readText()")


def made_by(code: str):
    """Return the figure that code makes in the last line of a notebook's cell."""
    names = {}
    exec(code, names)
    assert code.splitlines()[-1] == "fig"
    return names["fig"]


def chart_size(visitor, key: str) -> tuple[int, int]:
    box = figure(visitor, key).locator(".js-plotly-plot").bounding_box()
    return round(box["width"]), round(box["height"])


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_a_png_is_sharp_and_for_white_paper(new_visitor, color_scheme):
    visitor = opened(new_visitor(color_scheme=color_scheme))
    width, height = chart_size(visitor, "bars")

    name, content = download(visitor, "bars", "Download PNG")

    picture = Image.open(io.BytesIO(content)).convert("RGBA")
    assert (name, picture.width) == ("bars.png", SCALE * width)
    title_height = picture.height / SCALE - height
    assert 30 <= title_height <= 60
    assert picture.getpixel((2, 2)) == (255, 255, 255, 255)
    title = picture.crop((0, 0, picture.width, int(SCALE * title_height))).convert("L")
    assert title.getextrema()[0] < 80, "the title is not dark"


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_an_svg_has_the_question_as_text_on_white(new_visitor, color_scheme):
    visitor = opened(new_visitor(color_scheme=color_scheme))

    name, content = download(visitor, "bars", "Download SVG")

    tree = ElementTree.fromstring(content)
    texts = {"".join(text.itertext()): text.get("style") for text in tree.iter(f"{SVG}text")}
    assert name == "bars.svg"
    assert int(tree.get("width")) == chart_size(visitor, "bars")[0]
    assert {TITLE, "share of rows", "observed", "age"} <= texts.keys()
    assert all("fill: rgb(31, 36, 48)" in style for style in texts.values())
    assert "fill: rgb(255, 255, 255)" in tree.find(f"{SVG}rect").get("style")


def test_a_figure_drawn_by_webgl_becomes_a_picture(visitor):
    _, content = download(visitor, "points", "Download PNG")

    picture = Image.open(io.BytesIO(content)).convert("RGB")
    colors = {color for _, color in picture.getcolors(maxcolors=1 << 24)}
    assert (0, 114, 178) in colors, "no point is in the picture"


def test_the_data_is_saved_as_csv(visitor):
    for key in ("bars", "chosen"):
        name, content = download(visitor, key, "Download data (CSV)")

        assert name == f"{key}.csv"
        pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(content)), figures_page.data())


def test_a_figure_without_data_offers_no_csv(visitor):
    figure(visitor, "points").get_by_role("button", name=OPENER).click()

    names = figure(visitor, "points").get_by_role("menuitem").all_inner_texts()
    assert names == ["Download PNG", "Download SVG", "Copy code for a notebook"]


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_copied_code_makes_the_same_figure(new_visitor, color_scheme):
    visitor = opened(new_visitor(color_scheme=color_scheme))

    code = copied_code(visitor, "bars")

    # An installed package has no module named dashboard: Plotly alone is needed.
    assert re.findall(r"^(?:import|from) (\S+)", code, re.MULTILINE) == ["plotly.io"]
    assert made_by(code).to_plotly_json() == as_sent(figures_page.bars())
    assert code.splitlines()[0] == f"# {TITLE}"


def test_what_is_chosen_in_a_figure_is_not_in_its_code(visitor):
    visitor.page.locator(".st-key-figure-chosen .bars path").last.click(force=True)
    visitor.settle()
    chart = figure(visitor, "chosen").locator(".js-plotly-plot")
    assert chart.evaluate("chart => chart.data.some(trace => trace.selectedpoints)")

    assert made_by(copied_code(visitor, "chosen")).to_plotly_json() == as_sent(figures_page.bars())


def test_a_large_figure_goes_into_a_file_that_the_code_reads(visitor, tmp_path, monkeypatch):
    name, content = download(visitor, "points", "Copy code for a notebook")
    expect(figure(visitor, "points").get_by_role("status")).to_contain_text(f"Put {name}")
    code = visitor.page.evaluate("navigator.clipboard.readText()")

    (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert made_by(code).to_plotly_json() == as_sent(figures_page.points())


def as_sent(figure) -> dict:
    """Return a figure as it is after its way through JSON, as Plotly itself reads it."""
    import plotly.io as pio

    return pio.from_json(figure.to_json()).to_plotly_json()


def test_code_is_copied_where_browsers_keep_the_clipboard_closed(new_visitor):
    visitor = new_visitor()
    visitor.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
        "document.addEventListener('copy', event => { window.copied = event.target.value; });"
    )
    visitor.open()

    choose(visitor, "bars", "Copy code for a notebook")

    expect(figure(visitor, "bars").get_by_role("status")).to_have_text("Copied.")
    code = visitor.page.evaluate("window.copied")
    assert made_by(code).to_plotly_json() == as_sent(figures_page.bars())


def test_the_menu_works_by_keyboard(visitor):
    opener = figure(visitor, "bars").get_by_role("button", name=OPENER)
    items = figure(visitor, "bars").get_by_role("menuitem")
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.focus()

    visitor.page.keyboard.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(items.first).to_be_focused()
    visitor.page.keyboard.press("ArrowDown")
    expect(items.nth(1)).to_be_focused()
    visitor.page.keyboard.press("End")
    expect(items.last).to_be_focused()
    visitor.page.keyboard.press("ArrowDown")
    expect(items.first).to_be_focused()
    visitor.page.keyboard.press("Escape")
    expect(items.first).to_be_hidden()
    expect(opener).to_be_focused()

    visitor.page.keyboard.press("Enter")
    expect(items.first).to_be_focused()
    with visitor.page.expect_download() as started:
        visitor.page.keyboard.press("Enter")
    assert started.value.suggested_filename == "bars.png"
    expect(opener).to_be_focused()


def test_the_menu_says_when_something_fails(visitor):
    visitor.page.evaluate("delete window.Plotly")

    choose(visitor, "bars", "Download PNG")

    status = figure(visitor, "bars").get_by_role("status")
    expect(status).to_have_text("This did not work: the figure is not drawn yet.")


def test_the_menu_fits_a_telephone_and_stands_in_the_corner(new_visitor):
    visitor = opened(new_visitor(width=390))
    opener = figure(visitor, "bars").get_by_role("button", name=OPENER)
    heading = visitor.heading("How much of").bounding_box()
    corner = opener.bounding_box()
    assert abs(corner["y"] - heading["y"]) < 24
    assert corner["x"] >= heading["x"] + heading["width"]

    opener.click()

    menu = figure(visitor, "bars").get_by_role("menu").bounding_box()
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= 390


def test_nothing_else_of_a_figure_is_a_control(visitor):
    for key in ("bars", "points", "chosen"):
        buttons = figure(visitor, key).get_by_role("button")
        assert [button.get_attribute("aria-label") for button in buttons.all()] == [OPENER]
        assert figure(visitor, key).locator(".modebar-btn").count() == 0


def test_the_menu_is_not_printed(visitor):
    opener = figure(visitor, "bars").get_by_role("button", name=OPENER)
    expect(opener).to_be_visible()
    visitor.page.emulate_media(media="print")
    expect(figure(visitor, "bars").locator(".opener")).to_be_hidden()
