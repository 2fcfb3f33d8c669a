"""The stage of lessons: it moves as it says, ends where Python says, and all can use it."""

import itertools
import re
import tomllib

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.support import stage_page
from tests.support.paths import ROOT
from tests.support.studio import StudioServer

SMALLEST_TEXT = 11  # pixels
CONTRAST = 4.5


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory):
    """Serve the page of the stage in the colors of the dashboard."""
    theme = tomllib.loads((ROOT / "dashboard/.streamlit/config.toml").read_text())["theme"]
    with pytest.MonkeyPatch.context() as environment:
        for mode in ("light", "dark"):
            for name, value in theme[mode].items():
                snake = re.sub("([A-Z])", r"_\1", name).upper()
                environment.setenv(f"STREAMLIT_THEME_{mode.upper()}_{snake}", value)
        home = tmp_path_factory.mktemp("stage")
        with StudioServer(home, script="tests/support/stage_page.py") as running:
            yield running


@pytest.fixture
def visitor(new_visitor):
    return opened(new_visitor())


@pytest.fixture
def watcher(new_visitor):
    """Somebody who sees movement."""
    visitor = new_visitor()
    visitor.page.emulate_media(reduced_motion="no-preference")
    return opened(visitor)


def opened(visitor):
    visitor.open()
    expect(stage(visitor).locator("svg .panel").first).to_be_visible()
    return visitor


def stage(visitor):
    return visitor.page.locator(".st-key-stage")


def show(visitor, name: str) -> None:
    visitor.pick("Scene", name)


def reveal(visitor) -> None:
    visitor.page.get_by_text("Reveal", exact=True).click()


def rerun(visitor) -> None:
    before = visitor.page.get_by_text("Python has").inner_text()
    visitor.press_button("Rerun")
    expect(visitor.page.get_by_text("Python has")).not_to_have_text(before)


def caption(visitor):
    return stage(visitor).locator(".caption[aria-live=polite]")


def step(visitor, name: str):
    return stage(visitor).get_by_role("radio", name=name, exact=True)


def slider(visitor):
    return stage(visitor).get_by_role("slider", name="Shift in standard deviations")


def attributes(visitor, selector: str, *names: str) -> list[list[str]]:
    return (
        stage(visitor)
        .locator(selector)
        .evaluate_all(
            "(all, names) => all.map(one => names.map(name => one.getAttribute(name)))", list(names)
        )
    )


def numbers(visitor, selector: str, *names: str) -> np.ndarray:
    return np.array(attributes(visitor, selector, *names), dtype=float)


class Recording:
    """Everything that attributes were from one frame to the next, until it is asked for."""

    def __init__(self, visitor, selector: str, *names: str) -> None:
        self.page = visitor.page
        stage(visitor).locator(".stage").evaluate(_RECORD, [selector, list(names)])

    def seen(self) -> list[list[str]]:
        return list(
            self.page.evaluate("() => { window.recorded.done = true; return window.recorded; }")
        )


_RECORD = """
(stage, [selector, names]) => {
    const recorded = window.recorded = [];
    const look = () => {
        const values = [...stage.querySelectorAll(selector)]
            .flatMap(element => names.map(name => element.getAttribute(name)));
        if (String(values) !== String(recorded.at(-1))) recorded.push(values);
        if (!recorded.done) requestAnimationFrame(look);
    };
    look();
}
"""


def plots(visitor) -> list[dict[str, float]]:
    """Return where the plots of all panels lie in the picture."""
    names = ("x", "y", "width", "height")
    return [dict(zip(names, row, strict=True)) for row in numbers(visitor, ".frame", *names)]


def across(values, axis, plot) -> np.ndarray:
    """Return where values are drawn from left to right."""
    shares = (np.asarray(values, dtype=float) - axis.low) / (axis.high - axis.low)
    return plot["x"] + shares * plot["width"]


def upward(values, axis, plot) -> np.ndarray:
    """Return where values are drawn from bottom to top."""
    shares = (np.asarray(values, dtype=float) - axis.low) / (axis.high - axis.low)
    return plot["y"] + (1 - shares) * plot["height"]


def finish(visitor, scene) -> None:
    """Wait until a reveal has come to the last state and stands still."""
    expect(step(visitor, scene.states[-1])).to_have_attribute("aria-checked", "true")
    before = None
    while (now := stage(visitor).locator("svg").inner_html()) != before:
        before = now
        visitor.page.wait_for_timeout(400)


