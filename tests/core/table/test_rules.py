import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import SchemaError
from pmae_core.table import ColumnRules, Schema, TableEncoder
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.scaling import NUMERIC_SCALINGS


def people() -> pd.DataFrame:
    ages = [31.0, 45.0, None, 60.0, 999.0, 22.0]
    return pd.DataFrame({"age": ages, "town": ["Ulm", None, "Bonn", "Ulm", "Ulm", "Bonn"]})


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"lowest": 0}, "Give a mapping with lower, upper, whole, derived or levels"),
        (7, "The rules of column 'age' are 7"),
        ({"lower": "0"}, "lower limit of column 'age' must be a finite number, not '0'"),
        ({"upper": math.nan}, "must be a finite number, not nan"),
        ({"upper": True}, "must be a finite number, not True"),
        ({"lower": 3, "upper": 2}, "The lower limit 3 of column 'age' is above its upper limit 2"),
        ({"whole": 1}, "whole must be true, false or empty for column 'age', not 1"),
        ({"derived": "  "}, "expression of column 'age' must be text"),
        (
            {"levels": "abc"},
            "levels of column 'age' must be a list of labels or numbers, not 'abc'",
        ),
        ({"levels": [1, None]}, "must be a list of labels or numbers"),
        ({"levels": [1, {"no type": 2}]}, "must be a list of labels or numbers"),
        ({"levels": [1, 2, 1]}, "The levels of column 'age' name 1 more than once"),
        ({"levels": [1]}, "Column 'age' needs at least two levels, not 1"),
    ],
)
def test_rules_that_say_nothing_are_refused(rules, sentence):
    with pytest.raises(SchemaError, match=sentence):
        Schema.infer(people()).with_rules({"age": rules})


def test_a_rule_for_no_column_is_refused():
    with pytest.raises(SchemaError, match=r"A rule is given for 'weight', .* columns are 'age'"):
        Schema.infer(people()).with_rules({"weight": {"lower": 0}})


@pytest.mark.parametrize(
    ("column", "rules", "sentence"),
    [
        (["a", "b"], {"lower": 0}, "'x' has the role categorical. Remove its limits"),
        (pd.to_timedelta([1, 2], unit="D"), {"lower": 0}, "'x' holds durations"),
        ([1, 5], {"whole": False}, "can hold whole numbers only"),
        ([1.5, 5], {"lower": 0.2, "upper": 0.8, "whole": True}, "No whole number lies within"),
        ([1.0, 5], {"lower": 0.2, "upper": 0.8}, r"within the limits of column 'x' \(0.2 to 0.8\)"),
    ],
)
def test_rules_that_cannot_hold_in_a_column_are_refused(column, rules, sentence):
    frame = pd.DataFrame({"x": column})
    with pytest.raises(SchemaError, match=sentence):
        Schema.infer(frame, rules={"x": rules})
    schema = Schema.infer(frame).with_rules({"x": rules})
    with pytest.raises(SchemaError, match=sentence):
        TableEncoder(schema=schema).fit(frame)


def test_observed_values_that_break_rules_are_named_and_kept():
    frame = people()
    schema = Schema.infer(frame, rules={"age": {"upper": 120, "whole": True}})
    assert schema.rule_findings(frame) == [
        "1 observed value of 'age' lies outside its limits (at most 120), for example 999. "
        "It stays as it is; declare it missing if it is wrong."
    ]
    halves = pd.DataFrame({"x": [1.5, 2.5, 3, None]})
    (sentence,) = Schema.infer(halves, rules={"x": {"whole": True}}).rule_findings(halves)
    assert sentence.startswith("2 observed values of 'x' are not whole, for example 1.5. They stay")
    encoder = TableEncoder(schema=schema).fit(frame)
    imputed = encoder.decode(np.ones((6, 2)), frame)
    assert imputed["age"].tolist() == [31, 45, 120, 60, 999, 22]


def test_saved_rules_come_back_and_old_schemas_have_none():
    schema = Schema.infer(people(), rules={"age": {"lower": -1, "whole": False}})
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.rules == {"age": {"lower": -1.0, "whole": False}}
    assert "rules" not in Schema.infer(people()).to_json()
    assert not schema.with_rules({"age": {}}).rules
    with pytest.raises(SchemaError, match="The rules of column 'age'"):
        Schema.from_json(schema.to_json().replace('"lower"', '"least"'))


def test_a_saved_encoder_keeps_limits():
    frame = people()
    schema = Schema.infer(frame, rules={"age": {"upper": 50}})
    encoder = TableEncoder(schema=schema).fit(frame)
    loaded = TableEncoder.from_dict(encoder.to_dict())
    assert loaded.decode(np.ones((6, 2)), frame)["age"][2] == 50


