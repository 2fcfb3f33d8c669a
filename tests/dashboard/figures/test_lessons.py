import numpy as np
import pandas as pd
import pytest

from dashboard.figures import lessons as figures
from dashboard.shell.theme import MISSING, NEUTRAL, OBSERVED


def test_the_small_table_marks_missing_cells_and_keeps_the_place_of_each_cell():
    cells = pd.DataFrame({"age": ["30", "41"], "bmi": ["?", "25.6"]})

    (squares,) = figures.small_table_figure(cells, (0, "bmi")).data

    assert [list(place) for place in squares.customdata] == [
        *([0, "age"], [0, "bmi"]),
        *([1, "age"], [1, "bmi"]),
    ]
    assert list(squares.text) == ["30", "?", "41", "25.6"]
    assert list(squares.marker.color) == [OBSERVED, MISSING, OBSERVED, OBSERVED]
    assert [width > 0 for width in squares.marker.line.width] == [False, True, False, False]


def test_histograms_count_every_number_and_show_the_means():
    values = np.arange(100.0)

    figure = figures.densities_figure(
        {"all": (values, NEUTRAL), "low": (values[:40], OBSERVED)}, "income"
    )

    assert [sum(bars.y) for bars in figure.data] == [100, 40]
    assert [line.x0 for line in figure.layout.shapes] == [49.5, 19.5]


def test_repetitions_stand_beside_their_marks():
    figure = figures.repetitions_figure(
        np.linspace(0, 1, 50), {"truth": (0.4, NEUTRAL, "dash")}, "slope"
    )

    assert sum(figure.data[0].y) == 50
    assert list(figure.data[1].x) == [0.4, 0.4]
    assert figure.data[1].name == "truth"


def test_lines_go_through_the_cloud():
    rows = pd.DataFrame({"age": [20.0, 40.0, 60.0], "blood_pressure": [110.0, 120.0, 130.0]})
    kept = np.array([True, True, False])

    figure = figures.scatter_figure(rows, kept, line=(0.5, 100.0), kept_line=(0.25, 105.0))

    by_name = {trace.name: trace for trace in figure.data}
    assert list(by_name["incomplete rows"].x) == [60.0]
    assert list(by_name["line, all rows"].y) == [110.0, 130.0]
    assert list(by_name["line, complete rows"].y) == [110.0, 120.0]
    assert figure.layout.yaxis.title.text == "blood pressure"


def test_a_cloud_without_missing_values_has_no_entry_for_them():
    rows = pd.DataFrame({"age": [20.0, 40.0], "blood_pressure": [110.0, 120.0]})

    figure = figures.scatter_figure(rows, line=(0.5, 100.0))

    assert "incomplete rows" not in [trace.name for trace in figure.data]


def test_training_cases_show_the_kinds_asked_for():
    shares = pd.DataFrame(
        {
            "predictors": [0, 1],
            "missing": [0.1, 0.9],
            "uniform": [0.5, 0.5],
            "proportional": [0.3, 0.7],
        }
    )

    assert len(figures.training_cases_figure(shares, ["missing"]).data) == 1
    assert [list(bars.y) for bars in figures.training_cases_figure(shares).data] == [
        *([0.1, 0.9], [0.5, 0.5], [0.3, 0.7]),
    ]


def test_every_seed_is_a_line_for_each_length_of_training():
    runs = pd.DataFrame(
        [
            (steps, seed, masking, 0.1 * seed)
            for steps in (400, 1600)
            for seed in (0, 1)
            for masking in ("uniform", "proportional")
        ],
        columns=["steps", "seed", "masking", "r2"],
    )

    figure = figures.trained_figure(runs)

    assert [list(line.x) for line in figure.data] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert list(figure.data[1].y) == pytest.approx([0.1, 0.1])
    assert figure.layout.xaxis.ticktext[3] == "proportional<br>1,600 steps"


def test_the_probabilities_of_both_worlds_are_lines():
    curve = pd.DataFrame({"income": [1.0, 2.0], "MAR": [0.6, 0.6], "MNAR": [0.8, 0.2]})

    mar, mnar = figures.reporting_figure(curve).data

    assert (list(mar.y), list(mnar.y)) == ([0.6, 0.6], [0.8, 0.2])


def test_means_are_dots_with_names_inside_the_axis():
    figure = figures.means_figure(
        {"reported": (30.0, OBSERVED), "truth": (40.0, NEUTRAL)}, "income"
    )

    assert list(figure.data[0].x) == [30.0, 40.0]
    assert list(figure.layout.yaxis.ticktext) == ["reported", "truth"]
    low, high = figure.layout.xaxis.range
    assert low < 30 < 40 < high


def test_one_mean_alone_can_be_drawn():
    assert figures.means_figure({"reported": (30.0, OBSERVED)}, "income").data
