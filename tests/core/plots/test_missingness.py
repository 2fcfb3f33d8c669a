import json

import numpy as np
import pandas as pd
import pytest

from pmae_core.colors import IMPUTED, MISSING, OBSERVED
from pmae_core.missingness import (
    MissingBlock,
    bin_nullity,
    cluster_columns,
    compare_distributions,
    compare_rows,
    correlate_nullity,
    dropping_path,
    dropping_shift,
    find_blocks,
    find_patterns,
    measure_flux,
)
from pmae_core.plots import missingness as figures
from pmae_core.plots.missingness.patterns import MOST_LINES
from pmae_core.table import Schema
from pmae_core.words import decimals

MARKUP = "<b>age</b>"


def table(missing, columns=None):
    cells = np.asarray(missing, dtype=bool)
    names = columns or list("abcdefgh")[: cells.shape[1]]
    return pd.DataFrame(np.where(cells, np.nan, 1.0), columns=names)


def single(df):
    """Return each column as a block of its own."""
    return [MissingBlock.of(df, [name]) for name in df.columns]


@pytest.fixture
def df():
    return table([[0, 1, 0], [0, 1, 1], [0, 0, 0], [0, 1, 0]])


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=80),
            "town": rng.choice(["Ulm", "Bonn"], size=80),
            "day": pd.date_range("2024-01-01", periods=80),
            MARKUP: rng.normal(size=80),
        }
    )
    frame[MARKUP] = frame[MARKUP].mask(frame["x"] > 0.5)
    return frame


def test_bars_of_columns_add_up_to_one(df):
    figure = figures.columns_figure(single(df))
    observed, missing = figure.data
    assert list(observed.x) == [1, 0.25, 0.75]
    assert list(missing.x) == [0, 0.75, 0.25]
    assert (observed.marker.color, missing.marker.color) == (OBSERVED, MISSING)
    assert list(figure.layout.yaxis.ticktext) == ["a", "b", "c"]


def test_columns_missing_together_are_one_bar_that_names_them():
    df = table([[1, 1, 0], [0, 0, 0]])
    figure = figures.columns_figure(find_blocks(df))
    assert list(figure.layout.yaxis.ticktext) == ["a + 1 other", "c"]
    assert figure.data[1].customdata[0].tolist() == ["a<br>b", "2 missing cells"]


def test_matrix_has_a_line_per_block_in_the_order_given(df):
    blocks = [MissingBlock.of(df, ["c"]), MissingBlock.of(df, ["a", "b"])]
    figure = figures.matrix_figure(bin_nullity(df), blocks)
    heatmap = figure.data[-1]
    assert heatmap.z.tolist() == [[0, 1, 0, 0], [0.5, 0.5, 0, 0.5]]
    assert list(figure.layout.yaxis.ticktext) == ["c", "a + 1 other"]
    assert list(heatmap.x) == ["row 1", "row 2", "row 3", "row 4"]


def test_rows_of_a_bin_are_named():
    df = table(np.zeros((2000, 1)))
    heatmap = figures.matrix_figure(bin_nullity(df, max_bins=2), single(df)).data[-1]
    assert list(heatmap.x) == ["rows 1 to 1,000", "rows 1,001 to 2,000"]


def test_names_that_look_alike_stay_apart():
    names = ["x" * 100 + "1" + "x" * 100, "x" * 100 + "2" + "x" * 100]
    df = table([[0, 1]], names)
    heatmap = figures.matrix_figure(bin_nullity(df), single(df)).data[-1]
    assert len(set(heatmap.y)) == 2


def test_correlation_is_drawn_once_for_each_pair():
    df = table([[1, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]])
    correlation = correlate_nullity(df)
    heatmap, weak, strong = figures.correlation_figure(correlation.to_numpy(), single(df)).data
    assert heatmap.z.shape == (2, 2)
    assert heatmap.z[0, 0] == pytest.approx(correlation.loc["b", "a"])
    assert np.isnan(heatmap.z[0, 1])
    assert sorted([*weak.text, *strong.text]) == sorted(
        decimals(correlation.loc[pair]) for pair in (("b", "a"), ("c", "a"), ("c", "b"))
    )
    assert strong.text == ("0.58", "−0.58")
    assert strong.textfont.color == "white" and weak.textfont.color is None


def test_dendrogram_has_a_bracket_for_each_join_and_a_point_for_each_leaf(df):
    tree = cluster_columns(df)
    lines, leaves = figures.dendrogram_figure(tree).data
    assert lines.x.count(None) == len(tree.joins) == 2
    assert max(x for x in lines.x if x is not None) == pytest.approx(tree.joins["height"].max())
    assert list(leaves.marker.color) == list(tree.share_missing)


