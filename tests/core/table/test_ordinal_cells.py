import json

import numpy as np
import pandas as pd
import pytest

from pmae_core.table import Schema, TableEncoder
from pmae_core.table.encoded_columns import cells_from_dict
from pmae_core.table.ordinal_cells import OrdinalCells

COLUMNS = {
    "numbers": pd.Series([4, 1, None, 2], dtype="Int64"),
    "decimals": pd.Series([0.5, np.nan, 2.5, 1.0]),
    "text": pd.Series(["low", None, "high", "medium"]),
    "objects": pd.Series(["low", None, "high", "medium"], dtype=object),
    "ordered": pd.Series(pd.Categorical(["b", None, "a"], ["b", "c", "a"], ordered=True)),
    "categories": pd.Series(pd.Categorical(["low", None, "high"], ["high", "low"])),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_cells_become_ranks_and_come_back(name):
    series = COLUMNS[name]
    cells = cells_from_dict(json.loads(json.dumps(OrdinalCells.fit(series).to_dict())))
    ranks = cells.read(series)
    observed = series.notna().to_numpy()
    np.testing.assert_array_equal(np.isnan(ranks), ~observed)
    written = pd.Series(cells.write(ranks[observed], series), dtype=series.dtype)
    assert written.tolist() == series[observed].tolist()


def test_numbers_become_the_nearest_level():
    cells = OrdinalCells(("low", "medium", "high"))
    like = pd.Series(["low", None])
    assert list(cells.write(np.array([-3, 0.4, 0.6, 1.4, 9]), like)) == [
        *("low", "low", "medium", "medium", "high")
    ]


def test_a_category_column_gets_the_levels_that_it_lacks():
    cells = OrdinalCells.fit(COLUMNS["ordered"])
    ready = cells.ready(pd.Series(pd.Categorical(["a"], ["a"])))
    assert list(ready.cat.categories) == ["b", "c", "a"]


def test_a_value_that_is_no_level_is_not_read():
    assert np.isnan(OrdinalCells((1, 2)).read(pd.Series([1, 7]))).tolist() == [False, True]


@pytest.mark.parametrize("scaling", ["rank", "quantile", "standard", "minmax"])
def test_the_encoder_keeps_levels_through_json(scaling):
    frame = pd.DataFrame({"grade": ["c", "a", "b", None, "a", "c"] * 5, "x": np.arange(30.0)})
    levels = ["c", "b", "a"]
    schema = Schema.infer(frame, {"grade": "ordinal"}, {"grade": {"levels": levels}})
    assert Schema.from_json(schema.to_json()) == schema

    fitted = TableEncoder(schema=schema, numeric=scaling).fit(frame)
    encoder = TableEncoder.from_dict(json.loads(json.dumps(fitted.to_dict())))
    encoded = encoder.transform(frame)

    assert encoded.columns[0].kind == "numerical"
    scores = {grade: encoded.values[frame["grade"] == grade, 0][0] for grade in levels}
    assert scores["c"] < scores["b"] < scores["a"]
    decoded = encoder.decode(encoded.values, frame)
    pd.testing.assert_frame_equal(decoded.mask(frame.isna()), frame)
    assert set(decoded["grade"]) == set(levels)


def test_an_encoder_finds_levels_that_nobody_declared():
    frame = pd.DataFrame({"pain": ["mild", "severe", None, "none"]})
    encoder = TableEncoder(schema=Schema.infer(frame).with_roles({"pain": "ordinal"})).fit(frame)
    assert encoder.schema_["pain"].rules.levels == ("none", "mild", "severe")


def test_empty_and_constant_ordinal_columns_are_treated_as_such():
    frame = pd.DataFrame({"empty": [None, None], "same": ["much", None], "x": [1.0, 2.5]})
    schema = Schema.infer(frame, {"empty": "ordinal", "same": "ordinal"})
    encoder = TableEncoder(schema=Schema.from_json(schema.to_json())).fit(frame)
    decoded = encoder.decode(encoder.transform(frame).values, frame)
    assert decoded["same"].tolist() == ["much", "much"]
    assert decoded["empty"].isna().all()
