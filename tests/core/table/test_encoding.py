import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import ImputationError, SchemaError
from pmae_core.imputers import make_imputer
from pmae_core.table import (
    EncodedColumn,
    NotLearned,
    Role,
    Schema,
    TableEncoder,
    scalar_values,
    values_from_scalars,
)
from pmae_core.table.scaling import NUMERIC_SCALINGS

whole = st.integers(-(10**6), 10**6)
real = st.floats(-1e6, 1e6, allow_subnormal=False, width=32)
word = st.sampled_from(["a", "b", "c", "", "ü", "no"])
moment = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))
day = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
duration = st.timedeltas(datetime.timedelta(days=-999), datetime.timedelta(days=999))
money = st.decimals(-999, 999, places=2)

# What a column may hold -> (cells, dtype). All of these dtypes can hold a missing cell.
KINDS = {
    "float64": (real, "float64"),
    "float32": (real, "float32"),
    "whole float": (whole, "float64"),
    "Int64": (whole, "Int64"),
    "Float64": (real, "Float64"),
    "arrow int": (whole, pd.ArrowDtype(pa.int32())),
    "arrow decimal": (money, pd.ArrowDtype(pa.decimal128(9, 2))),
    "object int": (whole, object),
    "object float": (real, object),
    "object decimal": (money, object),
    "boolean": (st.booleans(), "boolean"),
    "object bool": (st.booleans(), object),
    "arrow bool": (st.booleans(), pd.ArrowDtype(pa.bool_())),
    "str": (word, "str"),
    "string": (word, "string"),
    "object text": (word, object),
    "arrow text": (word, pd.ArrowDtype(pa.string())),
    "arrow dictionary": (word, pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "category": (word, pd.CategoricalDtype(["c", "no", "b", "", "z", "a", "ü"])),
    "ordered": (word, pd.CategoricalDtype(["c", "no", "b", "", "z", "a", "ü"], ordered=True)),
    "mixed": (st.sampled_from(["a", 2, datetime.date(2024, 1, 1)]), object),
    "datetime": (moment, "datetime64[us]"),
    "zoned": (moment, "datetime64[us, America/New_York]"),
    "days": (day, "datetime64[s]"),
    "arrow date": (day, pd.ArrowDtype(pa.date32())),
    "object date": (day, object),
    "object datetime": (moment, object),
    "timedelta": (duration, "timedelta64[us]"),
    "arrow duration": (duration, pd.ArrowDtype(pa.duration("us"))),
}


def column(values, dtype):
    if "dictionary" in str(dtype):
        return pd.Series(values, dtype=pd.ArrowDtype(pa.string())).astype(dtype)
    if "America" in str(dtype):
        return pd.Series(values, dtype="datetime64[us]").dt.tz_localize("UTC").astype(dtype)
    return pd.Series(values, dtype=dtype)


@st.composite
def tables(draw):
    """Tables of a few columns of any kind, each cell missing now and then."""
    n_rows = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True))
    columns = {}
    for kind in kinds:
        cells, dtype = KINDS[kind]
        cells = st.one_of(st.none(), cells, cells, cells)
        values = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
        columns[kind] = column(values, dtype)
    return pd.DataFrame(columns)


def without_cells(df):
    """Return the table with all cells missing and the same dtypes."""
    return df.iloc[:0].reindex(df.index).astype(df.dtypes)


def assert_cells_equal(left, right):
    """Compare columns cell by cell: value, type and dtype."""
    pd.testing.assert_series_equal(left, right, check_exact=True)
    if left.dtype == "object":
        assert list(map(type, left)) == list(map(type, right))


def encoder_for(df, **settings):
    """Return a fitted encoder that groups no categories, so each can come back."""
    return TableEncoder(min_category_count=1, **settings).fit(df)


@given(tables())
@settings(max_examples=300)
def test_what_is_encoded_comes_back(df):
    encoder = encoder_for(df)
    encoded = encoder.transform(df)
    back = encoder.decode(encoded.values, without_cells(df))
    for j, encoded_column in enumerate(encoder.columns_):
        name = encoded_column.name
        seen = encoded.observed[:, j]
        np.testing.assert_array_equal(seen, df[name].notna())
        assert_cells_equal(back[name][seen], df[name][seen])


