"""The live lab: it follows the hand in the browser alone, and Python hears the release."""

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from pmae_core.masking import list_masking_functions, masking_probability

A, B = "a: effect of missingness", "b: overall masking rate"
WEIGHTS = "How much does each task weigh in the loss of a column?"
LINE = "path.line"


class Lab:
    """The lab in a visitor's window."""

    def __init__(self, visitor):
        self.visitor, self.page = visitor, visitor.page
        self.messages = 0
        self.page.on("websocket", self._watch)
        visitor.open("/masking_lab")

    def _watch(self, socket):
        socket.on("framesent", lambda _: self._count())

    def _count(self):
        self.messages += 1

    def line(self):
        return self.page.locator(LINE).get_attribute("d")

    def value(self, label):
        return float(self.visitor.slider(label).input_value())

    def handle(self, label):
        return self.page.get_by_role("slider", name=f"Curve, {label}")

    def choose_function(self, title):
        self.page.get_by_label("Masking function", exact=True).select_option(label=title)

    def preset(self, title):
        return self.page.get_by_role("button", name=title, exact=True)

    def sentence(self):
        return self.page.locator(".words").inner_text()

    def cells(self):
        return self.page.locator(".cells canvas").evaluate("canvas => canvas.toDataURL()")

    def weight(self):
        """Return M_j of the first column as Python draws it."""
        return self.visitor.figure_data(WEIGHTS)[0]["x"][0]

    def grab(self, locator):
        box = locator.bounding_box()
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.mouse.move(*middle)
        self.page.mouse.down()
        return middle

    def next_frame(self):
        self.page.evaluate("() => new Promise(requestAnimationFrame)")
        self.page.evaluate("() => new Promise(requestAnimationFrame)")


@pytest.fixture
def lab(visitor):
    return Lab(visitor)


def triglycerides(**params):
    return masking_probability(282 / 418, **params).item()


def test_a_drag_of_the_curve_is_seen_before_the_release_and_heard_after_it(lab):
    line, cells, sentence, heard = lab.line(), lab.cells(), lab.sentence(), lab.messages
    lines = set()

    x, y = lab.grab(lab.handle(B))
    for step in range(1, 11):
        lab.page.mouse.move(x, y + 6 * step)
        lab.next_frame()
        lines.add(lab.line())

    assert line not in lines
    assert len(lines) == 10
    assert lab.cells() != cells
    assert lab.sentence() != sentence
    assert lab.messages == heard, "the server heard of the drag before its end"
    b = lab.value(B)
    assert b < 0.4

    lab.page.mouse.up()
    lab.visitor.settle()
    assert lab.messages > heard
    assert lab.weight() == pytest.approx(triglycerides(b=b), abs=1e-6)
    assert lab.line() in lines  # the answer of the server moves nothing


def test_the_ends_of_the_curve_tilt_it(lab):
    x, y = lab.grab(lab.handle(A))
    lab.page.mouse.move(x, y - 40)
    lab.next_frame()
    up = lab.value(A)
    lab.page.mouse.move(x, y + 60)
    lab.next_frame()
    down = lab.value(A)
    lab.page.mouse.up()

    assert down < 0.05 < up
    assert lab.value(B) == 0.5


def test_a_slider_is_followed_while_it_is_dragged(lab):
    heard, line = lab.messages, lab.line()

    x, y = lab.grab(lab.visitor.slider(A))
    for step in range(1, 6):
        lab.page.mouse.move(x + 8 * step, y)
    lab.next_frame()

    assert lab.line() != line
    assert lab.messages == heard
    lab.page.mouse.up()
    lab.visitor.settle()
    assert lab.weight() == pytest.approx(triglycerides(a=lab.value(A)), abs=1e-6)


