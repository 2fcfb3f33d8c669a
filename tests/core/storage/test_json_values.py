import datetime
import json
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.errors import SchemaError
from pmae_core.storage.json_values import (
    from_json_value,
    is_json_value,
    json_copy,
    to_json_value,
    without_nan,
)


def there_and_back(value):
    return from_json_value(json.loads(json.dumps(to_json_value(value))))


plain = st.one_of(
    st.text(),
    st.integers(),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
)


@given(st.one_of(plain, st.tuples(plain, plain)))
def test_every_known_value_comes_back_with_its_type(value):
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)
    assert is_json_value(value)


@pytest.mark.parametrize(
    "value",
    [
        pd.Timestamp("2024-02-29 12:00:00.123456789"),
        pd.Timestamp("2024-10-27 01:30", tz="UTC").tz_convert("Europe/Berlin"),
        pd.Timestamp("2024-01-01T00:00+05:30"),
        pd.Timestamp("3024-01-01").as_unit("s"),
        pd.Timedelta("3 days 00:00:00.000000001"),
        pd.Timedelta("90000 days").as_unit("s"),
        pd.Interval(0.5, 2.5, closed="left"),
        pd.Interval(pd.Timestamp("2024-01-01"), pd.Timestamp("2024-02-01")),
        datetime.datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")),
        Decimal("1.20"),
        float("inf"),
    ],
)
def test_times_intervals_and_decimals_come_back(value):
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)
    assert str(back) == str(value)


def test_numpy_scalars_become_python_values():
    assert there_and_back(np.int64(3)) == 3
    assert there_and_back(np.str_("a")) == "a"
    assert there_and_back(np.datetime64("2024-01-01")) == pd.Timestamp("2024-01-01")


def test_an_unknown_type_is_refused_with_a_sentence():
    assert not is_json_value(object())
    with pytest.raises(SchemaError, match="cannot be saved"):
        to_json_value(object())


def test_numbers_that_json_lacks_become_none():
    figures = {"a": float("nan"), "b": [np.float64("inf"), (1, np.int64(2))], 3: "three"}
    plain = without_nan(figures)
    assert plain == {"a": None, "b": [None, [1, 2]], "3": "three"}
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_a_json_copy_shares_nothing_with_its_source():
    source = {"a": [1, {"b": (2.5, None)}], "c": True}

    copied = json_copy(source, "params")
    source["a"][1]["b"] = 3

    assert copied == {"a": [1, {"b": [2.5, None]}], "c": True}


@pytest.mark.parametrize("value", [np.int64(3), np.nan, {1, 2}, b"x", {1: 2}])
def test_what_json_cannot_hold_is_refused_with_its_place(value):
    with pytest.raises(SchemaError, match=r"params\.a\[0\]"):
        json_copy({"a": [value]}, "params")
