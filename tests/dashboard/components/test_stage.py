"""What a scene accepts, and what of it goes to the browser."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from dashboard.components.stage.scene import (
    Axis,
    Bars,
    Cells,
    Intervals,
    Line,
    Mark,
    Panel,
    Points,
    Scene,
    Slider,
    digest_of,
)
from tests.support import stage_page

AXIS = Axis("value", 0, 10)


def scene(*layers, n_states=2, **kwargs):
    """Return a scene with one panel."""
    axes = {} if isinstance(layers[0], Cells) else {"x": AXIS, "y": AXIS}
    names = [f"state {k}" for k in range(n_states)]
    return Scene(
        [Panel(layers, **axes)],
        states=names,
        captions=[f"Caption of {name}." for name in names],
        description="A picture.",
        **kwargs,
    )


def layer_of(made: Scene) -> dict:
    """Return the first layer as the browser gets it."""
    return made.data()["panels"][0]["layers"][0]


# What the browser gets


def test_what_holds_for_all_states_is_repeated_and_what_changes_is_kept():
    points = Points(x=[1, 2, 3], y=[[1, 1, 1], [4, 5, 6]])

    data = layer_of(scene(points))

    assert data["x"] == [[1, 2, 3], [1, 2, 3]]
    assert data["y"] == [[1, 1, 1], [4, 5, 6]]


@pytest.mark.parametrize(
    ("opacity", "expected"),
    [
        (0.5, [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]),
        ([1, 0], [[1, 1, 1], [0, 0, 0]]),
        ([[1, 1, 1], [1, 0, 0.5]], [[1, 1, 1], [1, 0, 0.5]]),
    ],
)
def test_opacity_of_dots_is_for_all_or_by_state_or_by_dot(opacity, expected):
    assert layer_of(scene(Points([1, 2, 3], [1, 2, 3], opacity=opacity)))["opacity"] == expected


def test_every_layer_becomes_plain_json():
    for made in (
        stage_page.scatter(),
        stage_page.staircase(),
        stage_page.coverage(),
        stage_page.sensitivity(),
    ):
        data = made.data()

        assert json.loads(json.dumps(data)) == data


def test_series_of_pandas_and_single_numbers_of_numpy_become_plain():
    bars = Bars(pd.Series([0, 1]), pd.Index([1, 2]), pd.Series([3, 4]))
    panel = Panel([bars], x=Axis("x", np.float64(0), np.int64(9), ticks=np.arange(3)), y=AXIS)
    made = dataclasses.replace(scene(bars), panels=[panel])

    data = made.data()

    assert json.loads(json.dumps(data)) == data
    assert data["panels"][0]["layers"][0]["height"] == [[3, 4], [3, 4]]


def test_numbers_have_six_digits():
    data = layer_of(scene(Points([1 / 3], [-2_000_000 / 3])))

    assert data["x"] == [[0.333333], [0.333333]]
    assert data["y"] == [[-666_667], [-666_667]]


def test_cells_and_marks_keep_their_words():
    cells = Cells(["a", "b"], [["observed", "missing"]], words=[["1", "?"]], row_words=["Ada"])
    data = layer_of(scene(cells))
    assert (data["words"], data["row_words"]) == ([["1", "?"]], ["Ada"])
    assert data["color"] == [[["observed", "missing"]]] * 2
    assert data["place"] is None

    assert layer_of(scene(Mark(3, words="mean")))["words"] == ["mean", "mean"]
    assert layer_of(scene(Mark([3, 4], words=["", "moved"])))["words"] == ["", "moved"]


def test_a_slider_goes_along():
    made = scene(Line([0, 1], [0, 1]), slider=Slider("Shift", [0, 2.5], start=1))

    expected = {"label": "Shift", "values": [0, 2.5], "start": 1, "decimals": 1}
    assert made.data()["slider"] == expected
    assert scene(Line([0, 1], [0, 1])).data()["slider"] is None


# The first state alone


@pytest.mark.parametrize(
    "made", [stage_page.scatter(), stage_page.staircase(), stage_page.coverage()]
)
def test_the_first_state_alone_is_the_first_of_all(made):
    first, data = made.first().data(), made.data()

    assert first["states"] == data["states"][:1]
    assert first["captions"] == data["captions"][:1]
    for of_first, of_all in zip(first["panels"], data["panels"], strict=True):
        for alone, layer in zip(of_first["layers"], of_all["layers"], strict=True):
            for name in ("x", "y", "opacity", "height", "value", "low", "place", "column_place"):
                if alone["kind"] != "intervals" or name != "place":
                    assert (alone.get(name) or [None])[0] == (layer.get(name) or [None])[0], name
            assert alone.get("color_after") is None


def test_the_first_state_has_no_slider():
    assert stage_page.sensitivity().first().slider is None


def test_words_of_a_solution_are_not_sent_with_the_question():
    question = json.dumps(stage_page.scatter().first().data())

    assert "observed mean" not in question
    assert "too flat" not in question


# The digest


def test_equal_scenes_have_equal_digests_and_others_do_not():
    digests = {
        digest_of(made.data())
        for made in (
            scene(Points([1, 2], [3, 4])),
            scene(Points(np.array([1.0, 2.0]), [[3, 4], [3, 4]])),
        )
    }
    assert len(digests) == 1

    base = scene(Points([1, 2], [3, 4]))
    others = [
        scene(Points([1, 2], [3, 5])),
        scene(Points([1, 2], [3, 4], color="missing")),
        scene(Points([1, 2], [3, 4], label="rows")),
        dataclasses.replace(base, captions=["One.", "Other."]),
        base.first(),
    ]
    assert len({digest_of(made.data()) for made in [base, *others]}) == 1 + len(others)


# What is refused


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (Points([1, 2, 3], [1, 2]), "as many of each: x 3, y 2"),
        (Points([1, 2], [[1, 2]] * 3), r"y of points has the shape \(3, 2\)"),
        (Points([1, 2], [1, 2], opacity=[1, 1, 1]), r"opacity of points has the shape \(3, 2\)"),
        (Points([1, 2], [1, 2], opacity=[[1, 1, 1]] * 2), "as many of each"),
        (Points([1, 2], [1, 2], color=["observed"] * 3), "as many of each"),
        (Points([1, 2], [1, 2], color_after=["observed"]), "as many of each"),
        (Points([1, 2], [1, 2], color="red"), "unknown colors: red"),
        (Points([1, np.nan], [1, 2]), "x of points has values that are not finite"),
        (Points([1, 2], [1, np.inf]), "y of points has values that are not finite"),
        (Bars([0, 1], [1, 2], [1, 2, 3]), "bars need as many of each"),
        (Bars([0, 1], [1], [1, 2]), "bars need as many of each"),
        (Bars([0, np.nan], [1, 2], [1, 2]), "left of bars has values that are not finite"),
        (Line([0, 1], [[0, 1, 2]] * 2), "line need as many of each"),
        (Mark([1, 2, 3]), r"value of mark has the shape \(3,\)"),
        (Mark([1, np.nan]), "value of mark has values that are not finite"),
        (Mark(1, words=["one", "two", "three"]), "words of mark"),
        (Intervals([1], [2, 3], [4, 5], place=[0, 1]), "intervals need as many of each"),
        (Intervals([1], [2], [4], place=[np.nan]), "place of intervals has values that are not"),
        (Cells(["a"], [["observed", "missing"]]), "columns of cells has the shape"),
        (Cells(["a"], [["observed"]], place=[0, 1]), "place of cells has the shape"),
        (Cells(["a"], [["observed"]], column_place=[0, 1]), "column_place of cells has the shape"),
        (Cells(["a"], [["observed"]], words=[["1"], ["2"]]), "words of cells has the shape"),
        (Cells(["a"], [["observed"]], row_words=["Ada", "Ben"]), "row_words of cells has the"),
        (Cells(["a"], [["gone"]]), "unknown colors: gone"),
        (Cells(["a"], [[["observed"]]] * 3), r"color of cells has the shape \(3, 1, 1\)"),
    ],
)
def test_a_layer_that_could_not_be_drawn_is_refused(layer, message):
    with pytest.raises(ValueError, match=message):
        scene(layer)


def test_states_need_captions_and_values_of_the_slider():
    line = Line([0, 1], [0, 1])
    with pytest.raises(ValueError, match="2 states need as many captions"):
        dataclasses.replace(scene(line), captions=["One."])
    with pytest.raises(ValueError, match="2 states need as many values of the slider"):
        scene(line, slider=Slider("Shift", [0, 1, 2], start=0))
    with pytest.raises(ValueError, match="values of the slider must rise"):
        scene(line, slider=Slider("Shift", [1, 0], start=0))
    with pytest.raises(ValueError, match="start of the slider must lie between"):
        scene(line, slider=Slider("Shift", [0, 1], start=2))
    with pytest.raises(ValueError, match="slider needs at least two states"):
        scene(line, n_states=1, slider=Slider("Shift", [0], start=0))


def test_panels_need_axes_unless_they_show_cells():
    points, cells = Points([1], [1]), Cells(["a"], [["observed"]])
    made = scene(points)

    with pytest.raises(ValueError, match="needs both axes"):
        dataclasses.replace(made, panels=[Panel([points], x=AXIS)])
    with pytest.raises(ValueError, match="Cells need a panel of their own"):
        dataclasses.replace(made, panels=[Panel([cells, points], x=AXIS, y=AXIS)])
    with pytest.raises(ValueError, match="'flat' needs a low end below its high end"):
        dataclasses.replace(made, panels=[Panel([points], x=Axis("flat", 3, 3), y=AXIS)])
    with pytest.raises(ValueError, match="words for 2 ticks"):
        odd = Axis("odd", 0, 1, ticks=[0, 1], tick_words=["none"])
        dataclasses.replace(made, panels=[Panel([points], x=odd, y=AXIS)])