# What is drawn


def wait_until_it_rests(visitor) -> None:
    """Wait until the stage is drawn for its width, which paper changes."""
    before, drawn = "", stage(visitor).inner_html()
    while drawn != before:
        visitor.page.wait_for_timeout(150)
        before, drawn = drawn, stage(visitor).inner_html()


def assert_scatter_is_drawn(visitor, scene, state: int) -> None:
    scatter, histogram = scene.panels
    places = plots(visitor)
    points, line, moving, mark = scatter.layers
    dots = ".panel:first-of-type [clip-path] .dot"
    drawn = numbers(visitor, dots, "cx", "cy", "opacity")
    np.testing.assert_allclose(drawn[:, 0], across(points.x, scatter.x, places[0]), atol=0.02)
    np.testing.assert_allclose(drawn[:, 1], upward(points.y, scatter.y, places[0]), atol=0.02)
    np.testing.assert_allclose(drawn[:, 2], points.opacity[state], atol=0.01)
    colors = [name.split()[1] for (name,) in attributes(visitor, dots, "class")]
    expected = points.color_after if state else [points.color] * len(points.x)
    assert colors == list(expected)

    for layer, (path, opacity) in zip(
        (line, moving), attributes(visitor, "path.curve", "d", "opacity"), strict=True
    ):
        ends = np.array([place.split() for place in path[1:].split("L")], dtype=float)
        y = np.broadcast_to(layer.y, (3, 2))[state]
        np.testing.assert_allclose(ends[:, 1], upward(y, scatter.y, places[0]), atol=0.02)
        assert float(opacity) == np.broadcast_to(layer.opacity, 3)[state]

    bars, truth, mean = histogram.layers
    heights = numbers(visitor, "rect.bar:not(.legend *)", "height")[:, 0]
    zero = upward(0, histogram.y, places[1])
    expected = zero - upward(bars.height[state], histogram.y, places[1])
    np.testing.assert_allclose(heights, expected, atol=0.02)
    level, true_mean, observed_mean = numbers(visitor, "line.mark", "x1", "y1", "opacity")
    assert level[1] == pytest.approx(upward(140, scatter.y, places[0]), abs=0.02)
    assert level[2] == mark.opacity[state]
    assert true_mean[0] == pytest.approx(across(truth.value, histogram.x, places[1]), abs=0.02)
    assert observed_mean[0] == pytest.approx(
        across(mean.value[state], histogram.x, places[1]), abs=0.02
    )
    assert observed_mean[2] == mean.opacity[state]


def test_each_state_is_drawn_with_the_numbers_of_python(visitor):
    scene = stage_page.scatter()
    assert_scatter_is_drawn(visitor, scene, 0)
    for state, name in enumerate(scene.states):
        step(visitor, name).click()
        assert_scatter_is_drawn(visitor, scene, state)
        expect(caption(visitor)).to_have_text(scene.captions[state])
        picture = stage(visitor).get_by_role("img")
        expect(picture).to_have_accessible_name(f"{scene.description} {scene.captions[state]}")


def test_a_reveal_moves_from_the_first_state_to_the_last_and_ends_there(watcher):
    scene = stage_page.scatter()
    recording = Recording(watcher, "line.mark:last-of-type", "x1", "opacity")

    reveal(watcher)
    finish(watcher, scene)

    x = np.array([float(row[-2]) for row in recording.seen()])
    assert len(x) > 8, "it did not move"
    assert (np.diff(x) <= 0).all(), "it moved back"
    assert_scatter_is_drawn(watcher, scene, 2)


def test_points_change_one_by_one(watcher):
    recording = Recording(watcher, "[clip-path] .dot", "class")

    reveal(watcher)
    finish(watcher, stage_page.scatter())

    missing = [sum("missing" in name for name in row) for row in recording.seen()]
    assert missing == sorted(missing)
    assert missing[0] == 0
    assert len(set(missing)) > 5, "many changed at once"


def test_a_reveal_stays_in_each_state_for_a_while(watcher):
    scene = stage_page.scatter()
    began = watcher.page.evaluate("performance.now()")
    reveal(watcher)
    finish(watcher, scene)

    assert watcher.page.evaluate("performance.now()") - began > 1000 * 2 * (0.7 + 0.9)


