import numpy as np
import pandas as pd
import pytest

from dashboard.figures.paper import (
    FULL_COLOR,
    boxes_figure,
    grid_figure,
    mechanisms_figure,
    mixing_change,
    mixing_change_figure,
    mixing_columns_figure,
    pairs_figure,
    signed,
    table_data,
    table_figure,
)

TITLES = {"em": "EM <b>", "knn": "KNN"}


def both(*rows):
    columns = ["method", "dataset", "pattern", "mean", "printed"]
    table = pd.DataFrame(rows, columns=columns).assign(error=0.5, n_done=3, n_rows=442)
    return table.assign(difference=table["mean"] - table["printed"])


@pytest.fixture
def data():
    measured = both(
        ("em", "wine", "general", 20.0, 22.0),
        ("em", "adult", "general", 50.0, 30.0),
        ("knn", "wine", "general", 12.0, np.nan),
    )
    printed = pd.DataFrame(
        [("em", "wine", 22.0), ("em", "adult", 30.0), ("knn", "adult", 34.3)],
        columns=["method", "dataset", "printed"],
    )
    return table_data(measured, printed, ["wine", "adult"], ["em", "knn"])


def test_the_table_has_means_of_what_was_measured(data):
    rows = data.set_index(["method", "dataset"])
    assert rows.loc[("em", "mean"), ["mean", "printed", "difference"]].tolist() == [35, 26, 9]
    assert rows.loc[("knn", "mean"), "mean"] == 12
    assert np.isnan(rows.loc[("knn", "mean"), "difference"])
    assert np.isnan(rows.loc[("knn", "adult"), "mean"])


def test_a_mean_is_only_compared_with_the_mean_of_the_same_tables():
    measured = both(("em", "wine", "general", 20.0, 22.0), ("em", "adult", "general", 50.0, np.nan))
    printed = pd.DataFrame({"method": ["em"], "dataset": ["wine"], "printed": [22.0]})
    mean = table_data(measured, printed, ["wine", "adult"], ["em"]).iloc[-1]
    assert (mean["dataset"], mean["mean"]) == ("mean", 35.0)
    assert np.isnan(mean["printed"]) and np.isnan(mean["difference"])


def test_differences_have_a_sign_and_a_color(data):
    figure = table_figure(data, TITLES)
    heat, brackets = figure.data
    assert [list(row) for row in heat.text] == [
        ["20.0<br>▼2.0", "50.0<br>▲20", "35.0<br>▲9.0"],
        ["12.0<br>", "", "12.0<br>"],
    ]
    assert heat.z[0].tolist() == [-2, FULL_COLOR, 9]
    assert np.isnan(heat.z[1][1])
    assert list(brackets.text) == ["(34.3)"]
    assert (brackets.x[0], brackets.y[0]) == (1, 1)
    assert list(figure.layout.yaxis.ticktext) == ["EM &lt;b&gt;", "KNN"]
    assert "3 seeds, 442 rows" in heat.customdata[0][0]
    assert "&lt;b&gt;" in heat.customdata[0][0]


def test_without_results_the_printed_figures_are_there():
    printed = pd.DataFrame({"method": ["em"], "dataset": ["wine"], "printed": [17.4]})
    data = table_data(both(), printed, ["wine"], ["em", "knn"])
    heat, brackets = table_figure(data, TITLES).data
    assert np.isnan(heat.z.astype(float)).all()
    assert list(brackets.text) == ["(17.4)"]


@pytest.mark.parametrize(
    ("difference", "words"), [(9.96, "▲10"), (9.9, "▲9.9"), (-0.3, "▼0.3"), (-0.01, "=")]
)
def test_signs_need_no_color(difference, words):
    assert signed(difference) == words


def test_pairs_are_joined_where_both_are_known():
    pairs = pd.DataFrame(
        {
            "name": ["a", "<i>b"],
            "measured": [10.0, np.nan],
            "printed": [12.0, 8.0],
            "error": [1.0, np.nan],
        }
    )
    figure = pairs_figure(pairs, "accuracy", less_is_better=True)
    printed, measured = figure.data
    assert list(printed.x) == [12.0, 8.0]
    assert list(measured.error_x.array) == [1.0, 0.0]
    assert len(figure.layout.shapes) == 1
    assert figure.layout.xaxis.autorange == "reversed"
    assert list(figure.layout.yaxis.ticktext) == ["a", "&lt;i&gt;b"]
    assert printed.marker.symbol != measured.marker.symbol


def test_pairs_without_any_measurement_are_drawn():
    pairs = pd.DataFrame({"name": ["a"], "measured": [np.nan], "printed": [12.0]})
    assert len(pairs_figure(pairs, "accuracy").layout.shapes) == 0


def test_boxes_have_the_same_points():
    rows = both(
        ("em", "wine", "general", 20.0, 22.0),
        ("em", "adult", "general", 50.0, np.nan),
        ("knn", "wine", "general", 12.0, 14.0),
    )
    printed, measured = boxes_figure(rows, ["knn", "em"], TITLES, "accuracy").data
    assert list(printed.x) == [22.0, 14.0]
    assert list(measured.x) == [20.0, 12.0]
    assert list(measured.y) == [1, 0]
    assert list(measured.text) == ["wine, general"] * 2


def test_the_grid_marks_the_best_and_the_papers_choice():
    grid = pd.DataFrame(
        [(0.0, 0.5, 20.0), (0.05, 0.5, 22.0), (0.05, 0.3, 25.0)], columns=["a", "b", "mean"]
    )
    figure = grid_figure(grid, chosen=(0.05, 0.5))
    assert [list(row) for row in figure.data[0].text] == [["", "25.0 ●"], ["20.0", "22.0"]]
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.y0) == (0.51, 0.51)
    assert list(figure.layout.yaxis.ticktext) == ["0.3", "0.5"]
    assert not grid_figure(grid, chosen=(0.1, 0.5)).layout.shapes


def test_mechanisms_have_signs_of_their_own():
    means = pd.DataFrame(
        [("em", "MCAR", 30.0), ("em", "MNAR", 20.0), ("knn", "MAR", 25.0)],
        columns=["method", "mechanism", "mean"],
    )
    figure = mechanisms_figure(means, ["knn", "em"], TITLES)
    assert [trace.name for trace in figure.data] == ["MCAR", "MAR", "MNAR"]
    assert len({trace.marker.symbol for trace in figure.data}) == 3
    assert [list(trace.y) for trace in figure.data] == [[1], [0], [1]]


MIXING = pd.DataFrame(
    [
        ("mixer", 1.0, "x", 0.5, 1.5),
        ("mixer", 1.0, "y", 1.5, 1.0),
        ("transformer", 1.0, "x", 0.5, 0.6),
    ],
    columns=["architecture", "block", "column", "before", "after"],
)


def test_mixing_is_measured_by_the_change_of_columns():
    change = mixing_change(MIXING).set_index("architecture")["change"]
    assert change["mixer"] == 0.75
    assert change["transformer"] == pytest.approx(0.1)
    attention, mlp = mixing_change_figure(mixing_change(MIXING)).data
    assert (attention.name, mlp.name) == ("attention", "MLP")
    assert attention.line.dash != mlp.line.dash
    assert list(mlp.y) == [0.75]


def test_columns_are_drawn_before_and_after():
    before, after = mixing_columns_figure(MIXING[MIXING["architecture"] == "mixer"]).data
    assert list(before.x) == [0.5, 1.5]
    assert list(after.x) == [1.5, 1.0]
