import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import TableError
from pmae_core.missingness import compare_distributions, compare_rows
from pmae_core.table import Schema


def test_standardized_mean_difference_of_the_textbook():
    df = pd.DataFrame({"x": [1.0, 2, 3, 5, 7, 9], "y": [0.0, 1, 2, None, None, None]})
    row = compare_rows(df, "y").loc["x"]
    # Means 2 and 7; variances 1 and 4.
    assert row["effect"] == pytest.approx(5 / np.sqrt(2.5))
    assert (row["mean_observed"], row["mean_missing"]) == (2, 7)
    assert row["by_chance"] == pytest.approx(1.959964 * np.sqrt(2 / 3))
    assert row["size"] == "large"


def test_cramers_v_against_scipy_in_a_large_table():
    contingency = pytest.importorskip("scipy.stats.contingency")
    rng = np.random.default_rng(0)
    labels = rng.choice(list("uvw"), size=50_000)
    y = np.where(rng.random(50_000) < np.where(labels == "u", 0.6, 0.2), np.nan, 1.0)
    df = pd.DataFrame({"label": labels, "y": y + rng.normal(size=50_000)})
    expected = contingency.association(pd.crosstab(np.isnan(y), labels).to_numpy(), "cramer")
    assert compare_rows(df, "y").loc["label", "effect"] == pytest.approx(expected, abs=1e-3)


def test_cramers_v_is_one_for_a_perfect_relation_and_near_zero_for_none():
    n = 400
    y = np.where(np.arange(n) % 2, np.nan, 1.0)
    many = [f"label {i // 2 % 40}" for i in range(n)]
    df = pd.DataFrame({"same": np.where(np.isnan(y), "no", "yes"), "none": many, "y": y})
    effects = compare_rows(df, "y")["effect"]
    assert effects["same"] == pytest.approx(1, abs=1e-9)
    # Without the correction, forty labels would look related by chance.
    assert effects["none"] == 0


def test_chance_stays_within_its_bounds_in_nineteen_of_twenty_tables():
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.normal(size=120), "label": rng.choice(list("uvwz"), size=120)})
    schema = Schema.infer(df.assign(y=1.0))
    beyond = []
    for _ in range(300):
        table = compare_rows(
            df.assign(y=np.where(rng.random(120) < 0.3, np.nan, 1.0)), "y", schema=schema
        )
        beyond.append(table["effect"].abs() > table["by_chance"])
    share = pd.DataFrame(beyond).mean()
    assert share.between(0.02, 0.085).all(), share


def test_columns_come_by_strength_and_in_words():
    rng = np.random.default_rng(1)
    n = 2000
    y = np.where(rng.random(n) < 0.5, np.nan, 1.0)
    away = np.isnan(y)
    df = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "shifted": rng.normal(size=n) + 0.6 * away,
            "label": np.where(rng.random(n) < np.where(away, 0.95, 0.05), "u", "v"),
            "y": y,
        }
    )
    table = compare_rows(df, "y")
    assert list(table.index) == ["label", "shifted", "noise"]
    assert table["size"].tolist() == ["large", "medium", "negligible"]
    assert table["kind"].tolist() == ["categorical", "numerical", "numerical"]


def test_dates_booleans_and_columns_without_values():
    df = pd.DataFrame(
        {
            "day": pd.date_range("2024-01-01", periods=6),
            "flag": [True, True, True, False, False, False],
            "empty": [np.nan] * 6,
            "constant": [1.0] * 6,
            "only_seen": [1.0, 2.0, 3.0, None, None, None],
            "y": [1.0, 2.0, 3.0, None, None, None],
        }
    )
    table = compare_rows(df, "y")
    assert table.loc["day", "effect"] == pytest.approx(3)
    assert np.isnan(table.loc["day", "mean_observed"])
    assert table.loc["flag", "effect"] == pytest.approx(1)
    for name in ("empty", "constant", "only_seen"):
        assert table.loc[name, "size"] == "not measurable"
        assert np.isnan(table.loc[name, "effect"])


def test_identifiers_and_ignored_columns_are_left_out():
    df = pd.DataFrame({"id": range(30), "x": range(30), "y": [1.0, None] * 15})
    schema = Schema.infer(df, {"x": "ignored", "id": "identifier"})
    assert compare_rows(df, "y", schema=schema).empty


@pytest.mark.parametrize(
    ("values", "sentence"), [([1.0, 2.0], "no missing cells"), ([np.nan] * 2, "no observed cells")]
)
def test_a_column_without_both_kinds_of_rows_is_refused(values, sentence):
    df = pd.DataFrame({"x": [1, 2], "y": values})
    with pytest.raises(TableError, match=sentence):
        compare_rows(df, "y")
    with pytest.raises(TableError, match=sentence):
        compare_distributions(df, "y", "x")


def test_an_unknown_column_is_refused():
    with pytest.raises(TableError, match="no column 'z'"):
        compare_rows(pd.DataFrame({"x": [1]}), "z")