def test_cells_move_to_their_places(watcher):
    scene = stage_page.staircase()
    show(watcher, "staircase")
    before = attributes(watcher, "g.cell", "transform")
    recording = Recording(watcher, "g.cell", "transform")

    reveal(watcher)
    finish(watcher, scene)

    assert len(recording.seen()) > 8
    (cells,), (table,) = (panel.layers for panel in scene.panels)
    n_cells = np.size(cells.color)
    after = attributes(watcher, "g.cell", "class", "transform")
    assert [row[1:] for row in after] != before
    places = np.array([re.findall(r"[\d.]+", place) for _, place in after[:n_cells]], dtype=float)
    row, column = np.divmod(np.arange(n_cells), len(cells.columns))
    for drawn, expected in (
        (places[:, 1], np.asarray(cells.place[1])[row]),
        (places[:, 0], np.asarray(cells.column_place[1])[column]),
    ):
        # Evenly spaced, in the order that Python chose.
        assert np.corrcoef(drawn, expected)[0, 1] == pytest.approx(1, abs=1e-6)
    colors = [name.split()[-1] for name, _ in after]
    assert colors == [*np.ravel(cells.color), *np.ravel(table.color[1])]
    words = stage(watcher).locator("g.cell text").all_text_contents()
    assert words[:-1] == [word for line in table.words for word in line][:-1]


def test_intervals_appear_where_python_says(visitor):
    scene = stage_page.coverage()
    show(visitor, "coverage")
    assert set(numbers(visitor, "g.interval", "opacity").ravel()) == {0}

    reveal(visitor)
    finish(visitor, scene)

    (panel,), (plot,) = scene.panels, plots(visitor)
    intervals = panel.layers[0]
    lines = numbers(visitor, "g.interval line", "x1", "x2", "y1")
    centers = numbers(visitor, "g.interval circle", "cx")
    np.testing.assert_allclose(lines[:, 0], across(intervals.low, panel.x, plot), atol=0.02)
    np.testing.assert_allclose(lines[:, 1], across(intervals.high, panel.x, plot), atol=0.02)
    np.testing.assert_allclose(lines[:, 2], upward(intervals.place, panel.y, plot), atol=0.02)
    np.testing.assert_allclose(centers[:, 0], across(intervals.center, panel.x, plot), atol=0.02)
    drawn = attributes(visitor, "g.interval", "class", "opacity")
    assert drawn == [[f"interval {color}", "1"] for color in intervals.color_after]


def test_many_points_are_painted(visitor):
    show(visitor, "many points")

    assert stage(visitor).locator("[clip-path] .dot").count() == 0
    assert painted(visitor, "observed") > 500
    assert painted(visitor, "missing") == 0
    step(visitor, "High values").click()
    assert painted(visitor, "missing") > 100
    step(visitor, "Values go missing").click()
    assert painted(visitor, "missing") == 0


def painted(visitor, color: str) -> int:
    """Return how many pixels of the canvas have a color, whatever their opacity."""
    red, green, blue = {"observed": (0, 114, 178), "missing": (213, 94, 0)}[color]
    return (
        stage(visitor)
        .locator("canvas")
        .evaluate(
            """(canvas, [red, green, blue]) => {
                const context = canvas.getContext("2d");
                const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
                let count = 0;
                for (let k = 0; k < data.length; k += 4) {
                    const far = Math.abs(data[k] - red) + Math.abs(data[k + 1] - green)
                        + Math.abs(data[k + 2] - blue);
                    if (data[k + 3] > 100 && far < 12) count++;
                }
                return count;
            }""",
            [red, green, blue],
        )
    )


# Moving, and not moving


def test_reduced_motion_jumps(visitor):
    recording = Recording(visitor, "line.mark:last-of-type", "x1")

    reveal(visitor)
    finish(visitor, stage_page.scatter())

    assert len(recording.seen()) == 2
    step(visitor, "All patients").click()
    visitor.page.wait_for_timeout(300)
    assert len(recording.page.evaluate("window.recorded")) <= 3
    assert_scatter_is_drawn(visitor, stage_page.scatter(), 0)


