import numpy as np
import pandas as pd
import pytest

from dashboard.figures.comparison import (
    MOST_CATEGORIES,
    MOST_COLUMNS,
    MOST_POINTS,
    confusion_data,
    confusion_figure,
    densities_figure,
    density_data,
    downstream_figure,
    forest_figure,
    is_category,
    skill_figure,
    truth_figure,
    truth_points,
)
from pmae_core.colors import IMPUTED, OBSERVED


def texts(axis):
    return list(axis.ticktext)


def test_winners_are_marked():
    skill = pd.DataFrame({"em": [0.5, -2.0], "knn": [0.48, np.nan]}, index=["x", "y"])
    winners = pd.DataFrame(
        {"best": ["em", None], "tied": [["knn"], []]}, index=["x", "y"], dtype=object
    )
    figure = skill_figure(skill, winners, {"em": "EM"})

    assert [list(row) for row in figure.data[0].text] == [["0.50 ●", "0.48 ○"], ["−2.00", ""]]
    assert np.nanmin(figure.data[0].z) == -1
    assert texts(figure.layout.xaxis) == ["EM", "knn"]


def test_a_skill_is_never_minus_zero():
    skill = pd.DataFrame({"em": [-0.001]}, index=["x"])
    winners = pd.DataFrame({"best": [None], "tied": [[]]}, index=["x"], dtype=object)

    assert skill_figure(skill, winners).data[0].text[0][0] == "0.00"


def test_of_very_many_columns_the_first_are_shown():
    skill = pd.DataFrame({"em": np.zeros(100)}, index=[f"c{i}" for i in range(100)])
    winners = pd.DataFrame({"best": [], "tied": []})
    assert len(skill_figure(skill, winners).data[0].z) == MOST_COLUMNS


def test_points_are_thinned_and_unfilled_cells_left_out():
    cells = truth_points({"truth": [1.0, None, 3.0], "imputed": [1.0, 2.0, 3.5]})
    assert cells["truth"].tolist() == [1.0, 3.0]
    many = truth_points({"truth": list(range(5000)), "imputed": list(range(5000))})
    assert len(many) <= MOST_POINTS


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [5.0, 5.0], []])
def test_numbers_are_drawn_in_any_shape(values):
    cells = truth_points({"truth": values, "imputed": values})
    figure = truth_figure(cells, "x")
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
    data = density_data(cells)
    assert data["truth"].sum() == pytest.approx(1.0 if values else 0.0)
    assert len(densities_figure(data, "x").data) == 2


def test_codes_are_drawn_in_the_middle_of_their_bars():
    cells = pd.DataFrame({"truth": [1, 1, 2, 2], "imputed": [1, 2, 2, 2]})

    data = density_data(cells)

    assert data[["from", "to"]].to_numpy().tolist() == [[0.5, 1.5], [1.5, 2.5]]
    assert data["truth"].tolist() == [0.5, 0.5]
    assert data["imputed"].tolist() == [0.25, 0.75]


def test_categories_are_drawn_by_what_they_were_filled_as():
    cells = pd.DataFrame({"truth": ["a", "a", "b"], "imputed": ["a", "b", "b"]})
    assert is_category({"truth": ["a"]}) and not is_category({"truth": [1.0]})
    data = confusion_data(cells).set_index(["truth", "imputed"])["share"]
    assert data["a", "a"] == data["a", "b"] == 0.5
    assert data["b", "b"] == 1.0
    right, wrong = confusion_figure(confusion_data(cells), "kind").data
    assert len(right.x) == 2 and len(wrong.x) == 1
    shares = density_data(cells)
    assert shares.loc[0, ["category", "truth"]].tolist() == ["a", pytest.approx(2 / 3)]
    assert {trace.type for trace in densities_figure(shares, "kind").data} == {"bar"}


def test_of_many_categories_the_frequent_ones_are_shown():
    labels = [f"c{i}" for i in range(50)]
    cells = pd.DataFrame({"truth": labels, "imputed": labels})
    assert confusion_data(cells)["truth"].nunique() == MOST_CATEGORIES
    assert len(density_data(cells)) == MOST_CATEGORIES


def test_a_forest_of_conclusions():
    rows = pd.DataFrame(
        {
            "method": ["complete cases", "true data", "em", "knn"],
            "kind": ["complete cases", "reference", "pooled", "single"],
            "estimate": [1.0, 1.2, 1.1, 0.9],
            "low": [0.5, 1.0, 0.8, 0.8],
            "high": [1.5, 1.4, 1.4, 1.0],
        }
    )
    figure = forest_figure(rows, "mean of <b>")

    assert texts(figure.layout.yaxis) == ["complete cases", "true data", "em", "knn"]
    truth, cases, pooled, single = figure.data
    assert cases.marker.symbol == "diamond-open"
    assert truth.marker.color == OBSERVED and pooled.marker.color == IMPUTED
    assert single.marker.symbol == "circle-open"
    assert list(pooled.error_x.array) == pytest.approx([0.3])
    assert {shape.x0 for shape in figure.layout.shapes} == {1.2}  # no line at the complete cases


def test_downstream_scores_best_first():
    scores = pd.DataFrame(
        {
            "method": ["a", "a", "b", "b", "true data"],
            "kind": ["method"] * 4 + ["reference"],
            "seed": [0, 1, 0, 1, 0],
            "metric": "auroc",
            "score": [0.6, 0.7, 0.8, 0.9, 0.95],
        }
    )
    figure = downstream_figure(scores)

    assert texts(figure.layout.yaxis) == ["true data", "b", "a"]
    assert list(figure.data[1].marker.color) == [OBSERVED, IMPUTED, IMPUTED]
    assert "ROC" in figure.layout.xaxis.title.text
