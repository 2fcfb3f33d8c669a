import numpy as np
import pandas as pd
import pytest

from dashboard.learn.own_table import FEWEST_ROWS, MOST_ROWS, own_columns
from pmae_core.table import Schema, load_dataset


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 300
    height = rng.normal(170, 8, n)
    weight = height - 100 + rng.normal(0, 8, n)
    weight[:40] = np.nan
    return pd.DataFrame(
        {
            "height": height,
            "weight": weight,
            "steps": pd.array(rng.integers(0, 9000, n), dtype="Int64"),
            "town": rng.choice(["a", "b"], n),
            "always_5": 5.0,
            "mostly_0": np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)),
            "rare": np.where(np.arange(n) < 60, rng.normal(size=n), np.nan),
            "grade": rng.integers(1, 4, n) + 0.5,
        }
    )


def columns_of(frame):
    return own_columns(frame, Schema.infer(frame).with_roles({"grade": "numerical"}))


def test_pairs_are_numerical_spread_out_and_observed_together(table):
    columns = columns_of(table)

    assert columns.outcomes() == ["height", "weight", "steps"]
    assert columns.predictors("weight") == ["height", "steps"]


def test_two_columns_that_are_never_observed_together_are_no_pair(table):
    n = len(table)
    frame = pd.DataFrame(
        {
            "first": table["height"].where(np.arange(n) < n / 2),
            "second": table["height"].where(np.arange(n) >= n / 2),
            "third": table["height"] + np.arange(n),
        }
    )
    columns = own_columns(frame, Schema.infer(frame))

    assert columns.predictors("first") == ["third"]


def test_the_first_pair_is_the_clearest_one_but_not_a_copy(table):
    frame = table.assign(height_in_inches=table["height"] / 2.54)
    columns = columns_of(frame)

    assert columns.first_outcome() in ("height", "weight", "height_in_inches")
    assert columns.first_predictor("weight") in ("height", "height_in_inches")
    assert columns.first_predictor("height") == "weight"


def test_copies_are_offered_where_there_is_nothing_else(table):
    frame = pd.DataFrame({"height": table["height"], "in_inches": table["height"] / 2.54})
    columns = own_columns(frame, Schema.infer(frame))

    assert columns.first_predictor(columns.first_outcome()) in ("height", "in_inches")


def test_rows_are_complete_and_in_the_table_s_own_units(table):
    rows = columns_of(table).rows("height", "weight")

    assert list(rows.columns) == ["height", "weight"]
    assert len(rows) == table[["height", "weight"]].notna().all(axis=1).sum()
    assert rows["height"].to_numpy() == pytest.approx(table["height"][40:].to_numpy())


def test_of_many_rows_the_same_sample_is_used_every_time():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(30_000, 2)), columns=["x", "y"])
    first, second = (own_columns(frame, Schema.infer(frame)).rows("x", "y") for _ in range(2))

    assert len(first) == MOST_ROWS
    assert first.equals(second)
    assert first["x"].isin(frame["x"]).all()


def test_infinite_cells_are_missing():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "y"])
    frame.loc[:9, "x"] = np.inf

    assert len(own_columns(frame, Schema.infer(frame)).rows("x", "y")) == 190


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"town": ["a", "b"] * 100}),
        pd.DataFrame({"x": np.random.default_rng(0).normal(size=200)}),
        pd.DataFrame(
            np.random.default_rng(0).normal(size=(FEWEST_ROWS - 1, 2)), columns=["x", "y"]
        ),
    ],
    ids=["no numbers", "one column", "few rows"],
)
def test_a_table_without_a_pair_has_no_outcome(frame):
    assert own_columns(frame, Schema.infer(frame)).outcomes() == []


@pytest.mark.parametrize("name", ["cirrhosis", "clinic", "penguins"])
def test_samples_have_pairs(name):
    dataset = load_dataset(name)
    columns = own_columns(dataset.frame, dataset.schema)
    outcome = columns.first_outcome()

    assert len(columns.rows(columns.first_predictor(outcome), outcome)) >= FEWEST_ROWS
