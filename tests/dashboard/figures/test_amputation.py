import numpy as np
import pandas as pd
import pytest

from dashboard.figures.amputation import (
    MOST_CATEGORIES,
    MOST_COLUMNS,
    PICTURE_ROWS,
    chances_by_column,
    chances_by_column_figure,
    chances_figure,
    density_data,
    density_figure,
    missing_cells_figure,
    row_bands,
    rule_figure,
    value_shares,
    values_figure,
)
from pmae_core.colors import MISSING, OBSERVED

RNG = np.random.default_rng(0)


def staircase(n_rows=30):
    """Columns c, a, b lose 2, 1 and 0 thirds of the rows, nested, in a random order of rows."""
    draw = np.random.default_rng(1).permutation(n_rows) / n_rows
    return pd.DataFrame({"c": draw < 2 / 3, "a": draw < 1 / 3, "b": np.zeros(n_rows, dtype=bool)})


def test_sorted_missing_cells_show_the_staircase():
    picture = row_bands(staircase())

    assert picture.columns == ["b", "a", "c"]
    assert (np.diff(picture.share_missing, axis=0) >= 0).all()
    assert (np.diff(picture.share_missing, axis=1) >= 0).all()


def test_missing_cells_in_the_order_of_the_table():
    missing = staircase()

    picture = row_bands(missing, ordered=False)

    assert picture.columns == ["c", "a", "b"]
    assert picture.share_missing.tolist() == missing.astype(float).to_numpy().tolist()
    assert picture.rows_per_band == 1


def test_many_rows_are_drawn_in_bands_that_keep_the_share():
    missing = pd.DataFrame(RNG.random((10_000, 3)) < 0.3, columns=list("xyz"))

    picture = row_bands(missing)

    assert picture.share_missing.shape == (PICTURE_ROWS, 3)
    assert picture.rows_per_band == pytest.approx(10_000 / PICTURE_ROWS)
    assert picture.share_missing.mean() == pytest.approx(missing.to_numpy().mean(), abs=0.005)


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (500, 1)])
def test_tables_of_any_shape_are_drawn(shape):
    missing = pd.DataFrame(np.ones(shape, dtype=bool))

    figure = missing_cells_figure(row_bands(missing))

    assert (np.asarray(figure.data[0].z) == 1).all()
    assert figure.data[0].colorscale[0][1] == OBSERVED
    assert figure.data[0].colorscale[1][1] == MISSING


def test_chances_are_drawn_from_lowest_to_highest_beside_the_share_that_is_missing():
    chance = pd.DataFrame({"a": [0.0, 0.25, 0.5, 0.75, 1.0], "b": [0.3] * 5})
    missing = pd.DataFrame({"a": [False, False, True, True, True], "b": [True] + [False] * 4})

    data = chances_by_column(chance, missing, ["b", "a"])
    everything, _, mean, share = chances_by_column_figure(data).data

    assert data["column"].tolist() == ["b", "a"]
    assert list(mean.x) == pytest.approx([0.3, 0.5])
    assert list(share.x) == [0.2, 0.6]
    assert list(everything.x)[:2] == [0.3, 0.3]
    assert list(everything.x)[3:5] == [0.0, 1.0]


def test_of_very_many_columns_the_first_chances_are_drawn():
    chance = pd.DataFrame(np.full((4, 90), 0.5))

    data = chances_by_column(chance, chance > 0.5, list(chance.columns))

    assert len(chances_by_column_figure(data).data[-1].x) == MOST_COLUMNS


def drawn_weights(figure):
    """Return the weights in the cells, whichever layer they are in, and 0 where there is none."""
    layers = [np.array(trace.z, dtype=float) for trace in figure.data if trace.type == "heatmap"]
    return np.nansum(layers, axis=0)


def test_weights_are_drawn_with_their_sign_and_framed_where_they_are_the_own_ones():
    weights = pd.DataFrame({"x": [0.7, 0.0, 0.4], "y": [-0.2, 1.0, 0.0]}, index=["x", "y", "town"])
    own = np.array([[True, False], [False, True], [False, False]])

    figure = rule_figure(weights, np.array([True, True, False]), own, "y")

    assert drawn_weights(figure).tolist() == weights.to_numpy().tolist()
    none, by_direction, by_category = (
        np.isfinite(np.array(trace.z, dtype=float)) for trace in figure.data
    )
    assert none.tolist() == (weights == 0).to_numpy().tolist()
    assert by_direction.tolist() == [[True, True], [False, True], [False, False]]
    assert by_category.tolist() == [[False, False], [False, False], [True, False]]
    assert list(figure.data[1].text[0]) == ["0.70", "−0.20"]
    frames = [(shape.x0, shape.y0, shape.y1) for shape in figure.layout.shapes]
    assert frames == [(-0.5, -0.5, 0.5), (0.5, 0.5, 1.5), (0.5, -0.5, 2.5)]


def test_high_values_that_are_missing_more_often_have_the_color_of_missing():
    figure = rule_figure(
        pd.DataFrame({"x": [1.0]}, index=["y"]), np.array([True]), np.array([[False]])
    )

    signed = figure.data[1]
    assert signed.reversescale and signed.zmin == -signed.zmax
    assert signed.colorscale[0][1] in figure.layout.annotations[0].text.split("where high")[0]


