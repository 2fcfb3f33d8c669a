import numpy as np
import pandas as pd
import pytest

from dashboard.figures.masking import (
    cell_states,
    cells_figure,
    weights_figure,
)
from pmae_core.colors import MASKED, OBSERVED
from pmae_core.masking import masking_probability


def weights(p_obs, names=None):
    p_obs = np.asarray(p_obs, dtype=float)
    names = names or [f"column {j}" for j in range(len(p_obs))]
    return pd.DataFrame({"column": names, "p_obs": p_obs, "M_j": masking_probability(p_obs)})


def test_markup_in_names_is_text():
    bars = weights_figure(weights([0.5], ["<b>bold</b>"]), uniform=0.5)
    cells = cells_figure(np.ones((2, 1), dtype=int), ["<b>bold</b>"])

    for drawn in (bars, cells):
        text = drawn.to_json()
        assert "<b>" not in text.replace("\\u003c", "<")
        assert "&lt;b&gt;" in text.replace("\\u0026", "&")


def test_prediction_and_reconstruction_weigh_one_together():
    figure = weights_figure(weights([0.26, 1.0]), uniform=0.5)
    predict, reconstruct, uniform = figure.data

    assert list(predict.x) == pytest.approx([0.552, 0.0], abs=1e-3)
    assert np.add(predict.x, reconstruct.x) == pytest.approx([1, 1])
    assert predict.marker.color == MASKED
    assert reconstruct.marker.color == OBSERVED
    assert list(uniform.x) == [0.5, 0.5]
    assert list(figure.layout.yaxis.ticktext) == ["column 0", "column 1"]


def test_cells_are_missing_observed_or_masked():
    observed = np.array([[True, True, False]])

    assert cell_states(observed).tolist() == [[1, 1, 0]]
    assert cell_states(observed, np.array([[True, False, True]])).tolist() == [[2, 1, 0]]


def test_the_picture_of_cells_names_the_colors_that_occur():
    states = np.array([[1, 1], [2, 1]])

    figure = cells_figure(states, ["a", "b"])

    assert figure.data[0].z.tolist() == states.tolist()
    assert [trace.name for trace in figure.data[1:]] == ["observed", "masked"]
    assert figure.data[0].text[1][0] == "a: masked"


@pytest.mark.parametrize("n_columns", [1, 500])
def test_any_number_of_columns_can_be_drawn(n_columns):
    p_obs = np.full(n_columns, 0.5)
    names = [f"column {j}" for j in range(n_columns)]

    assert weights_figure(weights(p_obs), uniform=0.5).to_json()
    figure = cells_figure(np.ones((3, n_columns), dtype=int), names)
    assert len(figure.layout.xaxis.ticktext) <= 20