@pytest.mark.parametrize(
    ("group", "share", "label"),
    [
        (("age",), 0.0, "age"),
        (("a", "b"), 0.0, "2 complete columns"),
        (("a", "b", "c"), 1.0, "3 columns without values"),
        (("a", "b", "c"), 0.5, "a + 2 others"),
        (("a", "b"), None, "a + 1 other"),
        ((MARKUP,), 0.5, "&lt;b&gt;age&lt;/b&gt;"),
    ],
)
def test_leaves_are_named(group, share, label):
    assert figures.group_label(group, share) == label


def test_patterns_are_bars_with_points_below(df):
    figure = figures.patterns_figure(find_patterns(df), slice(0, 15))
    bars, stems, observed, missing = figure.data
    assert list(bars.y) == [2, 1, 1]
    assert list(bars.text) == ["50%", "25%", "25%"]
    assert list(bars.marker.color) == [MISSING, MISSING, OBSERVED]
    # Patterns: b alone, b and c, nothing. Rows below: b, c.
    assert list(zip(missing.x, missing.y, strict=True)) == [(0, 0), (1, 0), (1, 1)]
    assert len(observed.x) == 3
    assert list(stems.x) == [1, 1, None]
    assert list(figure.layout.yaxis2.ticktext) == ["b", "c"]


def test_rare_patterns_are_not_rounded_to_nothing():
    cells = np.zeros((300, 2))
    cells[0, 0] = 1
    bars = figures.patterns_figure(find_patterns(table(cells)), slice(0, 15)).data[0]
    assert list(bars.text) == ["&gt;99%", "&lt;1%"]


def test_columns_that_the_drawn_patterns_miss_alike_share_a_line():
    patterns = find_patterns(table([[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]]))
    groups, cells = figures.pattern_lines(patterns, slice(0, 1))
    assert (groups, cells.tolist()) == ([("a", "b")], [[True]])
    groups, _ = figures.pattern_lines(patterns, slice(0, 3))
    assert groups == [("a",), ("b",), ("c",)]
    groups, _ = figures.pattern_lines(patterns, slice(0, 3), ["c", "b"])
    assert groups == [("b",), ("c",)]


def test_no_column_of_the_drawn_patterns_is_left_out():
    cells = np.random.default_rng(0).random((200, 60)) < 0.5
    patterns = find_patterns(table(cells, [f"c{i}" for i in range(60)]))
    groups, drawn = figures.pattern_lines(patterns, slice(15, 30))
    assert len(groups) == MOST_LINES
    assert sorted(name for group in groups for name in group) == sorted(patterns.columns)
    assert drawn.shape == (15, MOST_LINES)
    figure = figures.patterns_figure(patterns, slice(15, 30))
    assert list(figure.data[0].y) == list(patterns.counts[15:30])


def test_patterns_of_a_complete_table_have_one_bar():
    patterns = find_patterns(table(np.zeros((3, 2))))
    assert list(figures.patterns_figure(patterns, slice(0, 15)).data[0].y) == [3]


def test_a_window_onto_a_long_tree_shows_some_leaves():
    df = table(np.random.default_rng(0).random((50, 8)) < 0.5)
    tree = cluster_columns(df)
    whole = figures.dendrogram_figure(tree)
    window = figures.dendrogram_figure(tree, range(2, 5))
    assert list(window.layout.yaxis.range) == [4.6, 1.4]
    assert window.layout.height < whole.layout.height
    assert list(window.layout.yaxis.ticktext) == list(whole.layout.yaxis.ticktext)


def test_labels_of_close_points_lie_on_their_outer_sides_and_inner_ones_have_none():
    names = ["complete", "left", "right", "between", "alone"]
    flux = pd.DataFrame(
        {
            "influx": [0.0, 0.30, 0.40, 0.35, 0.32],
            "outflux": [1.0, 0.70, 0.72, 0.71, 0.4],
            "p_obs": 0.8,
        },
        index=names,
    )

    (points,) = figures.flux_figure(flux).data

    sides = dict(zip((text.strip() for text in points.text), points.textposition, strict=True))
    assert [sides[label] for label in sides if label.startswith("complete")] == ["middle right"]
    assert sides["left"] == "middle left"
    assert sides["right"] == sides["alone"] == "middle right"
    assert "between" not in sides


def test_columns_with_equal_flux_share_a_point():
    df = table([[0, 0, 1, 0], [0, 0, 0, 1]])
    flux = measure_flux(df)
    (points,) = figures.flux_figure(flux).data
    assert list(points.x) == [0, pytest.approx(1 / 2)]
    assert points.customdata[0][0] == "a<br>b"
    assert points.text[0].strip() == "2 complete columns"