def test_a_rerun_neither_restarts_a_reveal_nor_jumps(watcher):
    scene = stage_page.scatter()
    recording = Recording(watcher, "[role=radio]", "aria-checked")
    reveal(watcher)
    expect(step(watcher, "High values")).to_have_attribute("aria-checked", "true")

    for _ in range(3):
        rerun(watcher)
    finish(watcher, scene)
    rerun(watcher)
    watcher.page.wait_for_timeout(1500)

    steps = [row.index("true") for row in recording.seen()]
    assert steps == [0, 1, 2]
    assert_scatter_is_drawn(watcher, scene, 2)


def test_a_rerun_leaves_the_step_that_the_reader_chose(visitor):
    step(visitor, "High values").click()
    rerun(visitor)

    expect(step(visitor, "High values")).to_have_attribute("aria-checked", "true")
    assert_scatter_is_drawn(visitor, stage_page.scatter(), 1)


def test_what_was_revealed_once_is_not_revealed_again_when_it_comes_back(watcher):
    reveal(watcher)
    finish(watcher, stage_page.scatter())
    show(watcher, "nothing")
    expect(stage(watcher)).to_have_count(0)

    show(watcher, "scatter")

    expect(step(watcher, "Values go missing")).to_have_attribute("aria-checked", "true")
    assert_scatter_is_drawn(watcher, stage_page.scatter(), 2)


def test_who_leaves_during_a_reveal_finds_its_end(watcher):
    reveal(watcher)
    expect(step(watcher, "High values")).to_have_attribute("aria-checked", "true")
    show(watcher, "nothing")
    expect(stage(watcher)).to_have_count(0)

    show(watcher, "scatter")

    expect(step(watcher, "Values go missing")).to_have_attribute("aria-checked", "true")
    assert_scatter_is_drawn(watcher, stage_page.scatter(), 2)


def test_another_scene_under_the_same_key_begins_at_its_first_state(visitor):
    step(visitor, "Values go missing").click()
    show(visitor, "coverage")

    expect(step(visitor, "None")).to_have_attribute("aria-checked", "true")
    expect(caption(visitor)).to_have_text("No table yet.")
    show(visitor, "scatter")
    assert_scatter_is_drawn(visitor, stage_page.scatter(), 0)


def test_replay_begins_at_the_first_state(watcher):
    step(watcher, "Values go missing").click()
    finish(watcher, stage_page.scatter())
    recording = Recording(watcher, "[role=radio]", "aria-checked")

    stage(watcher).get_by_role("button", name="Replay").click()
    finish(watcher, stage_page.scatter())

    assert [row.index("true") for row in recording.seen()] == [2, 0, 1, 2]


def test_who_chooses_a_step_ends_the_reveal(watcher):
    reveal(watcher)
    expect(step(watcher, "High values")).to_have_attribute("aria-checked", "true")

    step(watcher, "All patients").click()
    watcher.page.wait_for_timeout(2500)

    expect(step(watcher, "All patients")).to_have_attribute("aria-checked", "true")
    assert_scatter_is_drawn(watcher, stage_page.scatter(), 0)


# Hands


def test_arrow_keys_move_the_steps(visitor):
    step(visitor, "All patients").focus()

    for key, name in [
        ("ArrowRight", "High values"),
        ("ArrowDown", "Values go missing"),
        ("ArrowRight", "Values go missing"),
        ("ArrowLeft", "High values"),
        ("Home", "All patients"),
        ("End", "Values go missing"),
    ]:
        visitor.page.keyboard.press(key)
        expect(step(visitor, name)).to_be_focused()
        expect(step(visitor, name)).to_have_attribute("aria-checked", "true")
    assert_scatter_is_drawn(visitor, stage_page.scatter(), 2)


def test_one_state_has_no_steps(visitor):
    show(visitor, "still")

    expect(stage(visitor).get_by_role("radio")).to_have_count(0)
    expect(stage(visitor).get_by_role("button")).to_have_count(0)
    expect(stage(visitor).get_by_role("slider")).to_have_count(0)
    expect(caption(visitor)).to_have_text("All patients were measured.")


