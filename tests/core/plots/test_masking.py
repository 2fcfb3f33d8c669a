import numpy as np
import pandas as pd
import pytest

from pmae_core.colors import MASKED
from pmae_core.masking import masking_probability
from pmae_core.plots.masking import curve_data, curve_figure


def weights(p_obs, names=None):
    p_obs = np.asarray(p_obs, dtype=float)
    names = names or [f"column {j}" for j in range(len(p_obs))]
    return pd.DataFrame({"column": names, "p_obs": p_obs, "M_j": masking_probability(p_obs)})


def curve(p_obs, names=None, **kwargs):
    return curve_figure(
        curve_data(masking_probability), weights(p_obs, names), uniform=0.5, **kwargs
    )


def trace(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


def test_the_curve_is_the_masking_function_and_leaves_out_full_columns():
    line = trace(curve([0.3]), "yours")

    assert line.y == pytest.approx(masking_probability(line.x))
    assert 0 <= min(line.x) < max(line.x) < 1
    assert max(line.x) > 0.999


def test_every_column_lies_on_the_curve():
    points = trace(curve([0.26, 0.5, 1.0]), "columns")

    assert list(points.x) == [0.26, 0.5, 1.0]
    assert list(points.y) == pytest.approx([0.552, 0.5, 0.0], abs=1e-3)


def test_columns_alike_share_a_point_that_names_them():
    points = trace(curve([1.0, 1.0, 1.0, 0.5]), "columns")

    assert list(points.x) == [0.5, 1.0]
    assert list(points.text) == ["column 3", "3 columns"]
    assert points.customdata[1] == "column 0<br>column 1<br>column 2"
    assert points.marker.size[1] > points.marker.size[0]


def test_a_column_that_misses_one_cell_in_a_million_is_not_counted_as_full():
    points = trace(curve([1.0, 1 - 1e-6]), "columns")

    assert len(points.x) == 2


def test_labels_that_would_overlap_are_left_to_the_hover():
    points = trace(curve([0.50, 0.51, 0.52, 0.95]), "columns")

    assert list(points.text) == ["column 0", "", "", "column 3"]


def test_the_column_in_focus_is_ringed_and_named():
    ring = curve([0.50, 0.51], focus="column 1").data[-1]

    assert list(ring.x) == [0.51]
    assert list(ring.text) == ["column 1"]
    assert ring.marker.color == MASKED


def test_a_zoomed_view_stays_zoomed_while_sliders_move():
    first, second = curve([0.5]), curve([0.6])

    assert first.layout.uirevision == second.layout.uirevision
    assert first.layout.xaxis.fixedrange is False


def test_markup_in_names_is_text():
    text = curve([0.5], ["<b>bold</b>"], focus="<b>bold</b>").to_json()

    assert "<b>" not in text.replace("\\u003c", "<")
    assert "&lt;b&gt;" in text.replace("\\u0026", "&")


@pytest.mark.parametrize("n_columns", [1, 500])
def test_any_number_of_columns_can_be_drawn(n_columns):
    assert curve(np.full(n_columns, 0.5)).to_json()
