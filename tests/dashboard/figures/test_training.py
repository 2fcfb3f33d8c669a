import numpy as np
import pandas as pd
import pytest

from dashboard.figures.training import (
    MOST_COLUMNS,
    cells_figure,
    labels_figure,
    loss_figure,
    overlay_figure,
    reduction_figure,
    skills_figure,
)
from pmae_core import colors


def losses(n):
    steps = np.arange(1.0, n + 1)
    return pd.DataFrame({"step": steps, "prediction": 1 / steps, "reconstruction": 0.5 / steps})


@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_losses_are_two_named_lines(n):
    figure = loss_figure(losses(n), total_steps=400)

    named = {trace.name: trace for trace in figure.data if trace.showlegend is not False}
    assert set(named) == {"masked cells", "observed cells"}
    assert named["masked cells"].line.color == colors.MASKED
    assert named["observed cells"].line.color == colors.OBSERVED
    assert tuple(figure.layout.xaxis.range) == (0, 400)


def test_a_loss_without_a_value_is_a_gap():
    table = losses(3)
    table["reconstruction"] = np.nan

    assert np.isnan(loss_figure(table).data[1].y).all()


def test_many_points_are_drawn_faintly_below_a_calm_line():
    rng = np.random.default_rng(0)
    table = losses(200)
    table["prediction"] = rng.normal(1, 0.2, 200)

    faint, calm, *_ = loss_figure(table).data

    assert np.std(calm.y[50:]) < np.std(faint.y[50:]) / 2


def reductions(shares, margin=np.nan):
    steps = 10.0 * np.arange(len(shares))
    shares = np.array(shares, dtype=float)
    return pd.DataFrame(
        {"step": steps, "share": shares, "low": shares - margin, "high": shares + margin}
    )


def test_the_kept_model_is_marked_and_references_are_lines():
    curve = reductions([0.3, 0.4, 0.35])

    figure = reduction_figure(
        curve, {"mean imputation": 0.0, "Gaussian start": 0.3}, relative_to="the mean"
    )

    mean, start, network, kept = figure.data
    assert (mean.name, list(mean.y)) == ("mean imputation", [0.0, 0.0])
    assert (start.name, list(start.y)) == ("Gaussian start", [0.3, 0.3])
    assert network.name == "network"
    assert (kept.x[0], kept.y[0]) == (10.0, 0.4)
    low, high = figure.layout.yaxis.range
    assert low < 0 < 0.4 < high


def test_axes_are_labeled_before_the_first_score():
    figure = reduction_figure(
        reductions([]), {"mean imputation": 0.0}, relative_to="the mean", total_steps=400
    )

    assert tuple(figure.layout.xaxis.range) == (0, 400)
    assert figure.layout.xaxis.title.text == "training step"
    assert figure.layout.yaxis.title.text == "held-out error below<br>the mean"


def test_noise_is_a_band_around_the_curve():
    band = reduction_figure(reductions([0.0, 0.1], 0.05), {}, relative_to="its start").data[0]

    assert band.fill == "toself"
    np.testing.assert_allclose(band.y, [-0.05, 0.05, 0.15, 0.05])


def test_a_network_far_below_the_mean_does_not_flatten_the_figure():
    figure = reduction_figure(reductions([-9.0, 0.2]), {"mean": 0.0}, relative_to="the mean")

    assert figure.layout.yaxis.range[0] > -0.5


def test_a_kept_model_and_a_start_below_the_mean_are_in_sight():
    lines = {"mean imputation": 0.0, "Gaussian start": -0.06}

    figure = reduction_figure(reductions([-0.06, -0.02, -5.0]), lines, relative_to="the mean")

    low, high = figure.layout.yaxis.range
    assert -0.5 < low < -0.06
    assert high > 0.0


def test_columns_are_dots_from_the_start_to_the_kept_model():
    table = pd.DataFrame(
        {"column": ["<b>", "y"], "cells": [12, 20], "kept": [0.5, -7.0], "start": [0.4, 0.1]}
    )

    figure = skills_figure(table)

    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;", "y"]
    lines, start, kept = figure.data
    assert list(start.x) == [0.4, 0.1]
    assert list(kept.x) == [0.5, -1.0]
    assert kept.customdata[1][1] == -7.0
    assert list(lines.x) == [0.4, 0.5, None, 0.1, -1.0, None]


def test_of_many_columns_the_first_are_shown():
    n = MOST_COLUMNS + 5
    table = pd.DataFrame({"column": range(n), "cells": 20, "kept": np.linspace(1, 0, n)})

    assert len(skills_figure(table).data[0].x) == MOST_COLUMNS


def test_truth_and_prediction_agree_on_the_diagonal():
    diagonal, cells = cells_figure([1.0, 3.0], [2.0, 2.5], "<i>x</i>").data

    assert list(diagonal.x) == list(diagonal.y) == [1.0, 3.0]
    assert list(cells.y) == [2.0, 2.5]


def test_labels_are_a_table_of_counts():
    counts = pd.DataFrame([[3, 1], [0, 2]], index=["<a>", "b"], columns=["<a>", "b"])

    figure = labels_figure(counts, "kind")

    assert figure.data[0].z.tolist() == [[3, 1], [0, 2]]
    assert list(figure.layout.yaxis.ticktext) == ["&lt;a&gt;", "b"]


def test_two_runs_differ_in_color_and_stroke():
    curve = pd.DataFrame({"step": [1.0, 2.0], "value": [1.0, 0.5]})

    first, second = overlay_figure({"1. a": curve, "2. b": curve}, axis="error").data

    assert first.line.color != second.line.color
    assert first.line.dash != second.line.dash
    assert [first.name, second.name] == ["1. a", "2. b"]
