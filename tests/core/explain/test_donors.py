"""Donors: the rows most like a row, and whether they are like it at all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import SchemaError
from pmae_core.explain import Neighborhood, nearest_donors, support
from pmae_core.table import Schema, load_dataset


@pytest.fixture
def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [20.0, 21.0, 22.0, 70.0, 71.0],
            "town": ["Ulm", "Ulm", "Bonn", "Bonn", None],
            "income": [1000.0, np.nan, 1200.0, 3000.0, 3100.0],
        },
        index=list("abcde"),
    )


def test_distances_by_hand(people):
    donors = nearest_donors(people, 1, "income")

    # Ages are the ranks 0, 1/4, 2/4, 3/4, 1. Towns are half and half, so two random rows differ
    # with probability 1/2: that is how far the unknown town of e counts.
    assert donors.index.tolist() == ["a", "c", "e", "d"]
    assert donors["distance"].to_dict() == pytest.approx(
        {
            "a": (0.25 + 0) / 2,
            "c": (0.25 + 1) / 2,
            "d": (0.5 + 1) / 2,
            "e": (0.75 + 0.5) / 2,
        }
    )
    assert donors["value"].to_dict() == {"a": 1000.0, "c": 1200.0, "d": 3000.0, "e": 3100.0}
    assert donors["row"].to_dict() == {"a": 0, "c": 2, "d": 3, "e": 4}
    assert donors["n_shared"].to_dict() == {"a": 2, "c": 2, "d": 2, "e": 1}
    assert donors.loc["a", "agree"] == ["town"]
    assert donors.loc["a", "differ"] == ["age"]


def test_a_row_is_no_donor_of_itself_and_only_observed_rows_give(people):
    donors = nearest_donors(people, 0, "income", k=99)

    assert sorted(donors.index) == ["c", "d", "e"]


def test_k_limits_the_donors(people):
    assert nearest_donors(people, 1, "income", k=1).index.tolist() == ["a"]


def test_identifiers_ignored_and_constant_columns_count_for_nothing(people):
    with_noise = people.assign(id=[9, 1, 8, 2, 7], same="x", note=[[1], [2], [3], [4], [5]])

    pd.testing.assert_frame_equal(
        nearest_donors(with_noise, 1, "income"), nearest_donors(people, 1, "income")
    )


def test_dates_booleans_and_repeated_labels():
    table = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-06-01", None]),
            "member": pd.array([True, True, False, None], dtype="boolean"),
            "score": [1, 2, 3, 4],
            "plan": ["a", None, "b", "c"],
        },
        index=[7, 7, 7, 7],
    )

    donors = nearest_donors(table, 1, "plan")

    assert donors["value"].tolist()[0] == "a"
    assert set(donors["row"]) == {0, 2, 3}


@given(seed=st.integers(0, 1000), k=st.integers(1, 12))
@settings(max_examples=25)
def test_distances_are_shares_in_order(seed, k):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=30), "b": rng.integers(0, 3, 30).astype(str)})
    table["c"] = rng.normal(size=30)
    table = table.mask(rng.random(table.shape) < 0.3)

    donors = nearest_donors(table, 0, "c", k)

    assert len(donors) == min(k, table["c"].iloc[1:].notna().sum())
    assert donors["distance"].between(0, 1).all()
    assert donors["distance"].is_monotonic_increasing
    assert donors["value"].notna().all()


def test_a_twin_is_at_distance_nought():
    frame = load_dataset("clinic").frame
    twins = pd.concat([frame, frame.iloc[[3]]], ignore_index=True)
    twins["cholesterol"] = twins["cholesterol"].fillna(200)
    twins.loc[3, "cholesterol"] = pd.NA

    (twin,) = nearest_donors(twins, 3, "cholesterol", k=1).itertuples()

    assert (twin.row, twin.distance) == (len(twins) - 1, 0)


@pytest.fixture(scope="module")
def line() -> pd.DataFrame:
    """200 rows on a line in four dimensions."""
    rng = np.random.default_rng(0)
    t = rng.uniform(size=200)
    table = pd.DataFrame({f"x{j}": t + 0.02 * rng.normal(size=200) for j in range(5)})
    table.loc[0, "x4"] = np.nan
    return table


def test_an_ordinary_cell_has_good_support(line):
    found = support(line, 0, "x4")

    assert found.level == "good"
    assert "4 of 4 other cells" in found.sentence


def test_a_row_off_the_line_has_far_donors(line):
    odd = line.copy()
    odd.loc[0, ["x0", "x1", "x2", "x3"]] = [0.0, 1.0, 0.0, 1.0]

    found = support(odd, 0, "x4")

    assert found.level == "thin"
    assert "few similar rows (100% of rows have closer matches)" in found.sentence


def test_few_rows_are_called_thin_without_a_reason(line):
    hood = Neighborhood(line)

    levels = [hood.support(row, "x4").level for row in range(100)]

    assert levels.count("thin") <= 12


def test_an_almost_empty_row_is_thin_and_an_empty_one_has_none(line):
    wide = pd.concat([line, line.drop(columns="x4").add_prefix("y")], axis=1)
    wide.iloc[0, 1:] = np.nan
    assert "only 1 of the 8 other cells of this row are observed" in support(wide, 0, "x4").sentence

    wide.iloc[0, 0] = np.nan
    assert support(wide, 0, "x4").level == "none"


def test_a_column_with_few_or_no_values(line):
    few = line.copy()
    few.loc[10:, "x4"] = np.nan
    assert "x4 is observed in only 9 other rows" in support(few, 0, "x4").sentence

    few["x4"] = np.nan
    assert support(few, 0, "x4").level == "none"
    assert nearest_donors(few, 0, "x4").empty


def test_cells_that_are_not_there(line):
    with pytest.raises(SchemaError, match="no column 'x9'"):
        nearest_donors(line, 0, "x9")
    with pytest.raises(SchemaError, match="no row 200"):
        support(line, 200, "x4")


# Some rows of a large table


def test_among_some_rows_positions_stay_those_of_the_table(people):
    hood = Neighborhood(people, rows=[4, 1, 3])

    donors = hood.donors(1, "income")

    assert donors["row"].tolist() == [3, 4]
    assert donors.index.tolist() == ["d", "e"]
    assert donors["value"].tolist() == [3000.0, 3100.0]
    with pytest.raises(SchemaError, match="Row 0 is not among"):
        hood.donors(0, "income")
    with pytest.raises(SchemaError, match="no row 5"):
        hood.support(5, "income")


def test_a_column_that_is_empty_in_these_rows_counts_for_nothing(people):
    hood = Neighborhood(people.assign(late=[np.nan, np.nan, 1.0, 2.0, 3.0]), rows=[0, 1])

    donors = hood.donors(1, "income")

    assert donors["distance"].notna().all()
    assert donors["n_shared"].tolist() == [2]


def test_levels_are_near_if_they_are_neighbors_in_order():
    frame = pd.DataFrame({"pain": ["none", "mild", "severe"] * 4, "x": [1.0, 2.0, 3.0] * 4})
    frame.loc[1, "x"] = np.nan
    frame.loc[0, "x"] = np.nan
    schema = Schema.infer(frame, {"pain": "ordinal", "x": "numerical"})
    donors = nearest_donors(frame, 0, "x", k=11, schema=schema)
    distances = donors.groupby(frame["pain"].loc[donors.index])["distance"].mean()
    assert distances["none"] < distances["mild"] < distances["severe"]