def test_whole_and_other_numbers_in_one_object_column_come_back_as_floats():
    df = pd.DataFrame({"x": pd.Series([None, 2, 2.5], dtype=object)})
    encoder = encoder_for(df)
    back = encoder.decode(encoder.transform(df).values, without_cells(df))
    assert [type(cell) for cell in back["x"]] == [float, float, float]
    assert back["x"].tolist()[1:] == [2.0, 2.5]


@given(tables(), st.sampled_from(NUMERIC_SCALINGS))
@settings(max_examples=100)
def test_other_scalings_come_back_nearly(df, numeric):
    df = df[[name for name in df if str(df[name].dtype) in ("float64", "Float64", "Int64")]]
    encoder = encoder_for(df, numeric=numeric)
    encoded = encoder.transform(df)
    back = encoder.decode(encoded.values, without_cells(df))
    for j, encoded_column in enumerate(encoder.columns_):
        seen = encoded.observed[:, j]
        truth = df[encoded_column.name][seen].astype(float)
        error = (back[encoded_column.name][seen].astype(float) - truth).abs()
        # The paper's scaling runs to probability 1e-7, where the normal curve is flat.
        tolerance = 1e-4 if numeric == "quantile" else 2e-6
        rounding = 0.5 if encoder.schema_[encoded_column.name].integer else 0
        assert error.max() <= tolerance * np.ptp(truth) + rounding


@given(tables(), st.integers(0, 2**32 - 1), st.sampled_from(NUMERIC_SCALINGS))
@settings(max_examples=200)
def test_decode_fills_the_holes_and_touches_nothing_else(df, seed, numeric):
    before = df.copy()
    encoder = encoder_for(df, numeric=numeric)
    shape = (len(df), len(encoder.columns_))
    filled = encoder.decode(np.random.default_rng(seed).normal(0.5, 3, shape), df)
    pd.testing.assert_frame_equal(df, before, check_exact=True)
    pd.testing.assert_series_equal(filled.dtypes, df.dtypes)
    for name in df:
        seen = df[name].notna()
        assert_cells_equal(filled[name][seen], df[name][seen])
        learned_or_constant = name not in encoder.not_imputed_
        assert filled[name].notna().all() == (learned_or_constant or seen.all())


@given(tables(), st.sampled_from(NUMERIC_SCALINGS))
@settings(max_examples=100)
def test_a_saved_encoder_is_the_same_encoder(df, numeric):
    encoder = encoder_for(df, numeric=numeric)
    loaded = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert loaded.to_dict() == encoder.to_dict()
    assert (loaded.schema_, loaded.columns_) == (encoder.schema_, encoder.columns_)
    assert loaded.not_learned_ == encoder.not_learned_
    ours, theirs = encoder.transform(df), loaded.transform(df)
    np.testing.assert_array_equal(ours.values, theirs.values)
    np.testing.assert_array_equal(ours.observed, theirs.observed)
    values = np.random.default_rng(0).uniform(size=ours.values.shape)
    pd.testing.assert_frame_equal(encoder.decode(values, df), loaded.decode(values, df))


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "age": [31.0, 45.0, None, 60.0, 45.0],
            "town": ["Ulm", None, "Bonn", "Ulm", "Bonn"],
            "member": pd.array([True, None, False, True, True], dtype="boolean"),
        }
    )


def test_shapes_dtypes_and_ranges(people):
    encoded = TableEncoder().fit_transform(people)
    assert encoded.values.dtype == np.float32
    assert encoded.observed.dtype == bool
    assert encoded.values.shape == encoded.observed.shape == (5, 3)
    assert encoded.columns == (
        EncodedColumn("age", "numerical", 0),
        EncodedColumn("town", "categorical", 2),
        EncodedColumn("member", "categorical", 2),
    )
    np.testing.assert_allclose(encoded.p_obs, [0.8, 0.8, 0.8])
    assert (encoded.values[~encoded.observed] == 0).all()
    assert encoded.values[:, 0].min() == 0
    assert encoded.values[:, 0].max() == 1