def test_a_matrix_without_any_weight_is_drawn_without_a_legend():
    weights = pd.DataFrame(0.0, index=["x", "y"], columns=["x"])

    figure = rule_figure(weights, np.array([True, True]), np.zeros((2, 1), dtype=bool), "x")

    assert drawn_weights(figure).tolist() == [[0.0], [0.0]]
    assert not figure.layout.annotations


def curve(values, chances, rows="actual rows"):
    return pd.DataFrame({"rows": rows, "value": values, "chance": chances})


def test_chances_are_dots_for_actual_rows_and_lines_for_others():
    own = pd.concat([curve([1.0, 2.0], [0.2, 0.4]), curve([1.0, 2.0], [0.3, 0.3], "others low")])
    other = curve(["Ulm", "Bonn"], [0.1, 0.5])

    figure = chances_figure([("a", "number", own), ("town", "category", other)])
    dots, line, labels = figure.data

    assert (dots.mode, line.mode) == ("markers", "lines+markers")
    assert list(line.y) == [0.3, 0.3]
    assert (dots.xaxis, line.xaxis, labels.xaxis) == ("x", "x", "x2")
    assert list(labels.x) == [0, 1]
    assert figure.layout.xaxis2.ticktext == ("Ulm", "Bonn")
    # Both halves share the axis of chances, and each kind of rows is named once.
    assert figure.layout.yaxis2.matches == "y"
    assert [trace.name for trace in figure.data if trace.showlegend] == [
        "actual rows",
        "others low",
    ]


def test_chances_against_dates_have_an_axis_of_dates():
    figure = chances_figure([("visit", "time", curve([0.0, 365.0], [0.2, 0.3]))])

    assert pd.Timestamp(figure.data[0].x[-1]).year == 1971


def test_observed_and_removed_numbers_are_shares_of_their_group():
    values = np.concatenate([RNG.normal(0, 1, 900), RNG.normal(3, 1, 100)])
    missing = np.arange(1000) >= 900

    data = value_shares(values, missing, "number")

    assert data["observed"].sum() == pytest.approx(1)
    assert data["removed"].sum() == pytest.approx(1)
    center = (data["from"] + data["to"]) / 2
    assert (center * data["removed"]).sum() - (center * data["observed"]).sum() == pytest.approx(
        3, abs=0.4
    )


def test_few_values_have_a_bar_each():
    data = value_shares(
        np.array([1.0, 2.0, 4.0, 4.0]), np.array([False, False, True, True]), "number"
    )

    assert data["from"].tolist() == [0.5, 1.5, 3.0]
    assert data["observed"].tolist() == [0.5, 0.5, 0.0]
    assert data["removed"].tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("values", [np.array([]), np.array([7.0, 7.0])])
def test_no_value_or_one_value_can_be_drawn(values):
    data = value_shares(values, np.zeros(len(values), dtype=bool), "number")

    assert values_figure(data, "x", "number").to_json()
    assert chances_figure([("x", "number", curve(values, values))]).to_json()


def test_dates_are_drawn_on_an_axis_of_dates():
    days = np.array([0.0, 365.0, 730.0])

    figure = values_figure(value_shares(days, days > 400, "time"), "visit", "time")

    assert pd.Timestamp(figure.data[0].x[0]).year == 1969
    assert pd.Timestamp(figure.data[0].x[-1]).year == 1972


def test_rare_categories_are_joined():
    values = np.array([f"label {i}" for i in range(50)] + ["often"] * 50, dtype=object)

    data = value_shares(values, np.arange(100) % 2 == 0, "category")

    assert data["category"].iloc[0] == "often"
    assert data["category"].iloc[-1] == f"{51 - MOST_CATEGORIES} others"
    assert data[["observed", "removed"]].sum().tolist() == pytest.approx([1, 1])


def test_markup_in_names_is_text():
    values = np.array(["<i>x</i>", "y"], dtype=object)
    missing = np.array([True, False])

    figures = [
        values_figure(value_shares(values, missing, "category"), "<i>c</i>", "category"),
        chances_figure([("x", "category", curve(values, [0.1, 0.2]))]),
        rule_figure(
            pd.DataFrame({"<i>c</i>": [0.5]}, index=["<i>d</i>"]),
            np.array([True]),
            np.array([[False]]),
        ),
        missing_cells_figure(row_bands(pd.DataFrame({"<i>c</i>": missing}))),
    ]

    for figure in figures:
        assert "<i>" not in figure.to_json().replace("\\u003c", "<")


@pytest.mark.parametrize("p_obs", [[0.5], [0.0, 1.0], list(np.linspace(0.2, 0.8, 40))])
def test_the_density_has_area_one(p_obs):
    density = density_data(np.array(p_obs))

    area = np.trapezoid(density["density"], density["p_obs"])
    assert area == pytest.approx(1, abs=0.01)


def test_the_density_is_highest_where_the_columns_are():
    p_obs = pd.Series({"a": 0.3, "b": 0.31, "c": 0.9})

    density = density_data(p_obs.to_numpy())
    figure = density_figure(density, p_obs)

    assert density["p_obs"][density["density"].idxmax()] == pytest.approx(0.305, abs=0.05)
    assert list(figure.data[1].x) == [0.3, 0.31, 0.9]
    assert list(figure.data[1].customdata) == ["a", "b", "c"]
