"""The state of a scene in which a reveal ends, alone."""

import pytest

from dashboard.components.stage.scene import Axis, Mark, Panel, Points, Scene, Slider
from tests.support import stage_page

AXIS = Axis("value", 0, 10)


def scene(*layers, n_states=3, slider=None):
    words = [f"state {state}" for state in range(n_states)]
    return Scene(
        [Panel(layers, AXIS, AXIS)], states=words, captions=words, description="x", slider=slider
    )


def test_the_revealed_state_is_the_last_one():
    made = scene(Mark([1, 2, 3], words=["a", "b", "c"], opacity=[0, 0.5, 1])).revealed().data()

    (mark,) = made["panels"][0]["layers"]
    assert made["states"] == made["captions"] == ["state 2"]
    assert (mark["value"], mark["words"], mark["opacity"]) == ([3], ["c"], [1])


def test_the_revealed_state_of_a_slider_is_where_it_starts():
    slider = Slider("shift", values=[0, 1, 2], start=1.1)

    made = scene(Mark([1, 2, 3]), slider=slider).revealed()

    assert made.slider is None
    assert made.states == ["state 1"]
    assert made.data()["panels"][0]["layers"][0]["value"] == [2]


def test_dots_have_the_color_that_they_took():
    dots = Points([1, 2], [1, 2], color="observed", color_after=["missing", "observed"])

    made = scene(dots)

    assert made.first().data()["panels"][0]["layers"][0]["color"] == "observed"
    assert made.revealed().data()["panels"][0]["layers"][0]["color"] == ["missing", "observed"]


@pytest.mark.parametrize("made", [stage_page.scatter(), stage_page.sensitivity()])
def test_any_scene_can_be_drawn_as_revealed(made):
    data = made.revealed().data()

    assert len(data["states"]) == 1
    assert data["slider"] is None