def test_a_slider_draws_while_it_is_dragged_and_tells_python_on_release(visitor):
    show(visitor, "sensitivity")
    said = visitor.page.get_by_text("Python has")
    before = said.inner_text()
    assert before.endswith("Python has 1.")
    box = slider(visitor).bounding_box()
    mouse, middle = visitor.page.mouse, box["y"] + box["height"] / 2
    recording = Recording(visitor, "path.curve", "d")

    mouse.move(box["x"] + box["width"] / 3, middle)
    mouse.down()
    for share in np.linspace(1 / 3, 0.75, 20):
        mouse.move(box["x"] + share * box["width"], middle)
        visitor.page.wait_for_timeout(20)
    visitor.page.wait_for_timeout(600)
    assert len(recording.seen()) > 5, "the curve did not follow"
    assert said.inner_text() == before, "Python heard of the drag"
    mouse.up()
    expect(said).not_to_have_text(before)

    visitor.settle()
    value = float(stage(visitor).locator("output").inner_text())
    assert 2.1 < value < 2.4
    assert said.inner_text() == f"Run {int(before.split()[1][:-1]) + 1}: Python has {value}."
    assert_curve_is_at(visitor, value)


def assert_curve_is_at(visitor, value: float) -> None:
    """Assert that the imputed curve is between its neighbors in proportion."""
    scene = stage_page.sensitivity()
    (panel,), (plot,) = scene.panels, plots(visitor)
    curves = np.asarray(panel.layers[1].y)
    expected = [np.interp(value, scene.slider.values, place) for place in curves.T]
    ((path,),) = attributes(visitor, "path.curve.imputed", "d")
    drawn = np.array([place.split() for place in path[1:].split("L")], dtype=float)
    np.testing.assert_allclose(drawn[:, 1], upward(expected, panel.y, plot), atol=0.02)


def test_keys_move_the_slider(visitor):
    show(visitor, "sensitivity")
    slider(visitor).focus()
    for key, words in [
        ("ArrowRight", "1.1"),
        ("ArrowUp", "1.2"),
        ("ArrowLeft", "1.1"),
        ("PageUp", "1.4"),
        ("Home", "0.0"),
        ("End", "3.0"),
    ]:
        visitor.page.keyboard.press(key)
        expect(slider(visitor)).to_have_attribute("aria-valuetext", words)
        expect(stage(visitor).locator("output")).to_have_text(words)
        expect(visitor.page.get_by_text(f"Python has {float(words)}.")).to_be_visible()
        assert_curve_is_at(visitor, float(words))
    expect(caption(visitor)).to_have_text("The conclusion changes.")


def test_a_held_key_tells_python_once(visitor):
    show(visitor, "sensitivity")
    said = visitor.page.get_by_text("Python has")
    run = int(re.search(r"Run (\d+)", said.inner_text())[1])
    slider(visitor).focus()

    for _ in range(5):
        visitor.page.keyboard.down("ArrowRight")
    visitor.page.keyboard.up("ArrowRight")

    expect(said).to_have_text(f"Run {run + 1}: Python has 1.5.")


def test_the_slider_of_another_scene_is_forgotten(visitor):
    show(visitor, "sensitivity")
    slider(visitor).press("End")
    expect(visitor.page.get_by_text("Python has 3.0.")).to_be_visible()
    rerun(visitor)
    expect(slider(visitor)).to_have_attribute("aria-valuetext", "3.0")

    show(visitor, "scatter")
    expect(visitor.page.get_by_text("Python has None.")).to_be_visible()


# Eyes and ears


def test_words_are_text(visitor):
    hostile = stage_page.HOSTILE
    step(visitor, "High values").click()

    expect(stage(visitor).locator("svg").get_by_text(f"patients {hostile}")).to_be_visible()
    expect(stage(visitor).locator("svg .title", has_text=hostile)).to_be_visible()
    expect(caption(visitor)).to_contain_text(hostile)
    show(visitor, "staircase")
    expect(stage(visitor).locator("svg").get_by_text("<img src")).to_be_visible()
    assert visitor.page.locator("img[src=x]").count() == 0


def test_the_legend_does_not_name_what_is_not_seen_yet(visitor):
    legend = stage(visitor).locator("svg .legend:not([opacity='0'])")
    always = [f"patients {stage_page.HOSTILE}", "all patients"]

    assert legend.all_text_contents() == [*always, "patients"]
    step(visitor, "Values go missing").click()
    assert legend.all_text_contents() == [*always, "complete rows", "patients"]
    show(visitor, "coverage")
    assert legend.all_text_contents() == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["scatter", "coverage", "sensitivity"])