def test_keys_move_sliders_and_handles_and_the_server_hears_the_last(lab):
    lab.visitor.slider(A).focus()
    for _ in range(3):
        lab.page.keyboard.press("ArrowRight")
    lab.next_frame()
    assert lab.value(A) == 0.08
    lab.handle(B).focus()
    lab.page.keyboard.press("PageDown")
    lab.page.keyboard.press("ArrowUp")
    lab.next_frame()
    assert lab.value(B) == 0.41
    expect(lab.handle(B)).to_have_attribute("aria-valuenow", "0.41")
    line = lab.line()
    lab.page.wait_for_timeout(400)
    lab.visitor.settle()

    assert lab.weight() == pytest.approx(triglycerides(a=0.08, b=0.41), abs=1e-6)
    assert lab.line() == line


def test_keys_choose_columns_on_the_curve(lab):
    points = lab.page.get_by_role("listbox", name="Columns on the curve")
    points.focus()

    lab.page.keyboard.press("ArrowRight")
    lab.next_frame()

    expect(lab.page.get_by_label("Highlighted column")).to_have_value("cholesterol")
    assert "Column cholesterol is observed in" in lab.sentence()
    assert "cholesterol" in lab.page.locator(".tip").inner_text()


def test_a_click_on_a_point_goes_through_its_columns(lab):
    complete = lab.page.locator(".points [role=option]").last
    names = []
    for _ in range(2):
        complete.locator(".point").click()
        lab.visitor.settle()
        names.append(lab.page.get_by_label("Highlighted column").input_value())

    assert len(set(names)) == 2
    assert "has no missing values, so none of its cells are masked" in lab.sentence()


def test_the_masking_reaches_train_and_survives_a_reload(lab):
    lab.choose_function("Sigmoid-like")
    lab.visitor.settle()
    lab.preset("Negative a").click()
    lab.visitor.settle()

    lab.page.reload()
    lab.visitor.settle()
    assert lab.value(A) == -0.1
    lab.visitor.press_button("Use in Train")

    expect(lab.visitor.heading("Train", level=1)).to_be_visible()
    expect(lab.page.get_by_text("Logit (PMAE) with a = -0.1, b = 0.5")).to_be_visible()


def test_a_preset_moves_the_curve_to_its_values(lab):
    lab.page.emulate_media(reduced_motion="no-preference")
    lab.page.locator(LINE).evaluate(WATCH_LINE)

    lab.preset("a too large").click()
    expect(lab.visitor.slider(A)).to_have_value("1")
    lab.visitor.settle()

    assert len(set(lab.page.evaluate("window.lines"))) > 3, "it jumped"
    assert lab.weight() == pytest.approx(triglycerides(a=1.0), abs=1e-6)
    expect(lab.preset("a too large")).to_have_attribute("aria-pressed", "true")

    lab.preset("Constant").click()  # another function: its curve is blended in
    expect(lab.preset("Constant")).to_have_attribute("aria-pressed", "true")
    assert lab.value("Rate") == 0.5


WATCH_LINE = """
line => {
    window.lines = [];
    const keep = () => window.lines.push(line.getAttribute("d"));
    new MutationObserver(keep).observe(line, { attributes: true });
}
"""


def test_a_preset_jumps_where_motion_is_not_wanted(lab):
    lab.preset("a too large").click()
    lab.next_frame()

    assert lab.value(A) == 1.0


def test_batches_are_played_and_the_pause_brings_the_fixed_cells_back(lab):
    cells, heard = lab.cells(), lab.messages

    lab.visitor.press_button("Play batches")
    words = lab.page.locator(".of-table")
    expect(words).to_contain_text("Batch ")
    number, one = words.inner_text(), lab.cells()
    expect(words).not_to_have_text(number)
    lab.page.wait_for_timeout(400)  # the words may have changed while the cells were read
    other = lab.cells()
    lab.visitor.press_button("Pause")
    lab.next_frame()

    assert len({cells, one, other}) == 3
    assert lab.cells() == cells
    assert lab.messages == heard


