"""Was it luck? The histograms hold all repetitions, and the truth stands among them."""

import numpy as np
import pytest

from dashboard.components.stage.scene import Bars, Mark
from dashboard.learn.luck import luck_scene

RNG = np.random.default_rng(0)
REPEATED = {"complete rows": RNG.normal(3, 1, 500), "imputed": RNG.normal(5, 1, 500)}
COLORS = {"complete rows": "observed", "imputed": "imputed"}


def made(**changes):
    arguments = {
        "truth": 5.0,
        "label": "slope in mmHg per year",
        "caption": "Complete rows are biased.",
        "colors": COLORS,
    }
    return luck_scene(**{"repeated": REPEATED, **arguments, **changes})


def layers(scene, kind):
    (panel,) = scene.panels
    return [layer for layer in panel.layers if isinstance(layer, kind)]


def test_bars_rise_from_nothing_to_the_counts_of_all_repetitions():
    bars = layers(made(), Bars)

    assert [layer.label for layer in bars] == ["complete rows", "imputed"]
    assert [layer.color for layer in bars] == ["observed", "imputed"]
    for layer, estimates in zip(bars, REPEATED.values(), strict=True):
        before, after = np.asarray(layer.height)
        assert not before.any()
        edges = [*layer.left, layer.right[-1]]
        np.testing.assert_array_equal(after, np.histogram(estimates, edges)[0])
        assert after.sum() == len(estimates)


def test_all_methods_share_their_bins():
    first, second = layers(made(), Bars)

    np.testing.assert_array_equal(first.left, second.left)
    np.testing.assert_array_equal(first.right, second.right)


@pytest.mark.parametrize("truth", [-20.0, 5.0, 40.0])
def test_the_truth_is_in_the_picture_even_far_from_all_estimates(truth):
    scene = made(truth=truth)
    axis = scene.panels[0].x

    (mark,) = layers(scene, Mark)
    assert (mark.value, mark.words) == (truth, "truth")
    assert axis.low < truth < axis.high
    assert sum(np.sum(layer.height[-1]) for layer in layers(scene, Bars)) == 1_000


def test_no_bar_is_taller_than_the_picture():
    scene = made()

    tallest = max(np.max(layer.height) for layer in layers(scene, Bars))
    assert 0.5 * scene.panels[0].y.high < tallest < scene.panels[0].y.high


def test_the_own_table_is_marked_only_with_the_repetitions():
    scene = made(of_this_table={"imputed": 11.0})

    mark = layers(scene, Mark)[-1]
    assert (mark.value, mark.color, mark.words) == (11.0, "imputed", "imputed, this table")
    assert list(mark.opacity) == [0, 1]
    assert scene.panels[0].x.high > 11


def test_words_say_what_is_repeated_how_often():
    scene = made(repeated={"imputed": np.linspace(0, 1, 2_000)})

    assert scene.states[-1] == "2,000 times"
    assert scene.captions[-1] == "Complete rows are biased."
    assert scene.panels[0].x.label == "slope in mmHg per year"
    assert "slope in mmHg per year in 2,000 repetitions" in scene.description


def test_estimates_without_any_scatter_still_make_a_picture():
    scene = made(repeated={"imputed": [5.0] * 10})

    axis = scene.panels[0].x
    assert axis.low < 5 < axis.high
    assert np.sum(layers(scene, Bars)[0].height[-1]) == 10


@pytest.mark.parametrize("step", [1.0, 1 / 600])
def test_bars_of_counts_stand_for_as_many_values_each(step):
    counts = np.arange(17, 122)
    scene = made(repeated={"imputed": counts * step}, truth=100 * step, step=step)

    (bars,) = layers(scene, Bars)
    heights = bars.height[-1][bars.height[-1] > 0]
    assert len(set(heights[:-1])) == 1, "no bar is taller than its neighbors by its place alone"
    assert heights.sum() == len(counts)


def test_shares_are_written_in_percent_and_the_line_has_its_own_words():
    scene = made(percent=True, truth_words="nominal")

    assert scene.panels[0].x.percent
    assert layers(scene, Mark)[0].words == "nominal"