def test_words_of_marks_do_not_overlap_and_stay_in_the_picture(new_visitor, name, width):
    visitor = opened(new_visitor(width=width))
    show(visitor, name)
    ((view,),) = attributes(visitor, "svg", "viewBox")
    width, height = map(float, view.split()[2:])
    n_states = max(1, stage(visitor).get_by_role("radio").count())
    for state in range(n_states):
        if n_states > 1:
            stage(visitor).get_by_role("radio").nth(state).click()
        boxes = words_of_marks(visitor)
        assert boxes
        for box in boxes:
            assert 0 <= box["x"] <= width - box["width"]
            assert 0 <= box["y"] <= height - box["height"]
        for one, other in itertools.combinations(boxes, 2):
            assert not overlap(one, other), (state, one, other)


def words_of_marks(visitor) -> list[dict[str, float]]:
    """Return where words are in the picture, without the ground around their letters."""
    words = stage(visitor).locator("svg .words:not([opacity='0'], :empty)")
    return words.evaluate_all(
        """all => all.map(one => {
            const {x, y, width, height} = one.getBBox();
            return {x, y, width, height};
        })"""
    )


def overlap(one, other) -> bool:
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.parametrize("name", ["scatter", "staircase", "coverage", "sensitivity"])
def test_it_fits_a_telephone(new_visitor, name):
    visitor = opened(new_visitor(width=390, height=844))
    show(visitor, name)

    frames = [panel.bounding_box() for panel in stage(visitor).locator(".panel").all()]
    for above, below in itertools.pairwise(frames):
        assert below["y"] >= above["y"] + above["height"]
    for text in stage(visitor).locator("svg text").all():
        box = text.bounding_box()
        if box and box["width"] > 0:
            assert box["x"] >= -1 and box["x"] + box["width"] <= 391, text.text_content()
        assert (
            float(text.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= SMALLEST_TEXT
        )
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_steps_work_by_touch(new_visitor):
    visitor = opened(new_visitor(width=390, height=844))

    step(visitor, "Values go missing").tap()

    assert_scatter_is_drawn(visitor, stage_page.scatter(), 2)


@pytest.mark.parametrize("name", ["scatter", "staircase", "coverage", "sensitivity"])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_text_stands_out(new_visitor, color_scheme, name):
    visitor = opened(new_visitor(color_scheme=color_scheme))
    show(visitor, name)
    reveal(visitor)
    visitor.settle()

    weak = stage(visitor).locator(".stage").evaluate(_CONTRASTS)
    assert len(weak) > 5
    assert [text for text in weak if text["contrast"] < CONTRAST] == []


# Colors are painted to be read, since a style may be written in many ways.
_CONTRASTS = """
stage => {
    const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgb = (...colors) => {
        for (const color of colors) {
            context.fillStyle = color;
            context.fillRect(0, 0, 1, 1);
        }
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const luminance = color => {
        const [r, g, b] = color.map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const page = getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor;
    const all = stage.querySelectorAll("svg text, .caption, button, .slider span, output");
    return [...all].filter(e => e.textContent && e.checkVisibility()).map(e => {
        const style = getComputedStyle(e);
        const ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
        const cell = e.closest(".cell")?.querySelector("rect");
        const ground = cell ? getComputedStyle(cell).fill : style.backgroundColor;
        const [one, other] = [luminance(rgb(page, ground, ink)), luminance(rgb(page, ground))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        return {text: e.textContent, contrast};
    });
}
"""


def test_it_prints_the_last_state_without_controls(visitor):
    scene = stage_page.scatter()
    visitor.page.emulate_media(media="print")

    expect(caption(visitor)).to_have_text(scene.captions[-1])
    wait_until_it_rests(visitor)
    assert_scatter_is_drawn(visitor, scene, 2)
    expect(stage(visitor).locator(".controls")).to_be_hidden()
    visitor.page.emulate_media(media="screen")
    expect(caption(visitor)).to_have_text(scene.captions[0])
    wait_until_it_rests(visitor)
    assert_scatter_is_drawn(visitor, scene, 0)


def test_it_follows_the_width_of_the_window(visitor):
    before = stage(visitor).locator("svg").bounding_box()["width"]
    visitor.page.set_viewport_size({"width": 800, "height": 900})

    expect(stage(visitor).locator("svg")).not_to_have_attribute(
        "viewBox", re.compile(f"^0 0 {before:.0f} ")
    )
    assert_scatter_is_drawn(visitor, stage_page.scatter(), 0)
