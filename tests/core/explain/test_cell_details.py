"""All that is known about one cell."""

import json

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import SchemaError, ScoringError
from pmae_core.explain import Neighborhood, cell_details
from pmae_core.table import load_dataset


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "x": [1.0, 2.0, 3.0, 4.0, 5.0],
            "y": [10.0, 20.0, np.nan, 40.0, 50.0],
            "town": ["Ulm", "Ulm", None, "Bonn", "Ulm"],
            "day": pd.to_datetime(["2024-01-01", None, None, "2024-01-04", "2024-01-05"]),
        },
        index=list("abcde"),
    )


@pytest.fixture
def fillings(frame) -> dict[str, pd.DataFrame]:
    values = {"y": 30.0, "town": "Ulm", "day": pd.Timestamp("2024-01-03")}
    return {"em": frame.fillna(values), "knn": frame.fillna(values), "naive": frame.copy()}


def test_values_facts_and_sentences_of_a_number(frame, fillings):
    draws = [frame.fillna({"y": float(k)}) for k in range(20, 41)]

    told = cell_details(frame, 2, "y", fillings, draws)

    assert (told.row, told.label, told.observed) == (2, "c", False)
    assert told.values == {"em": 30.0, "knn": 30.0, "naive": None}
    assert told.spread.n_draws == 21
    assert told.spread.quantiles == {0.05: 21.0, 0.25: 25.0, 0.5: 30.0, 0.75: 35.0, 0.95: 39.0}
    assert told.facts == pytest.approx(
        {
            "p_obs": 0.8,
            "n_observed": 4,
            "mean": 30.0,
            "sd": np.sqrt(250),
            "lowest": 10.0,
            "highest": 50.0,
        }
    )
    assert told.sentences == [
        "y of row c is missing; em and knn say 30, naive leaves it empty.",
        "Nine in ten of 21 draws lie between 21 and 39.",
        "The rows most like it have 20, 40, 10 and 50.",
        "Little is known here: only 4 other rows have a value of y.",
        "y is observed in 80 % of the rows, with a mean of 30 between 10 and 50.",
    ]


def test_categories_have_shares(frame, fillings):
    draws = [frame.fillna({"town": town}) for town in ["Ulm"] * 3 + ["Bonn"]]

    told = cell_details(frame, 2, "town", fillings, draws)

    assert told.spread.shares == {"Ulm": 0.75, "Bonn": 0.25}
    assert told.spread.sentence == "Of 4 draws: Ulm in 75 % and Bonn in 25 %."
    assert told.facts["mode"] == "Ulm"
    assert told.sentences[-1].endswith("most often Ulm (75 %).")


def test_dates_have_quantiles_that_were_drawn(frame, fillings):
    days = pd.to_datetime(["2024-01-02", "2024-01-03", "2024-01-04"])
    told = cell_details(frame, 2, "day", fillings, [frame.fillna({"day": day}) for day in days])

    assert told.spread.quantiles[0.5] == days[1]
    assert told.facts["highest"] == pd.Timestamp("2024-01-05")
    assert "em and knn say 2024-01-03" in told.sentences[0]


def test_draws_that_agree_and_cells_that_nobody_filled(frame):
    told = cell_details(frame, 2, "y", {}, [frame.fillna({"y": 30.0})] * 3)

    assert "no method has filled it yet" in told.sentences[0]
    assert told.spread.sentence == "All of 3 draws say 30."
    assert cell_details(frame, 2, "y", {}, [frame]).spread is None


def test_an_observed_cell_needs_no_method(frame, fillings):
    told = cell_details(frame, 0, "y", fillings, [frame])

    assert told.observed
    assert told.spread is None
    assert told.sentences[0] == "y of row a is observed: 10."
    assert "a" not in told.donors.index


def test_the_whole_story_is_json(frame, fillings):
    for column in frame:
        told = cell_details(frame, 2, column, fillings, [frame.ffill(), frame.bfill()])
        content = json.loads(json.dumps(told.to_dict(), allow_nan=False))
        assert content["sentences"] == told.sentences
        assert len(content["donors"]) == len(told.donors)
        assert content["support"]["level"] == told.support.level


def test_every_kind_of_cell_has_a_biography():
    frame = load_dataset("clinic").frame
    hood = Neighborhood(frame)
    for column in frame.columns[frame.isna().any()]:
        row = int(np.flatnonzero(frame[column].isna())[0])
        told = cell_details(frame, row, column, {}, neighborhood=hood)
        assert len(told.donors) == 5
        json.dumps(told.to_dict(), allow_nan=False)


def test_tables_and_cells_that_do_not_fit(frame, fillings):
    with pytest.raises(ScoringError, match="other rows"):
        cell_details(frame, 2, "y", {"em": fillings["em"].iloc[:3]})
    with pytest.raises(SchemaError, match="no column"):
        cell_details(frame, 2, "z", fillings)