@pytest.mark.parametrize("function", [f.title for f in list_masking_functions()])
def test_labels_do_not_overlap_in_the_crowded_corner_of_penguins(penguins, function):
    penguins.choose_function(function)
    penguins.visitor.settle()

    boxes = penguins.page.locator(".labels").evaluate(LABEL_BOXES)

    assert len(boxes) >= 2
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart = (
                one["right"] <= other["left"]
                or other["right"] <= one["left"]
                or one["bottom"] <= other["top"] + 3  # the lines of letters have some air
                or other["bottom"] <= one["top"] + 3
            )
            assert apart, (one, other)


@pytest.fixture(scope="module")
def penguins(browser, server):
    from tests.support.studio import Visitor

    visitor = Visitor(browser, server.url)
    visitor.open()
    visitor.choose("Or a sample", "penguins")
    visitor.open_table("penguins").wait_for()
    yield Lab(visitor)
    visitor.close()


LABEL_BOXES = """
labels => [...labels.querySelectorAll("text")]
    .filter(text => text.parentNode.style.display !== "none")
    .map(text => ({ text: text.textContent, ...text.getBoundingClientRect().toJSON() }))
"""


def test_everything_that_moves_is_in_sight_at_1280_by_720(new_visitor):
    lab = Lab(new_visitor(height=720))

    moved = [lab.page.locator(LINE), lab.page.locator(".cells canvas"), lab.page.locator(".words")]
    movers = [lab.visitor.slider(A), lab.visitor.slider(B), lab.preset("Negative a")]
    for element in [*moved, *movers, lab.page.get_by_role("button", name="Play batches")]:
        box = element.bounding_box()
        assert box["y"] >= 60
        assert box["y"] + box["height"] <= 720


def test_on_a_telephone_the_figures_stay_in_sight_above_the_controls(new_visitor):
    lab = Lab(new_visitor(width=390, height=844))
    main = lab.page.get_by_test_id("stMain")

    main.evaluate("main => main.scrollTo(0, 250)")

    figures = lab.page.locator(".figures").bounding_box()
    for mover in (lab.visitor.slider(A), lab.visitor.slider(B), lab.preset("Negative a")):
        box = mover.bounding_box()
        assert figures["y"] + figures["height"] <= box["y"]
        assert box["y"] + box["height"] <= 844
    assert figures["y"] >= 50
    # A finger moves a handle, too, and does not scroll the page.
    line, scrolled = lab.line(), main.evaluate("main => main.scrollTop")
    lab.handle(B).dispatch_event("pointerdown", pointer(lab.handle(B), 0))
    lab.page.locator(".curve svg").dispatch_event("pointermove", pointer(lab.handle(B), 30))
    lab.next_frame()
    assert lab.line() != line
    assert main.evaluate("main => main.scrollTop") == scrolled


def pointer(locator, down):
    box = locator.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + down
    return {"clientX": x, "clientY": y, "pointerId": 1, "pointerType": "touch", "button": 0}


def test_markup_in_names_is_text_in_sentence_labels_and_names_of_a_point(visitor, tmp_path):
    name = "<img src=x onerror=alert(1)> **b**"
    frame = pd.DataFrame({name: np.arange(60) / 7, "<b>other</b>": np.arange(60) / 3})
    frame.loc[::3, name] = None
    frame.to_csv(tmp_path / "markup.csv", index=False)
    visitor.open()
    visitor.upload(tmp_path / "markup.csv")
    visitor.open_table("markup.csv").wait_for()
    lab = Lab(visitor)

    lab.page.locator(".points [role=option]").first.locator(".point").hover()

    assert f"Column {name} is observed in" in lab.sentence()
    expect(lab.page.locator(".tip")).to_contain_text(name)
    assert lab.page.locator(".lab img, .lab b").count() == 0


def test_uniform_masking_is_explained(lab):
    lab.page.get_by_role("button", name="Help: uniform masking").click()

    help = lab.page.locator("#help")
    expect(help).to_be_visible()
    expect(help).to_contain_text("in every column, including columns without missing values")
