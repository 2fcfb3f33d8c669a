import datetime
import json
import os
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.errors import SchemaError
from pmae_core.table import ColumnSchema, Flag, Role, Schema, read_table


def infer_one(values, dtype=None, name="x"):
    return Schema.infer(pd.DataFrame({name: pd.Series(values, dtype=dtype)})).columns[0]


@pytest.mark.parametrize(
    ("values", "dtype", "role", "integer"),
    [
        ([1, 2, 2], "int64", Role.NUMERICAL, True),
        ([1.0, 2.0, np.nan], "float64", Role.NUMERICAL, True),
        ([1.5, 2.0, np.nan], "float64", Role.NUMERICAL, False),
        ([1, None, 1], "Int8", Role.NUMERICAL, True),
        ([1.5, None], "Float64", Role.NUMERICAL, False),
        ([0, 1, 0], "int64", Role.BOOLEAN, True),
        ([0.0, 1.0, np.nan, 0.0], "float64", Role.BOOLEAN, True),
        ([0, 1], "int64", Role.NUMERICAL, True),
        ([1, 2] * 10, "int64", Role.CATEGORICAL, True),
        ([1, 2] * 9, "int64", Role.NUMERICAL, True),
        ([0.5, 2.5] * 10, "float64", Role.CATEGORICAL, False),
        ([0, 1, np.inf] * 10, "float64", Role.NUMERICAL, True),
        ([1, None, 3], pd.ArrowDtype(pa.int32()), Role.NUMERICAL, True),
        ([Decimal("1.5"), None], pd.ArrowDtype(pa.decimal128(5, 2)), Role.NUMERICAL, False),
        ([np.inf, 1.0], "float64", Role.NUMERICAL, True),
        ([1, 2.5, None], object, Role.NUMERICAL, False),
        ([Decimal("1.5"), 2], object, Role.NUMERICAL, False),
        ([True, False], "bool", Role.BOOLEAN, False),
        ([True, None], "boolean", Role.BOOLEAN, False),
        ([True, None], object, Role.BOOLEAN, False),
        (["a", "b", None], "str", Role.CATEGORICAL, False),
        (["a", "b", None], "string", Role.CATEGORICAL, False),
        (["a", "b", None], object, Role.CATEGORICAL, False),
        (["a", "b", None], "category", Role.CATEGORICAL, False),
        ([1, 2, None], "category", Role.CATEGORICAL, False),
        (["a", None], pd.ArrowDtype(pa.string()), Role.CATEGORICAL, False),
        (["2024-01-01", None], "datetime64[ns]", Role.DATETIME, False),
        (["2024-01-01", None], "datetime64[s, Europe/Berlin]", Role.DATETIME, False),
        ([datetime.date(2024, 1, 1), None], object, Role.DATETIME, False),
        ([datetime.datetime(2024, 1, 1), None], object, Role.DATETIME, False),
        ([datetime.date(2024, 1, 1), None], pd.ArrowDtype(pa.date32()), Role.DATETIME, False),
        ([pd.Timedelta("1h"), None], "timedelta64[ns]", Role.NUMERICAL, False),
        ([1 + 2j], "complex128", Role.IGNORED, False),
        ([[1], [2]], object, Role.IGNORED, False),
        ([b"a"], object, Role.IGNORED, False),
        ([pd.Period("2024-01")], None, Role.IGNORED, False),
    ],
)
def test_role_of_each_kind_of_column(values, dtype, role, integer):
    column = infer_one(values, dtype)
    assert (column.role, column.integer) == (role, integer)


def test_counts_and_dtype():
    column = infer_one(["a", "b", "a", None], "str")
    assert (column.dtype, column.n_rows, column.n_observed, column.n_unique) == ("str", 4, 3, 2)


