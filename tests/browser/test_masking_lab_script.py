"""The scripts of the live lab alone, in the browser: they agree with Python, number by number."""

import itertools

import numpy as np
import pandas as pd
import pytest

from dashboard.components.masking_lab import browser_module
from dashboard.masking.lab import PICTURE_ROWS, UNIFORM_RATE, Masking, masking_table, slider_range
from dashboard.masking.live import lab_data
from pmae_core.masking import list_masking_functions, masking_probability
from pmae_core.table import Schema
from pmae_core.words import percent

IMPORT = """
async text => {
    const module = new Blob([text], { type: "text/javascript" });
    window.lab = await import(URL.createObjectURL(module));
}
"""
# The ends, next to them, and the middle, where some functions turn.
P_OBS = [0.0, 5e-324, 1e-9, 1e-4, 0.05, 0.3, 0.5 - 1e-12, 0.5, 0.7, 0.99, 1 - 1e-6, 1 - 2**-53, 1.0]


@pytest.fixture(scope="module")
def script(browser):
    """Return a function that calls an exported function in the browser."""
    page = browser.new_page()
    page.evaluate(IMPORT, browser_module())

    def call(name, *arguments):
        return page.evaluate("([name, given]) => window.lab[name](...given)", [name, arguments])

    yield call
    page.close()


def grid(function):
    """Yield settings over the whole range of each slider, and some beyond it."""
    ranges = []
    for parameter, default in function.parameters.items():
        low, high, _ = slider_range(parameter, default)
        values = {low, high, default, 0.0, (low + high) / 2, low - 1, 3 * high}
        ranges.append([(parameter, value) for value in sorted(values)])
    return [dict(settings) for settings in itertools.product(*ranges)]


@pytest.mark.parametrize("function", list_masking_functions(), ids=lambda f: f.name)
def test_masking_functions_are_those_of_python(script, function):
    for params in grid(function):
        expected = masking_probability(P_OBS, function.name, **params)
        found = [script("maskingProbability", function.name, p, params) for p in P_OBS]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), params


def test_the_grid_of_the_comparison_has_every_function_and_both_ends():
    assert len(list_masking_functions()) >= 8
    assert {0.0, 1.0} <= set(P_OBS)
    assert len(grid(list_masking_functions()[0])) > 20


@pytest.mark.parametrize(
    ("name", "parameter", "p", "value", "others"),
    [
        ("logit", "a", 0.1, 0.3, {"b": 0.4}),
        ("logit", "a", 0.9, -0.1, {"b": 0.4}),
        ("logit", "b", 0.5, 0.7, {"a": 0.3}),
        ("constant", "rate", 0.5, 0.2, {}),
        ("sigmoid", "slope", 0.35, 12.5, {}),
        ("sigmoid", "slope", 0.65, 12.5, {}),
    ],
)
def test_a_handle_gives_the_value_that_brings_the_curve_to_its_height(
    script, name, parameter, p, value, others
):
    height = script("unclipped", name, p, {**others, parameter: value})

    found = script("valueAtHeight", parameter, height, p, {**others, parameter: 0})

    assert found == pytest.approx(value)


@pytest.mark.parametrize("share", [0, 0.0002, 0.001, 0.26, 0.2553, 0.5, 0.999, 0.9999, 1])
def test_shares_are_written_as_python_writes_them(script, share):
    assert script("percent", share) == percent(share)


def sentence(script, *arguments):
    return script("plainText", script("columnSentence", *arguments))


def test_the_sentence_on_a_column(script):
    probability = float(masking_probability(0.26))

    assert sentence(script, "insulin", 0.26, probability) == (
        "Column insulin is observed in 26% of rows: 55.2% of its observed cells are masked and "
        "predicted, the other 44.8% are reconstructed."
    )


@pytest.mark.parametrize(
    ("p_obs", "probability", "words"),
    [
        (1.0, 0.0, "always available to predict the other columns"),
        (1.0, 0.5, "yet 50% of its cells are masked"),
        (0.3, 0.0, "never learns to predict it"),
        (0.3, 1.0, "none serve as input"),
    ],
)
def test_the_sentence_says_what_masking_does_to_the_column(script, p_obs, probability, words):
    assert words in sentence(script, "x", p_obs, probability)


def test_the_sentence_on_the_table_compares_with_uniform_masking_of_every_column(script):
    p_obs = [0.5, 1.0]
    probability = masking_probability(p_obs).tolist()

    parts = script("tableSentence", p_obs, probability, 100, UNIFORM_RATE)

    assert script("plainText", parts) == (
        "About 25 of 150 observed cells (16.7%) are masked in each pass over the table. Uniform "
        "masking would mask 75 (50%)."
    )


def table():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    frame = frame.mask(rng.random(frame.shape) < [0.0, 0.1, 0.3, 0.5, 0.9])
    return masking_table(frame, Schema.infer(frame))


@pytest.mark.parametrize("function", list_masking_functions(), ids=lambda f: f.name)
def test_the_same_cells_are_masked_as_in_python(browser, function):
    columns = table()
    data = lab_data(columns, {"function": function.name}, key="")["table"]
    probability = Masking(function.name).probability(columns.p_obs)
    page = browser.new_page()
    page.evaluate(IMPORT, browser_module())

    states = page.evaluate(
        """([data, probabilities]) => {
            const observed = lab.unpackBits(data.observed, data.nSampled * data.names.length);
            const rows = Array.from({ length: data.nShown }, (_, row) => row);
            const view = { observed, rows, numbers: lab.unpackFloats(data.numbers) };
            return lab.cellStates(view, probabilities, []);
        }""",
        [data, probability.tolist()],
    )
    page.close()

    masked = columns.masked(probability)[:PICTURE_ROWS]
    expected = np.where(masked, 2, np.where(columns.observed[:PICTURE_ROWS], 1, 0))
    assert np.array(states).reshape(expected.shape).tolist() == expected.tolist()


def test_columns_with_the_same_share_share_a_point(script):
    groups = script("groupsOf", [0.5, 0.9, 0.9, 1, 1])

    assert [(group["p"], group["columns"]) for group in groups] == [
        (0.5, [0]),
        (0.9, [1, 2]),
        (1, [3, 4]),
    ]


def test_a_column_that_misses_one_cell_in_a_million_is_not_counted_as_complete(script):
    assert len(script("groupsOf", [1 - 1e-6, 1])) == 2


@pytest.mark.parametrize("seed", range(20))
def test_labels_never_overlap_and_never_leave_the_figure(script, seed):
    rng = np.random.default_rng(seed)
    frame = {"width": 400, "height": 260}
    crowd = rng.normal([350, 200], [30, 30], (12, 2)).clip([0, 0], [400, 260])
    labels = [
        {"key": str(i), "x": x, "y": y, "radius": 6, "width": 30 + 10 * i, "isNeeded": i == 0}
        for i, (x, y) in enumerate(crowd.tolist())
    ]

    placed = script("placeLabels", labels, frame, labels, [])

    boxes = [box for box in placed if box]
    assert len(boxes) >= 3
    for box in boxes:
        assert 0 <= box["left"] < box["right"] <= frame["width"]
        assert 0 <= box["top"] < box["bottom"] <= frame["height"]
    for one, other in itertools.combinations(boxes, 2):
        beside = one["right"] <= other["left"] or other["right"] <= one["left"]
        below = one["bottom"] <= other["top"] or other["bottom"] <= one["top"]
        assert beside or below