def test_integers_are_rounded_into_the_observed_range():
    df = pd.DataFrame({"n": pd.array([1, 5, 9, None, None], dtype="Int64")})
    encoder = TableEncoder(numeric="minmax").fit(df)
    filled = encoder.decode(np.array([[0], [0], [0], [0.31], [7.0]]), df)
    assert filled["n"].tolist() == [1, 5, 9, 3, 9]


def test_columns_in_another_order_and_extra_columns(people):
    encoder = TableEncoder().fit(people)
    encoded = encoder.transform(people)
    other = people[["member", "age", "town"]].assign(extra=[1, None, 3, 4, 5])
    np.testing.assert_array_equal(encoder.transform(other).values, encoded.values)
    filled = encoder.decode(encoded.values, other)
    assert list(filled) == ["member", "age", "town", "extra"]
    assert filled["extra"].isna().sum() == 1
    assert filled[["member", "age", "town"]].notna().all(axis=None)


def test_absent_columns_are_named(people):
    encoder = TableEncoder().fit(people)
    with pytest.raises(SchemaError, match="lacks 2 of the expected columns: 'age' and 'town'"):
        encoder.transform(people[["member"]])


@pytest.mark.parametrize(
    "index",
    [
        [7, 7, 7, 1, 1],
        pd.MultiIndex.from_product([["x"], range(5)]),
        pd.date_range("2024", periods=5),
        list("edcba"),
    ],
)
def test_the_index_is_kept(people, index):
    people.index = index
    encoder = TableEncoder()
    filled = encoder.decode(encoder.fit_transform(people).values, people)
    pd.testing.assert_index_equal(filled.index, people.index)
    assert filled["town"].tolist()[0] == "Ulm"
    assert filled.notna().all(axis=None)


def test_unseen_categories_are_missing_for_the_model_and_kept_in_the_output(people):
    encoder = TableEncoder().fit(people)
    new = pd.DataFrame({"age": [50.0, None], "town": ["Paris", None], "member": [True, None]})
    encoded = encoder.transform(new)
    assert encoded.observed.tolist() == [[True, False, True], [False, False, False]]
    filled = encoder.decode(np.zeros((2, 3)), new)
    assert filled["town"].tolist() == ["Paris", "Bonn"]


def test_infinite_numbers_are_missing_for_the_model_and_kept_in_the_output():
    df = pd.DataFrame({"x": [np.inf, 1.0, 2.0, None, -np.inf]})
    encoder = TableEncoder()
    encoded = encoder.fit_transform(df)
    assert encoded.observed[:, 0].tolist() == [False, True, True, False, False]
    assert encoder.decode(encoded.values, df)["x"].tolist() == [np.inf, 1.0, 2.0, 1.0, -np.inf]


def test_what_was_seen_often_enough_is_learned_in_a_long_column():
    cells = ["usual"] * 9_900 + ["seldom"] * 30 + ["rare"] * 29 + ["rarer"] * 28
    (column,) = TableEncoder().fit_transform(pd.DataFrame({"label": cells})).columns
    assert column.n_categories == 3


@pytest.mark.parametrize("times", [1, 40])
def test_a_column_of_names_has_no_more_than_a_hundred_classes(times):
    names = (
        [f"name {i}" for i in range(300)] * times + ["most"] * 50 + [f"name {i}" for i in (1, 2)]
    )
    (column,) = TableEncoder().fit_transform(pd.DataFrame({"label": names})).columns
    assert 2 <= column.n_categories <= 100


def test_rare_categories_are_grouped_but_never_lost():
    words = ["a"] * 500 + ["b"] * 490 + ["x"] * 6 + ["y"] * 3 + [None]
    df = pd.DataFrame({"w": words})
    encoder = TableEncoder()
    encoded = encoder.fit_transform(df)
    assert encoded.columns[0].n_categories == 3
    filled = encoder.decode(np.full((1000, 1), 2.0), df)
    assert filled["w"].tolist() == [*words[:-1], "x"]