def test_effects_are_drawn_by_kind_with_what_chance_does(mixed):
    compared = compare_rows(mixed, MARKUP)
    figure = figures.differences_figure(compared)
    chance, effects, _, of_labels = figure.data
    numbers = compared[compared["kind"] == "numerical"]
    assert list(effects.x) == list(numbers["effect"])
    assert list(chance.base) == list(-numbers["by_chance"])
    assert list(chance.x) == list(2 * numbers["by_chance"])
    assert list(of_labels.x) == [compared.loc["town", "effect"]]
    assert figure.layout.xaxis2.range[0] == 0
    assert figure.layout.xaxis.range[0] <= -0.5


def test_effects_without_any_that_can_be_measured_are_an_empty_figure():
    df = pd.DataFrame({"x": [1.0, 1.0], "y": [1.0, None]})
    assert len(figures.differences_figure(compare_rows(df, "y")).data) == 0
    assert list(figures.shifts_figure(dropping_shift(df)).data[1].x) == [0, 0]


@pytest.mark.parametrize("other", ["x", "town", "day"])
def test_distributions_show_both_groups(mixed, other):
    compared = compare_distributions(mixed, MARKUP, other)
    figure = figures.distribution_figure(compared, column=MARKUP, other=other)
    observed, missing = figure.data
    assert sum(observed.y) == pytest.approx(1) and sum(missing.y) == pytest.approx(1)
    assert (observed.marker.color, missing.marker.color) == (OBSERVED, MISSING)
    assert observed.name.startswith("&lt;b&gt;age")
    assert all(isinstance(text, str) for text in figure.layout.xaxis.ticktext)


def test_whole_numbers_are_written_below_the_middle_of_their_bars():
    df = pd.DataFrame({"code": [1.0, 2.0, 2.0, 1.0], "y": [1.0, None, 1.0, None]})
    figure = figures.distribution_figure(
        compare_distributions(df, "y", "code", schema=Schema.infer(df, {"code": "numerical"})),
        column="y",
        other="code",
    )
    assert list(figure.data[0].x) == list(figure.layout.xaxis.tickvals) == [0, 1]
    assert list(figure.layout.xaxis.ticktext) == ["1", "2"]


def test_other_numbers_are_written_where_bars_meet():
    df = pd.DataFrame({"x": np.linspace(0.013, 0.987, 60), "y": [1.0, None] * 30})
    figure = figures.distribution_figure(compare_distributions(df, "y", "x"), column="y", other="x")
    assert figure.layout.xaxis.tickvals[0] == -0.5
    assert figure.layout.xaxis.ticktext[0] == "0"


def test_the_second_group_can_be_that_of_filled_cells(mixed):
    compared = compare_distributions(mixed, MARKUP, "town")
    figure = figures.distribution_figure(
        compared, column="x", other="x", second=("filled", IMPUTED)
    )
    assert figure.data[1].name.startswith("x filled (")
    assert figure.data[1].marker.color == IMPUTED


def test_dropping_shows_what_stays(df):
    path = dropping_path(df)
    figure = figures.dropping_figure(path, len(df))
    kept, dropped = figure.data
    assert list(kept.x) == [0.25, 0.75, 1]
    assert list(dropped.x) == [0.75, 0.25, 0]
    assert list(figure.layout.yaxis.ticktext) == ["all columns needed", "without b", "and c"]


def test_later_steps_of_dropping_are_named_as_such(df):
    figure = figures.dropping_figure(dropping_path(df).iloc[1:], len(df))
    assert list(figure.layout.yaxis.ticktext) == ["without b", "and c"]


def test_markup_in_names_stays_text():
    df = table([[0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 0]], [MARKUP, "<i>b</i>", "c"])
    patterns = find_patterns(df)
    drawn = [
        figures.columns_figure(single(df)),
        figures.matrix_figure(bin_nullity(df), single(df)),
        figures.correlation_figure(correlate_nullity(df).to_numpy(), single(df)),
        figures.dendrogram_figure(cluster_columns(df)),
        figures.patterns_figure(patterns, slice(0, 15)),
        figures.flux_figure(measure_flux(df)),
        figures.dropping_figure(dropping_path(df), len(df)),
    ]
    for figure in drawn:
        text = json.dumps(figure.to_plotly_json(), default=str)
        assert "<b>" not in text.replace("<br>", "") and "<i>" not in text
        assert "&lt;b&gt;age" in text