def test_numbers_are_counted_in_common_bars():
    df = pd.DataFrame({"x": [0.0, 0.4, 1.0, 9.6, 10.0], "y": [1.0, 1.0, None, None, None]})
    compared = compare_distributions(df, "y", "x", n_bins=2)
    assert compared.edges.tolist() == [0, 5, 10]
    assert compared.share_observed.tolist() == [1, 0]
    assert compared.share_missing == pytest.approx([1 / 3, 2 / 3])
    assert (compared.n_observed, compared.n_missing) == (2, 3)
    assert compared.labels == ["0 to 5", "5 to 10"]
    assert not compared.clipped


def test_few_whole_numbers_have_a_bar_each():
    df = pd.DataFrame({"x": [1, 2, 2, 4], "y": [1.0, None, 1.0, None]})
    compared = compare_distributions(df, "y", "x")
    assert compared.edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert compared.share_missing.tolist() == [0, 0.5, 0, 0.5]
    assert compared.labels == ["1", "2", "3", "4"]


def test_bars_of_whole_numbers_hold_whole_numbers():
    df = pd.DataFrame({"x": [*range(18, 86), 86, 86, 86, 86], "y": [1.0, None] * 36})
    compared = compare_distributions(df, "y", "x", n_bins=30)
    assert compared.edges[:3].tolist() == [17.5, 20.5, 23.5]
    assert compared.labels[:2] == ["18 to 20", "21 to 23"]
    assert compared.edge_labels is None
    assert compared.edges[-1] > 86


def test_far_values_are_counted_in_the_last_bar():
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"x": rng.normal(size=1000), "y": np.where(np.arange(1000) % 2, 1, np.nan)})
    df.loc[0, "x"] = 1e9
    compared = compare_distributions(df, "y", "x")
    assert compared.clipped
    assert compared.edges[-1] < 10
    assert compared.share_missing.sum() == pytest.approx(1)


def test_a_constant_column_has_one_bar():
    df = pd.DataFrame({"x": [3.5] * 4, "y": [1.0, None] * 2})
    assert compare_distributions(df, "y", "x").edges.tolist() == [3.0, 4.0]


def test_dates_are_written_as_dates():
    df = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=11), "y": [1.0, None] * 5 + [1]})
    assert compare_distributions(df, "y", "day", n_bins=2).labels == [
        "2024-01-01 to 2024-01-06",
        "2024-01-06 to 2024-01-11",
    ]


def test_rare_labels_are_counted_together():
    labels = ["a"] * 5 + ["b"] * 4 + ["c"] * 2 + ["d"]
    df = pd.DataFrame({"label": labels, "y": [1.0, None] * 6})
    compared = compare_distributions(df, "y", "label", max_labels=3)
    assert compared.labels == ["a", "b", "(all others)"]
    assert compared.share_observed == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert compared.share_missing.sum() == pytest.approx(1)


def test_columns_without_usable_values_are_refused():
    df = pd.DataFrame({"empty": [None] * 4, "number": [np.nan] * 4, "y": [1.0, None] * 2})
    for name in ("empty", "number"):
        with pytest.raises(TableError, match=r"no (observed|finite) values"):
            compare_distributions(df, "y", name)
    schema = Schema.infer(df, {"number": "ignored"})
    with pytest.raises(TableError, match="is ignored"):
        compare_distributions(df, "y", "number", schema=schema)


def test_bars_end_at_round_numbers():
    values = np.linspace(0.013, 0.987, 60)
    df = pd.DataFrame({"x": values, "y": [1.0, None] * 30})
    compared = compare_distributions(df, "y", "x", n_bins=20)
    assert compared.edge_labels[:3] == ["0", "0.05", "0.1"]
    assert compared.edges[0] <= values.min() and compared.edges[-1] >= values.max()
    assert len(compared.labels) == 20


def test_numbers_too_close_for_round_ends():
    df = pd.DataFrame({"x": 1e17 + np.arange(40) * 16.0 + 0.5, "y": [1.0, None] * 20})
    schema = Schema.infer(df)
    assert compare_distributions(df, "y", "x", schema=schema).share_missing.sum() == pytest.approx(
        1
    )


def test_chance_leaves_the_bounds_of_all_columns_in_few_tables():
    n_wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        df = pd.DataFrame(rng.normal(size=(80, 15)), columns=[f"x{j}" for j in range(15)])
        df["y"] = np.where(rng.random(80) < 0.4, np.nan, 1.0)
        n_wrong += compare_rows(df, "y")["beyond_chance"].any()
    assert n_wrong <= 11


def test_levels_are_shown_in_their_order():
    df = pd.DataFrame({"size": ["large", "large", "small", "medium"], "y": [1.0, None, 2.0, 3.0]})
    schema = Schema.infer(df, {"size": "ordinal"})
    assert compare_distributions(df, "y", "size", schema=schema).labels == [
        *("small", "medium", "large")
    ]
    assert compare_rows(df, "y", schema=schema).loc["size", "kind"] == "categorical"
