import numpy as np
import pandas as pd
import pytest

from dashboard.figures.training import (
    MOST_COLUMNS,
    columns_figure,
    loss_figure,
    overlay_figure,
    validation_figure,
)
from dashboard.shell import theme


def losses(n):
    steps = np.arange(1.0, n + 1)
    return pd.DataFrame({"step": steps, "prediction": 1 / steps, "reconstruction": 0.5 / steps})


@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_losses_are_two_named_lines(n):
    figure = loss_figure(losses(n), total_steps=400)

    named = {trace.name: trace for trace in figure.data if trace.showlegend is not False}
    assert set(named) == {"predicting masked cells", "giving back seen cells"}
    assert named["predicting masked cells"].line.color == theme.MASKED
    assert named["giving back seen cells"].line.color == theme.OBSERVED
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


def test_the_best_validation_is_marked():
    table = pd.DataFrame({"step": [10.0, 20.0, 30.0], "score": [0.5, 0.2, 0.3]})

    _, best = validation_figure(table).data

    assert (best.x[0], best.y[0]) == (20.0, 0.2)


def test_columns_are_dots_from_first_to_now():
    table = pd.DataFrame(
        {"column": ["<b>", "y", "z"], "first": [1.0, 0.9, np.nan], "now": [0.5, 0.1, np.nan]}
    )

    figure = columns_figure(table)

    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;", "y"]
    lines, first, now = figure.data
    assert list(first.x) == [1.0, 0.9]
    assert list(now.x) == [0.5, 0.1]
    assert list(lines.x) == [1.0, 0.5, None, 0.9, 0.1, None]


def test_of_many_columns_the_worst_are_shown():
    n = MOST_COLUMNS + 5
    table = pd.DataFrame({"column": range(n), "first": 1.0, "now": np.linspace(1, 0, n)})

    assert len(columns_figure(table).data[1].x) == MOST_COLUMNS


def test_two_runs_differ_in_color_and_stroke():
    curve = pd.DataFrame({"step": [1.0, 2.0], "value": [1.0, 0.5]})

    first, second = overlay_figure({"1. a": curve, "2. b": curve}, axis="error").data

    assert first.line.color != second.line.color
    assert first.line.dash != second.line.dash
    assert [first.name, second.name] == ["1. a", "2. b"]