@pytest.mark.parametrize(
    ("setting", "n_categories"), [("auto", 4), ("paper", 3), (1, 5), (26, 3), (501, 2)]
)
def test_min_category_count(setting, n_categories):
    # 1,000 rows: "auto" groups below 9 (1 % of 929 observed), "paper" below 30.
    words = ["a"] * 480 + ["b"] * 416 + ["c"] * 25 + ["d"] * 5 + ["e"] * 3 + [None] * 71
    df = pd.DataFrame({"w": words})
    encoder = TableEncoder(min_category_count=setting).fit(df)
    assert encoder.columns_[0].n_categories == n_categories


def test_what_is_not_learned_is_named_with_the_reason():
    n = 30
    df = pd.DataFrame(
        {
            "id": range(n),
            "constant": pd.array([7] * (n - 1) + [None], dtype="Int64"),
            "same day": [datetime.date(2024, 1, 1)] * (n - 1) + [None],
            "empty": [None] * n,
            "nowhere": [np.inf, -np.inf, np.nan] * (n // 3),
            "complex": np.arange(n) * 1j,
            "x": np.linspace(0, 1, n) ** 2,
        }
    )
    encoder = TableEncoder().fit(df)
    assert [column.name for column in encoder.columns_] == ["x"]
    assert set(encoder.not_learned_) == set(df) - {"x"}
    assert encoder.not_learned_["constant"] is NotLearned.CONSTANT
    filled = encoder.decode(np.zeros((n, 1)), df)
    assert filled["constant"].tolist() == [7] * n
    assert filled["same day"].tolist() == [datetime.date(2024, 1, 1)] * n
    untouched = ["id", "empty", "nowhere", "complex"]
    pd.testing.assert_frame_equal(filled[untouched], df[untouched])


@pytest.mark.parametrize(
    "df",
    [
        pd.DataFrame(),
        pd.DataFrame(index=range(3)),
        pd.DataFrame({"x": [None, None]}),
        pd.DataFrame({"x": [1.0], "y": ["a"]}),
        pd.DataFrame({"x": pd.Series(dtype="float64")}),
    ],
)
def test_tables_with_nothing_to_learn(df):
    encoder = TableEncoder()
    encoded = encoder.fit_transform(df)
    assert encoded.values.shape == (len(df), 0)
    assert encoded.p_obs.shape == (0,)
    assert scalar_values(encoded).shape == (len(df), 0)
    pd.testing.assert_frame_equal(encoder.decode(encoded.values, df), df)


def test_new_rows_may_be_few_or_all_missing(people):
    encoder = TableEncoder().fit(people)
    for new in (people.iloc[[1]], people.iloc[:0]):
        encoded = encoder.transform(new)
        assert encoded.values.shape == (len(new), 3)
        assert encoder.decode(encoded.values, new).notna().all(axis=None)
    nothing = pd.DataFrame({"age": [None], "town": [None], "member": [None]})
    assert not encoder.transform(nothing).observed.any()


def test_ten_thousand_categories():
    words = [f"w{i:05d}" for i in range(10_000)] * 2
    df = pd.DataFrame({"w": [*words, None]})
    encoder = TableEncoder(min_category_count=1)
    encoded = encoder.fit_transform(df)
    assert encoded.columns[0].n_categories == 10_000
    values = encoded.values.copy()
    values[-1] = 9_999
    assert encoder.decode(values, df)["w"].tolist() == [*words, "w09999"]
    assert TableEncoder().fit(df).columns_[0].n_categories == 2


def test_huge_integers_come_back_within_the_promised_tolerance():
    values = [2**62 + 3**i for i in range(30)]
    df = pd.DataFrame({"n": pd.array([*values, None], dtype="Int64")})
    encoder = TableEncoder()
    encoded = encoder.fit_transform(df)
    assert encoder.decode(encoded.values, df)["n"].tolist()[:-1] == values
    back = encoder.decode(encoded.values, without_cells(df))["n"].tolist()[:-1]
    assert max(abs(a - b) for a, b in zip(back, values, strict=True)) <= 2e-16 * 2**63


def test_many_different_numbers_come_back_nearly():
    numbers = np.random.default_rng(0).lognormal(size=20_000)
    df = pd.DataFrame({"x": numbers})
    encoder = TableEncoder()
    back = encoder.decode(encoder.fit_transform(df).values, without_cells(df))
    np.testing.assert_allclose(back["x"], numbers, rtol=0, atol=1e-6 * np.ptp(numbers))


def test_encoding_is_fitted_on_observed_cells_only():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    dense = TableEncoder().fit(pd.DataFrame({"x": values}))
    holes = TableEncoder().fit(pd.DataFrame({"x": [*values, None, None, np.inf]}))
    assert dense.to_dict()["learned"] == holes.to_dict()["learned"]


def test_a_given_schema_decides(people):
    schema = Schema.infer(people).with_roles({"age": Role.CATEGORICAL, "town": Role.IGNORED})
    encoder = TableEncoder(schema=schema).fit(people.assign(unknown=1.5))
    assert [(c.name, c.kind) for c in encoder.columns_] == [
        ("age", "categorical"),
        ("member", "categorical"),
    ]
    filled = encoder.decode(np.ones((5, 2)), people)
    assert filled["age"].tolist() == [31.0, 45.0, 31.0, 60.0, 45.0]
    assert filled["town"].isna().sum() == 1


def test_a_schema_that_does_not_fit_is_refused(people):
    schema = Schema.infer(people)
    with pytest.raises(SchemaError, match="not all of its values are numbers"):
        TableEncoder(schema=schema.with_roles({"town": "numerical"})).fit(people)
    with pytest.raises(SchemaError, match="lacks"):
        TableEncoder(schema=schema).fit(people[["age"]])


def test_text_that_spells_numbers_is_filled_with_text():
    df = pd.DataFrame({"x": ["1", "3", None], "y": ["0.5", "2.5", None]})
    schema = Schema.infer(df, {"x": "numerical", "y": "numerical"})
    encoder = TableEncoder(schema=schema, numeric="minmax").fit(df)
    filled = encoder.decode(np.full((3, 2), 0.5), df)
    assert filled.iloc[2].tolist() == ["2", "1.5"]


def test_wrong_dtypes_at_transform_are_a_sentence(people):
    encoder = TableEncoder().fit(people)
    with pytest.raises(SchemaError, match=r"'age'.*numbers"):
        encoder.transform(people.assign(age=["young"] * 5))
    with pytest.raises(SchemaError, match="cannot hold the learned values"):
        encoder.decode(np.zeros((5, 3)), people.assign(town=[1.0, None, 2.0, 3.0, 4.0]))


def test_repeated_names_are_refused(people):
    encoder = TableEncoder().fit(people)
    twice = pd.concat([people, people[["age"]]], axis=1)
    for action in (TableEncoder().fit, encoder.transform):
        with pytest.raises(SchemaError, match="More than one column is named 'age'"):
            action(twice)
    with pytest.raises(SchemaError, match="More than one column"):
        encoder.decode(np.zeros((5, 3)), twice)


def test_bad_values_are_a_sentence(people):
    encoder = TableEncoder().fit(people)
    with pytest.raises(ImputationError, match=r"shape \(5, 2\) do not fit"):
        encoder.decode(np.zeros((5, 2)), people)
    with pytest.raises(ImputationError, match="'age' hold NaN"):
        encoder.decode(np.full((5, 3), np.nan), people)
    values = np.zeros((5, 3))
    values[0] = np.nan
    assert encoder.decode(values, people).notna().all(axis=None)


def test_bad_settings_are_a_sentence(people):
    with pytest.raises(ValueError, match="numeric must be one of rank"):
        TableEncoder(numeric="log").fit(people)
    for count in ("none", 0, 1.5, True):
        with pytest.raises(ValueError, match="min_category_count must be"):
            TableEncoder(min_category_count=count).fit(people)


def test_an_encoder_that_has_seen_nothing_says_so(people):
    for action in (
        lambda: TableEncoder().transform(people),
        lambda: TableEncoder().decode(np.zeros((5, 3)), people),
        lambda: TableEncoder().to_dict(),
    ):
        with pytest.raises(ImputationError, match="Call fit first"):
            action()


def test_another_file_format_is_refused(people):
    saved = TableEncoder().fit(people).to_dict() | {"version": 99}
    with pytest.raises(SchemaError, match="format 99"):
        TableEncoder.from_dict(saved)


def test_names_of_any_type_survive_saving():
    df = pd.DataFrame({0: [1.0, 2.0], "0": ["a", "b"], ("ü", 1): [Decimal("1.5"), None]})
    encoder = TableEncoder().fit(df)
    loaded = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert loaded.columns_ == encoder.columns_
    assert [column.name for column in loaded.columns_] == [0, "0"]
    assert list(loaded.not_learned_) == [("ü", 1)]


def test_scalar_values_and_back(people):
    encoded = TableEncoder(min_category_count=1).fit_transform(
        people.assign(size=["s", "m", "l", None, "s"])
    )
    scalars = scalar_values(encoded)
    assert scalars.dtype == np.float32
    assert scalars.min() >= 0
    assert scalars.max() <= 1
    assert scalars[1, 3] == 0.5
    noisy = scalars + np.where([c.kind == "categorical" for c in encoded.columns], 0.2, 0)
    back = values_from_scalars(noisy, encoded.columns)
    np.testing.assert_array_equal(back, encoded.values)


def test_a_filled_table_is_a_new_table(people):
    people = people.astype({"age": "float64"}).fillna({"age": 40.0, "town": "Ulm", "member": True})
    before = people.copy()
    encoder = TableEncoder()
    filled = encoder.decode(encoder.fit_transform(people).values, people)
    filled.loc[:, "age"] = 0.0
    filled.loc[:, "town"] = "x"
    pd.testing.assert_frame_equal(people, before)


def test_a_filled_table_shares_no_memory_with_the_given_one():
    numbers = np.random.default_rng(0).normal(size=(30, 3))
    numbers[::3, 0] = np.nan
    df = pd.DataFrame(numbers, columns=["holes", "whole", "ignored"], copy=False)
    encoder = TableEncoder(schema=Schema.infer(df, {"ignored": "ignored"}))
    filled = encoder.decode(encoder.fit_transform(df).values, df)
    for name in df.columns:
        assert not np.shares_memory(filled[name].to_numpy(), numbers)


def test_columns_that_are_not_imputed_are_those_not_learned_but_constant_ones():
    df = pd.DataFrame({"same": [1.0, None, 1.0], "empty": [None] * 3, "x": [1.0, 2.0, None]})
    encoder = TableEncoder().fit(df)
    assert set(encoder.not_learned_) == {"same", "empty"}
    assert set(encoder.not_imputed_) == {"empty"}


def test_imputed_decimals_have_the_precision_of_their_column():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "tenths": rng.normal(25, 4, size=200).round(1),
            "cents": rng.normal(2, 1, size=200).round(2),
            "whole": rng.integers(0, 90, size=200).astype(float),
            "full": rng.normal(size=200),
        }
    )
    table = table.mask(rng.random(table.shape) < 0.2)
    encoder = TableEncoder().fit(table)

    imputed = encoder.decode(rng.random(table.shape), table)

    for name, decimals in {"tenths": 1, "cents": 2, "whole": 0}.items():
        assert imputed[name].equals(imputed[name].round(decimals))
        assert imputed[name].between(table[name].min(), table[name].max()).all()
    assert not imputed["full"].equals(imputed["full"].round(9))
    assert imputed.dtypes.equals(table.dtypes)


@pytest.mark.parametrize("method", ["naive", "knn", "mice"])
def test_every_output_of_an_imputer_has_the_precision_of_its_columns(method):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(25, 4, size=80).round(1)})
    table["b"] = (2 * table["a"] + rng.normal(size=80)).round(1)
    table = table.mask(rng.random(table.shape) < 0.3)
    imputer = make_imputer(method, random_state=0).fit(table)
    outputs = [imputer.transform(table)]
    if method == "mice":
        outputs += imputer.sample(table, 2)
    for imputed in outputs:
        pd.testing.assert_frame_equal(imputed, imputed.round(1), check_exact=True)
