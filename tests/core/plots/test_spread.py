"""How imputed cells vary between imputations."""

import pandas as pd
import pytest

from pmae_core.colors import IMPUTED, NEUTRAL
from pmae_core.errors import TableError
from pmae_core.plots.spread import spread_data, spread_figure


def imputed(*columns):
    return [pd.Series(list(values)) for values in columns]


def trace(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


NUMBERS = pd.Series([1.0, None, None, 3.0], name="x")
LABELS = pd.Series(["a", None, None, "b"], name="<b>x</b>")


def test_cells_are_ordered_by_their_median():
    data = spread_data(NUMBERS, imputed([1, 5, 2, 3], [1, 9, 2, 3], [1, 7, 2, 3]))

    assert data.index.tolist() == [2, 1]
    assert data.loc[1, [0.05, 0.5, 0.95]].tolist() == [5, 7, 9]
    assert data.loc[2].nunique() == 1


def test_categories_have_shares_the_most_frequent_first():
    data = spread_data(LABELS, imputed("aabb", "aaab", "aabb"))

    assert list(data.columns) == ["a", "b"]
    assert data.loc[1].tolist() == [1, 0]
    assert data.loc[2].tolist() == pytest.approx([1 / 3, 2 / 3])
    parts = spread_figure(data, LABELS, most=9).data
    assert [part.name for part in parts] == ["a", "b"]
    assert parts[0].marker.color == IMPUTED
    assert sum(part.y[0] for part in parts) == 1


def test_rare_categories_share_a_part():
    missing = pd.Series([None] * 6 + ["a"], dtype=object, name="x")
    data = spread_data(missing, [pd.Series(list("abcdefa"))])

    *_, others = spread_figure(data, missing, most=9).data

    assert (others.name, others.marker.color) == ("all others", NEUTRAL)
    assert sum(others.y) == 2


def test_the_band_is_the_middle_of_the_observed_values():
    observed = pd.Series([*range(101), None], dtype=float, name="<b>x</b>")
    data = spread_data(observed, [observed.fillna(50.0), observed.fillna(60.0)])

    figure = spread_figure(data, observed, most=9)

    assert set(trace(figure, "90% of the observed values").y) == {5.0, 95.0}
    assert figure.layout.yaxis.title.text == "&lt;b&gt;x&lt;/b&gt;"
    assert figure.layout.xaxis.title.text == "imputed cells"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pd.to_datetime(["2024-01-01", None, "2024-03-01"]), "x"),
        (pd.to_timedelta(["1h", None, "3h"]), "x, in seconds"),
    ],
)
def test_dates_and_spans_have_intervals(values, words):
    observed = pd.Series(values, name="x")
    data = spread_data(observed, [observed.ffill(), observed.bfill()])

    figure = spread_figure(data, observed, most=9)

    assert figure.layout.yaxis.title.text == words
    assert figure.to_json()


def test_rows_with_equal_labels_are_different_cells():
    twice = pd.Series([1.0, None, None], index=[0, 7, 7], name="x")
    data = spread_data(twice, [twice.fillna(2.0)])

    assert data.index.tolist() == [7, 7]


def test_cells_that_stay_missing_are_left_out():
    data = spread_data(NUMBERS, imputed([1, 5, None, 3]))

    assert data.index.tolist() == [1]
    with pytest.raises(TableError, match="have no values for column 'x'"):
        spread_data(NUMBERS, [NUMBERS])


@pytest.mark.parametrize("imputations", [[], [NUMBERS.iloc[1:]]])
def test_imputations_of_other_rows_are_refused(imputations):
    with pytest.raises(TableError, match="same rows"):
        spread_data(NUMBERS, imputations)


def test_a_complete_column_has_no_spread():
    with pytest.raises(TableError, match="no missing values"):
        spread_data(pd.Series([1.0], name="x"), imputed([1.0]))
