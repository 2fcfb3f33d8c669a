"""Figures of an imputed table."""

import numpy as np
import pandas as pd
import pytest

from dashboard.figures.imputation import (
    COLUMN,
    IMPUTATIONS,
    SIMILAR,
    cell_data,
    cell_figure,
    delta_figure,
)
from pmae_core.colors import IMPUTED, OBSERVED
from pmae_core.explain import cell_details
from pmae_core.inference import tipping_point


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    frame = pd.DataFrame({"x": x, "y": 2 * x, "kind": np.where(x > 0, "a", "<b>")})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), "D")
    frame["took"] = pd.to_timedelta(np.arange(60), "h")
    frame.loc[::5, ["y", "kind", "day", "took"]] = None
    return frame


def details_of(table, column, imputations=()):
    values = {"y": 1.0, "kind": "a", "day": pd.Timestamp("2024-01-09")}
    values["took"] = pd.Timedelta("9h")
    imputed = table.fillna(values)
    several = [
        table.fillna({**values, "y": float(i), "kind": "<b>" if i else "a"}) for i in imputations
    ]
    return cell_details(table, 5, column, {"Mean": imputed, "<i>EM</i>": imputed}, several)


def trace(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


def test_every_value_known_about_a_number(table):
    data = cell_data(details_of(table, "y", imputations=range(5)))

    assert list(dict.fromkeys(data["source"])) == [
        "Mean",
        "<i>EM</i>",
        IMPUTATIONS,
        SIMILAR,
        COLUMN,
    ]
    assert data.loc[data["kind"] == "method", "value"].tolist() == [1.0, 1.0]
    assert data.loc[data["source"] == IMPUTATIONS, "share"].tolist() == [
        0.05,
        0.25,
        0.5,
        0.75,
        0.95,
    ]

    figure = cell_figure(data, "y")

    assert trace(figure, "a method").marker.color == IMPUTED
    assert trace(figure, "a similar row").marker.color == OBSERVED
    assert list(trace(figure, "90% of the imputations").x) == [0.0, 4.0]
    assert list(trace(figure, "50% of the imputations").x) == [1.0, 3.0]
    ends = trace(figure, "lowest to highest observed").x
    assert list(ends) == [table["y"].min(), table["y"].max()]
    assert figure.layout.yaxis.ticktext[1] == "&lt;i&gt;EM&lt;/i&gt;"


def test_categories_have_places_of_their_own(table):
    data = cell_data(details_of(table, "kind", imputations=range(4)))

    figure = cell_figure(data, "kind")

    assert list(figure.layout.xaxis.ticktext) == ["a", "&lt;b&gt;"]
    shares = trace(figure, "share of the imputations")
    assert list(shares.x) == [1, 0]
    assert shares.marker.size[0] > shares.marker.size[1]
    assert list(shares.customdata) == ["75% of the imputations", "25% of the imputations"]


@pytest.mark.parametrize(("column", "words"), [("day", "day"), ("took", "took, in seconds")])
def test_dates_and_spans_are_on_an_axis(table, column, words):
    figure = cell_figure(cell_data(details_of(table, column)), column)

    assert figure.layout.xaxis.title.text == words
    (value,) = set(trace(figure, "a method").x)
    assert value == (pd.Timestamp("2024-01-09") if column == "day" else 9 * 3600)


def test_without_imputations_there_is_no_spread(table):
    figure = cell_figure(cell_data(details_of(table, "y")), "y")

    assert "90% of the imputations" not in {trace.name for trace in figure.data}


def test_a_cell_of_which_nothing_is_known(table):
    table["empty"] = np.nan
    details = cell_details(table, 5, "empty", {"Mean": table})

    assert cell_data(details).empty


# What if


@pytest.fixture
def curve(table):
    imputed = table.fillna({"y": 1.0})
    return tipping_point(table, imputed, "y", ("mean", "y"), null=0.5)


def test_the_curve_with_its_tipping_points(curve):
    figure = delta_figure(curve, 0.4, "mean of y", "y")

    estimate = trace(figure, "estimate")
    assert list(estimate.x) == curve.table["delta"].tolist()
    assert list(estimate.y) == curve.table["estimate"].tolist()
    here = trace(figure, "your shift")
    row = curve.table.set_index("delta").loc[0.4]
    assert (here.x[0], here.y[0]) == (0.4, row["estimate"])
    assert here.error_y.array[0] == pytest.approx(row["high"] - row["estimate"])
    lines = [shape for shape in figure.layout.shapes if shape.x0 == shape.x1]
    tipping = [t for t in (curve.tipping_down, curve.tipping_up) if t is not None]
    assert tipping
    assert [line.x0 for line in lines] == tipping
    assert [shape.y0 for shape in figure.layout.shapes if shape.y0 == shape.y1] == [0.5]


def test_markup_in_a_column_stays_text(curve):
    figure = delta_figure(curve, 0.0, "mean of <b>", "<b>")

    assert "&lt;b&gt;" in figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text == "mean of &lt;b&gt;"
