"""Values that stand for missing ones."""

import pandas as pd
import pytest

from pmae_core.errors import TableError
from pmae_core.table.declaring import declare_missing

AGES = [41, 37, 52, 19, 88, 64, 23, 30]


def test_numbers_and_their_spelling_mean_the_same():
    frame = pd.DataFrame({"i": [1, -9], "f": [1.5, -9.0], "t": ["x", "-9"]})
    for sentinel in (-9, "-9", -9.0):
        assert declare_missing(frame, [sentinel]).isna().to_numpy().tolist() == [
            [False] * 3,
            [True] * 3,
        ]


def test_a_single_value_is_a_list_of_one():
    assert declare_missing(pd.DataFrame({"a": ["?", "??"]}), "?")["a"].isna().sum() == 1
    assert declare_missing(pd.DataFrame({"a": [1, 2]}), {"a": 2})["a"].isna().sum() == 1


def test_only_the_columns_of_a_mapping_change():
    frame = pd.DataFrame({"a": [1, -1], "b": [1, -1]})
    declared = declare_missing(frame, {"a": [-1]})
    assert declared["b"].equals(frame["b"])
    assert declared["a"].isna().tolist() == [False, True]


def test_an_unknown_column_is_named():
    with pytest.raises(TableError, match="'z'"):
        declare_missing(pd.DataFrame({"a": [1]}), {"z": [1]})


def test_truth_values_are_no_numbers():
    frame = pd.DataFrame({"a": [True, False], "b": [1, 0]})
    assert declare_missing(frame, [1]).isna().to_numpy().tolist() == [
        [False, True],
        [False, False],
    ]
    assert str(declare_missing(frame, [True])["a"].dtype) == "boolean"


def test_text_keeps_its_other_words_and_its_index():
    frame = pd.DataFrame({"a": ["NA", "?", "x"]}, index=[5, 6, 7])
    declared = declare_missing(frame, ["?"])
    assert declared["a"].tolist()[::2] == ["NA", "x"]
    assert declared.index.tolist() == [5, 6, 7]


def test_text_becomes_dates_and_truth_values():
    frame = pd.DataFrame({"d": ["2024-01-01", "?"], "b": ["true", "?"]}, index=[3, 4])
    declared = declare_missing(frame, ["?"])
    assert declared.loc[3, "d"] == pd.Timestamp("2024-01-01")
    assert str(declared["b"].dtype) == "boolean"


def test_dates_match_as_text_or_timestamp():
    frame = pd.DataFrame({"d": pd.to_datetime(["1900-01-01", "2024-01-01"])})
    for sentinel in ("1900-01-01", pd.Timestamp("1900-01-01")):
        assert declare_missing(frame, [sentinel])["d"].isna().tolist() == [True, False]
    aware = frame.apply(lambda column: column.dt.tz_localize("UTC"))
    assert declare_missing(aware, ["1900-01-01", "x", 5])["d"].isna().sum() == 1


def test_a_column_of_nothing_but_sentinels():
    assert declare_missing(pd.DataFrame({"a": ["?", "?"]}), ["?"])["a"].isna().all()


def test_large_integers_keep_every_digit():
    declared = declare_missing(pd.DataFrame({"a": [2**60 + 1, -9]}), [-9])
    assert declared["a"][0] == 2**60 + 1