@pytest.mark.parametrize(
    ("values", "dtype", "name", "expected"),
    [
        ([f"P-{i}" for i in range(20)], "str", "code", True),
        ([f"P-{i}" for i in range(19)], "str", "code", False),
        (["a"] * 2 + [str(i) for i in range(38)], "str", "code", True),
        (["a"] * 9 + [str(i) for i in range(31)], "str", "code", False),
        ([str(i) for i in range(40)], "category", "code", False),
        (range(5, 30), "int64", "seq", True),
        (list(range(5, 30))[::-1], "int64", "seq", True),
        (range(0, 50, 2), "int64", "even", False),
        (range(0, 50, 2), "int64", "customer_id", True),
        (range(0, 50, 2), "int64", "PassengerId", True),
        (range(0, 50, 2), "int64", "Unnamed: 0", True),
        (range(0, 50, 2), "int64", "paid", False),
        ([7, 9, None], "Int64", "id", True),
        ([7, 7, 9], "int64", "id", False),
        ([3], "int64", "id", False),
        ([1], "int64", "x", False),
        (np.arange(30.0), "float64", "id", False),
    ],
)
def test_identifiers(values, dtype, name, expected):
    column = infer_one(values, dtype, name)
    assert (column.role is Role.IDENTIFIER) == expected
    assert (Flag.IDENTIFIER in column.flags) == expected


FEW_NUMBERS = {
    "stage": ([1, 2, 3, 4], [5, 22, 38, 35], True),
    "status": ([0, 1, 2], [56, 6, 38], True),
    "passenger class": ([1, 2, 3], [24, 21, 55], True),
    "region": ([1, 2, 3, 4, 5, 6], [39, 9, 20, 10, 3, 19], True),
    "number of children": ([0, 1, 2, 3], [60, 25, 10, 5], False),
    "rating": ([1, 2, 3, 4, 5], [5, 10, 20, 40, 25], False),
    "rating that most agree with": ([1, 2, 3, 4, 5], [2, 3, 5, 20, 70], False),
    "visits": ([0, 1, 2, 3, 4, 5, 6], [50, 25, 12, 7, 4, 1, 1], False),
    "hours": (list(range(11)), [9] * 11, False),
    "year": ([2007, 2008, 2009], [35, 30, 35], False),
    "cylinders": ([4, 6, 8], [34, 22, 44], False),
    "change": ([-1, 0, 1], [30, 20, 50], False),
    "dose": ([0.5, 1, 2], [33, 33, 34], False),
}


@pytest.mark.parametrize("name", FEW_NUMBERS)
def test_few_whole_numbers_are_codes_unless_order_and_spread_say_amounts(name):
    numbers, counts, codes = FEW_NUMBERS[name]
    column = infer_one(np.repeat(numbers, counts), name=name)
    assert column.role is (Role.CATEGORICAL if codes else Role.NUMERICAL)
    assert column.flags == ((Flag.CODES,) if codes else ())


def test_too_few_cells_are_no_evidence_of_codes():
    assert infer_one([1, 2, 3] * 9).role is Role.NUMERICAL
    assert infer_one([1, 2, 3] * 10).role is Role.CATEGORICAL


def test_codes_are_easily_declared_amounts():
    frame = pd.DataFrame({"stage": [1, 2, 3, 4] * 20})
    schema = Schema.infer(frame, {"stage": "numerical"})
    assert schema.role("stage") is Role.NUMERICAL
    assert Schema.infer(frame).with_roles({"stage": "numerical"}) == schema


def test_roles_of_a_real_table():
    folder = os.environ.get("PMAE_DATA_DIR")
    if not folder or not (path := Path(folder) / "real" / "pbc.csv").exists():
        pytest.skip("needs real/pbc.csv in PMAE_DATA_DIR")
    schema = Schema.infer(read_table(path))
    assert {"trt", "status", "stage"} <= set(schema.names(Role.CATEGORICAL))
    assert {"ascites", "hepato", "spiders"} == set(schema.names(Role.BOOLEAN))
    assert {"time", "age", "edema", "bili", "platelet"} <= set(schema.names(Role.NUMERICAL))
    assert [column.name for column in schema if Flag.CODES in column.flags] == ["status", "stage"]


def test_flags():
    assert infer_one([3, 3, None], "Int64").flags == (Flag.CONSTANT,)
    assert infer_one([None, None], object).flags == (Flag.ALL_MISSING,)
    assert infer_one([np.nan, np.nan]).flags == (Flag.ALL_MISSING,)
    assert infer_one([1, "a", None], object).flags == (Flag.MIXED_TYPES,)
    many = [f"c{i}" for i in range(101)] * 2
    assert infer_one(many).flags == (Flag.HIGH_CARDINALITY,)
    assert infer_one(many[:100] * 2).flags == ()


