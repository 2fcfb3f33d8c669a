"""What is known about one cell."""

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
def imputed_by(frame) -> dict[str, pd.DataFrame]:
    values = {"y": 30.0, "town": "Ulm", "day": pd.Timestamp("2024-01-03")}
    return {"em": frame.fillna(values), "knn": frame.fillna(values), "naive": frame.copy()}


def test_values_facts_and_sentences_of_a_number(frame, imputed_by):
    imputations = [frame.fillna({"y": float(k)}) for k in range(20, 41)]

    details = cell_details(frame, 2, "y", imputed_by, imputations)

    assert (details.row, details.label, details.observed) == (2, "c", False)
    assert details.values == {"em": 30.0, "knn": 30.0, "naive": None}
    assert details.spread.n_imputations == 21
    assert details.spread.quantiles == {0.05: 21.0, 0.25: 25.0, 0.5: 30.0, 0.75: 35.0, 0.95: 39.0}
    assert details.facts == pytest.approx(
        {
            "p_obs": 0.8,
            "n_observed": 4,
            "mean": 30.0,
            "sd": np.sqrt(250),
            "lowest": 10.0,
            "highest": 50.0,
        }
    )
    assert details.sentences == [
        "y in row c is missing; em and knn impute 30, naive leaves it missing.",
        "About 90% of 21 imputations lie between 21 and 39.",
        "The most similar rows have 20, 40, 10 and 50.",
        "Little information here: y is observed in only 4 other rows.",
        "y is observed in 80% of the rows, with a mean of 30 and values from 10 to 50.",
    ]


def test_categories_have_shares(frame, imputed_by):
    imputations = [frame.fillna({"town": town}) for town in ["Ulm"] * 3 + ["Bonn"]]

    details = cell_details(frame, 2, "town", imputed_by, imputations)

    assert details.spread.shares == {"Ulm": 0.75, "Bonn": 0.25}
    assert details.spread.sentence == "The value is Ulm in 75% and Bonn in 25% of 4 imputations."
    assert details.facts["mode"] == "Ulm"
    assert details.sentences[-1].endswith("most often Ulm (75%).")


def test_dates_have_quantiles_that_were_imputed(frame, imputed_by):
    days = pd.to_datetime(["2024-01-02", "2024-01-03", "2024-01-04"])
    details = cell_details(
        frame, 2, "day", imputed_by, [frame.fillna({"day": day}) for day in days]
    )

    assert details.spread.quantiles[0.5] == days[1]
    assert details.facts["highest"] == pd.Timestamp("2024-01-05")
    assert "em and knn impute 2024-01-03" in details.sentences[0]


def test_imputations_that_agree_and_cells_not_imputed_yet(frame):
    details = cell_details(frame, 2, "y", {}, [frame.fillna({"y": 30.0})] * 3)

    assert "no method has imputed it yet" in details.sentences[0]
    assert details.spread.sentence == "The value is 30 in all 3 imputations."
    assert cell_details(frame, 2, "y", {}, [frame]).spread is None


def test_an_observed_cell_needs_no_method(frame, imputed_by):
    details = cell_details(frame, 0, "y", imputed_by, [frame])

    assert details.observed
    assert details.spread is None
    assert details.sentences[0] == "y in row a is observed: 10."
    assert "a" not in details.donors.index


def test_all_details_are_json(frame, imputed_by):
    for column in frame:
        details = cell_details(frame, 2, column, imputed_by, [frame.ffill(), frame.bfill()])
        content = json.loads(json.dumps(details.to_dict(), allow_nan=False))
        assert content["sentences"] == details.sentences
        assert len(content["donors"]) == len(details.donors)
        assert content["support"]["level"] == details.support.level


def test_every_kind_of_cell_has_details():
    frame = load_dataset("clinic").frame
    hood = Neighborhood(frame)
    for column in frame.columns[frame.isna().any()]:
        row = int(np.flatnonzero(frame[column].isna())[0])
        details = cell_details(frame, row, column, {}, neighborhood=hood)
        assert len(details.donors) == 5
        json.dumps(details.to_dict(), allow_nan=False)


def test_tables_and_cells_that_do_not_fit(frame, imputed_by):
    with pytest.raises(ScoringError, match="not have the same rows"):
        cell_details(frame, 2, "y", {"em": imputed_by["em"].iloc[:3]})
    with pytest.raises(SchemaError, match="no column"):
        cell_details(frame, 2, "z", imputed_by)
