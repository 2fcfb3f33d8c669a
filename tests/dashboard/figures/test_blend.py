"""Figures of a blend."""

import pandas as pd
import pytest

from dashboard.figures.blend import (
    MOST_COLUMNS,
    columns_to_draw,
    member_shares_figure,
    shares_by_column,
)

SHARES = {
    "age": {"gaussian-ranks": 0.2, "gaussian-own-scale": 0.1, "trees": 0.3, "network": 0.4},
    "<b>": {"gaussian-ranks": 0.1, "gaussian-own-scale": 0.0, "trees": 0.9, "network": 0.0},
}


def test_one_bar_per_column_and_the_most_trees_on_top():
    figure = member_shares_figure(shares_by_column(SHARES))

    assert [trace.name for trace in figure.data] == [
        "trees",
        "network",
        "Gaussian of ranks",
        "Gaussian of values",
    ]
    assert list(figure.data[0].x) == [0.9, 0.3]
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;", "age"]
    assert sum(trace.x[1] for trace in figure.data) == pytest.approx(1)
    assert figure.layout.barmode == "stack"
    assert len({trace.marker.color for trace in figure.data}) == 4


def test_a_blend_without_network_has_no_bar_for_it():
    fast = {"x": {"gaussian-ranks": 0.5, "gaussian-own-scale": 0.2, "trees": 0.3}}

    figure = member_shares_figure(shares_by_column(fast))

    assert "network" not in [trace.name for trace in figure.data]


def test_of_a_wide_table_the_columns_with_most_missing_cells_are_drawn():
    names = [f"c{number}" for number in range(50)]
    shares = shares_by_column({name: {"trees": 0.6, "network": 0.4} for name in names})
    n_missing = pd.Series(range(50), index=names)

    drawn = columns_to_draw(shares, n_missing)

    assert list(drawn.index) == names[-MOST_COLUMNS:]
    assert member_shares_figure(drawn).layout.height < 800
    assert len(columns_to_draw(shares.iloc[:3], n_missing)) == 3