def test_a_table_without_rows_or_columns_has_a_schema():
    assert len(Schema.infer(pd.DataFrame())) == 0
    empty = Schema.infer(pd.DataFrame({"x": pd.Series(dtype="float64")}))
    assert empty["x"].flags == (Flag.ALL_MISSING,)


def test_repeated_names_are_refused_by_name():
    df = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(SchemaError, match="More than one column is named 'a'"):
        Schema.infer(df)


def test_infer_does_not_change_the_table():
    df = pd.DataFrame({"a": [1, None], "b": ["x", None]}, index=[5, 5])
    before = df.copy()
    Schema.infer(df, {"a": "categorical"})
    pd.testing.assert_frame_equal(df, before)


class TestRoles:
    df = pd.DataFrame(
        {
            "text": ["a", "b", None],
            "digits": ["1", "2.5", None],
            "size": [1, 2, 3],
            "flag": [True, False, True],
            "when": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
            "wait": pd.to_timedelta([1, 2, None], unit="h"),
            "list": [[1], [2], [3]],
        }
    )

    @pytest.mark.parametrize(
        ("name", "role"),
        [
            ("digits", "numerical"),
            ("size", "categorical"),
            ("size", Role.IGNORED),
            ("text", "identifier"),
            ("text", "boolean"),
            ("when", "categorical"),
            ("wait", "numerical"),
        ],
    )
    def test_roles_that_fit(self, name, role):
        assert Schema.infer(self.df, {name: role}).role(name) == role

    @pytest.mark.parametrize(
        ("name", "role", "sentence"),
        [
            ("text", "numerical", "not all of its values are numbers"),
            ("flag", "numerical", "does not hold plain numbers"),
            ("when", "numerical", "does not hold plain numbers"),
            ("text", "datetime", "does not hold dates"),
            ("size", "datetime", "does not hold dates"),
            ("wait", "datetime", "durations, not dates"),
            ("size", "boolean", "3 different values"),
            ("list", "categorical", "cannot be categories"),
            ("size", "number", "There is no role 'number'. Choose numerical"),
            ("weight", "numerical", "no such column"),
        ],
    )
    def test_roles_that_do_not_fit(self, name, role, sentence):
        with pytest.raises(SchemaError, match=sentence):
            Schema.infer(self.df, {name: role})

    def test_with_roles_leaves_the_first_schema_as_it_was(self):
        schema = Schema.infer(self.df)
        changed = schema.with_roles({"size": "ignored"})
        assert schema.role("size") == Role.NUMERICAL
        assert changed.role("size") == Role.IGNORED
        assert changed.names(Role.IGNORED) == ["size", "list"]
        assert changed.names() == list(self.df)

    def test_an_unknown_name_is_a_sentence(self):
        with pytest.raises(SchemaError, match="no column 'nope'"):
            Schema.infer(self.df)["nope"]


names = st.one_of(
    st.text(), st.integers(), st.dates(), st.tuples(st.text(), st.integers()), st.booleans()
)
columns = st.builds(
    ColumnSchema,
    name=names,
    role=st.sampled_from(Role),
    dtype=st.text(),
    integer=st.booleans(),
    n_rows=st.integers(0),
    n_observed=st.integers(0),
    n_unique=st.integers(0),
    flags=st.lists(st.sampled_from(Flag)).map(tuple),
)


@given(st.lists(columns).map(tuple).map(Schema))
def test_json_round_trip_is_exact(schema):
    back = Schema.from_json(schema.to_json())
    assert back == schema
    assert [type(column.name) for column in back] == [type(column.name) for column in schema]
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_numbers_as_names_stay_numbers():
    df = pd.DataFrame({0: [1.5, 2.5], "0": ["a", "b"], "größe\n🐧": [1, 1]})
    schema = Schema.infer(df)
    back = Schema.from_json(schema.to_json())
    assert back == schema
    assert back.role(0) == Role.NUMERICAL
    assert back.role("0") == Role.CATEGORICAL


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"columns": [{"name": "a"}]}', "null"])
def test_other_json_is_refused_with_a_sentence(text):
    with pytest.raises(SchemaError, match="not a saved"):
        Schema.from_json(text)