def test_whole_numbers_are_declared_or_refused_whatever_was_observed():
    frame = pd.DataFrame({"x": [1.0, 2.0, 5.0, None]})
    values = np.full((4, 1), 0.4)
    for whole, expected in ((None, 3), (True, 3), (False, 2.6)):
        schema = Schema.infer(frame, rules={"x": ColumnRules(whole=whole)})
        encoder = TableEncoder(schema=schema, numeric="minmax").fit(frame)
        assert encoder.decode(values, frame)["x"][3] == pytest.approx(expected)


@pytest.mark.parametrize("dtype", ["float64", "Int64", "object"])
def test_a_constant_that_breaks_its_limit_is_imputed_with_the_limit(dtype):
    frame = pd.DataFrame({"x": pd.Series([7, 7, None], dtype=dtype)})
    encoder = TableEncoder(schema=Schema.infer(frame, rules={"x": {"upper": 5.5, "whole": True}}))
    imputed = encoder.fit(frame).decode(np.zeros((3, 0)), frame)["x"]
    assert imputed.tolist() == [7, 7, 5]


@pytest.mark.parametrize("numeric", NUMERIC_SCALINGS)
@settings(max_examples=50)
@given(
    seed=st.integers(0, 999),
    limits=st.tuples(st.floats(-2, 2), st.floats(-2, 2)).map(sorted),
    random=st.booleans(),
    decimals=st.sampled_from([0, 1, 8]),
)
def test_imputed_numbers_lie_within_their_limits(numeric, seed, limits, random, decimals):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=40).round(decimals)})
    frame[::2] = np.nan
    lower, upper = limits
    if decimals == 0:
        lower, upper = math.floor(lower), math.ceil(upper)
    schema = Schema.infer(frame, {"x": "numerical"}, {"x": {"lower": lower, "upper": upper}})
    encoder = TableEncoder(schema=schema, numeric=numeric).fit(frame)
    if len(encoder.columns_) == 0:
        return
    imputed = encoder.decode(rng.normal(0.5, 1, (40, 1)), frame, random=random)["x"]
    assert imputed[frame["x"].isna()].between(lower, upper).all()
    assert imputed[frame["x"].notna()].equals(frame["x"].dropna())


def test_random_imputations_do_not_pile_up_at_a_limit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1000)})
    frame[::2] = np.nan
    schema = Schema.infer(frame, rules={"x": {"lower": 0}})
    encoder = TableEncoder(schema=schema).fit(frame)
    values = rng.normal(0.5, 0.15, (1000, 1))
    at_limit = {
        random: (encoder.decode(values, frame, random=random)["x"] == 0).mean()
        for random in (False, True)
    }
    assert at_limit[False] > 0.2
    assert at_limit[True] < 0.01


def test_columns_without_limits_are_imputed_as_ever():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50)})
    frame[::2] = np.nan
    values = rng.normal(0.5, 1, (50, 1))
    plain = TableEncoder().fit(frame).decode(values, frame)
    wide = Schema.infer(frame, rules={"x": {"lower": -99, "upper": 99}})
    for schema in (None, wide):
        encoder = TableEncoder(schema=schema).fit(frame)
        pd.testing.assert_frame_equal(encoder.decode(values, frame, random=True), plain)


def test_bounds_of_whole_numbers_are_whole():
    assert NumberCells(True, "float", lower=0.5, upper=2.5).bounds == (1, 2)
    assert NumberCells(False, "float", lower=0.5).bounds == (0.5, math.inf)


def test_levels_may_be_declared_before_a_column_is_ordinal():
    frame = pd.DataFrame({"town": ["Ulm", None, "Bonn"]})
    with pytest.raises(SchemaError, match=r"not known: Ulm and Bonn\. Declare its levels"):
        Schema.infer(frame, {"town": "ordinal"})
    schema = Schema.infer(frame, rules={"town": {"levels": ["Ulm", "Bonn"]}})
    assert schema.with_roles({"town": "ordinal"}).with_levels(frame).rules == {
        "town": {"levels": ["Ulm", "Bonn"]}
    }


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"lower": 1}, "Limits and whole numbers are for numbers, .* role ordinal"),
        ({"derived": "x * 2"}, "'stage' is computed from others: its values are numbers"),
        ({"levels": [1, 2]}, "'stage' holds 1 value not among its levels: 3"),
    ],
)
def test_rules_that_an_ordinal_column_cannot_have(rules, sentence):
    frame = pd.DataFrame({"stage": [1, 2, 3], "x": [0.5, 1.0, 1.5]})
    with pytest.raises(SchemaError, match=sentence):
        Schema.infer(frame, {"stage": "ordinal"}, {"stage": rules})
