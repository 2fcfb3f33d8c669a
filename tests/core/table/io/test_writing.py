"""Writing tables: what is written comes back."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmae_core.errors import EmptyTableError, TableError, TableTooLargeError, TableWarning
from pmae_core.table.io.reading import read_table
from pmae_core.table.io.writing import write_table

FORMATS = ["csv", "tsv", "excel", "parquet", "feather", "jsonl"]
ENDINGS = ["csv", "tsv", "xlsx", "parquet", "feather", "jsonl"]


def round_trip(frame, format):
    buffer = io.BytesIO()
    write_table(frame, buffer, format=format)
    return read_table(buffer, format=format)


def mixed_frame():
    return pd.DataFrame(
        {
            "whole": [1, 2**53 + 1, -3],
            "holes": pd.array([1, None, 3], "Int64"),
            "float": [0.1, np.nan, -1e-300],
            "infinite": [np.inf, -np.inf, 0.5],
            "bool": [True, False, True],
            "maybe": pd.array([True, None, False], "boolean"),
            "date": pd.to_datetime(["2024-02-29 00:00:00", None, "2024-03-01 10:20:30"]),
            "text": ['a "quoted", text', None, "line\nbreak; =1+1"],
            "ünïcode, name": ["я", "=SUM(A1)", "#REF!"],
            "nothing": [np.nan] * 3,
        }
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_mixed_types_come_back(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write_table(mixed_frame(), path, escape_formulas=False)
    pd.testing.assert_frame_equal(read_table(path), mixed_frame())
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "column",
    [[None, 1.5], [1.5, None], [None, "x", None], ["x", None, None]],
    ids=["hole first", "hole last", "holes around", "holes at the end"],
)
def test_rows_without_any_value_come_back(format, column):
    pd.testing.assert_frame_equal(
        round_trip(pd.DataFrame({"a": column}), format), pd.DataFrame({"a": column})
    )


@pytest.mark.parametrize("format", ["parquet", "feather"])
def test_parquet_and_feather_keep_types(format):
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["x", None, "y"], ["y", "x"], ordered=True),
            "small": np.array([1, 2, 3], "int8"),
            "hole": pd.array([1, None, 3], "Int16"),
            "float": pd.array([1.5, None, 3], "Float32"),
            "zone": pd.to_datetime(["2024-01-01", None, "2024-07-01"]).tz_localize("Europe/Kyiv"),
            "delta": pd.to_timedelta([1, None, 3], unit="s"),
            "na": ["NA", "", None],
        },
    )
    pd.testing.assert_frame_equal(round_trip(frame, format), frame)


@pytest.mark.parametrize("format", ["parquet", "feather"])
@pytest.mark.parametrize(
    ("index", "names"),
    [
        (pd.Index(["r1", "r2"], name="row"), ["row"]),
        (pd.Index([7, 3]), ["index"]),
        (pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["site", None]), ["site", "index"]),
        (pd.RangeIndex(5, 7), ["index"]),
        (pd.to_datetime(["2024-01-01", "2024-01-02"]).rename("day"), ["day"]),
        (pd.Index(["u", "v"], name="a"), ["a.1"]),  # the table's own column keeps its name
    ],
)
def test_an_index_is_read_as_columns_and_said_so(format, index, names):
    frame = pd.DataFrame({"a": [1.5, None]}, index=index)
    with pytest.warns(TableWarning, match=f"index of .* is read as '{names[0]}'"):
        back = round_trip(frame, format)
    assert list(back.columns) == [*names, "a"]
    assert isinstance(back.index, pd.RangeIndex)
    for level, name in enumerate(names):
        assert back[name].tolist() == index.get_level_values(level).tolist()


@pytest.mark.parametrize("format", ["parquet", "feather"])
def test_row_numbers_are_no_column(format):
    frame = pd.DataFrame({"a": [1.5, None]})
    assert list(round_trip(frame, format).columns) == ["a"]


@pytest.mark.parametrize("format", ["csv", "excel", "jsonl"])
def test_an_index_becomes_a_column_where_there_is_none(format):
    frame = pd.DataFrame({"index": [1, 2]}, index=["x", "y"])
    with pytest.warns(TableWarning, match=r"'index\.1'"):
        back = round_trip(frame, format)
    assert back.to_dict("list") == {"index.1": ["x", "y"], "index": [1, 2]}


def test_several_index_levels_become_columns():
    frame = pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([("x", 2)], names=["p", "q"]))
    with pytest.warns(TableWarning, match="'p' and 'q'"):
        assert list(round_trip(frame, "csv").columns) == ["p", "q", "a"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_text_full_of_other_delimiters_comes_back(delimiter):
    name, texts = delimiter.join("ab"), [delimiter.join("12"), delimiter.join("34")]
    for frame in (
        pd.DataFrame({name: texts}),
        pd.DataFrame({"a": texts}),
        pd.DataFrame({name * 3: [text * 3 for text in texts], "b": texts}),
        pd.DataFrame({name: [np.nan, np.nan]}),
    ):
        pd.testing.assert_frame_equal(round_trip(frame, "csv"), frame)


def test_text_that_will_read_as_missing_is_named():
    with pytest.warns(TableWarning, match="will count as missing.*'a'"):
        write_table(pd.DataFrame({"a": ["NA", "x"]}), io.BytesIO(), format="csv")


@pytest.mark.parametrize("format", ["parquet", "feather"])
def test_mixed_cells_are_written_as_text(format):
    with pytest.warns(TableWarning, match="'a'"):
        back = round_trip(pd.DataFrame({"a": [1, "x", None]}), format)
    assert back["a"].tolist()[:2] == ["1", "x"]
    assert back["a"].isna()[2]


def test_numbers_as_names_become_text():
    for format in FORMATS:
        assert list(round_trip(pd.DataFrame({0: [1], 1: [2]}), format).columns) == ["0", "1"]


@pytest.mark.parametrize(
    ("frame", "format", "error", "sentence"),
    [
        (pd.DataFrame(), "csv", EmptyTableError, "0 rows"),
        (pd.DataFrame({"a": []}), "parquet", EmptyTableError, "0 rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "csv", TableError, "names repeat: 'a'"),
        (pd.DataFrame({"a": [[1]]}), "jsonl", TableError, "'a' holds lists"),
        (pd.DataFrame({"a": ["x\0"]}), "csv", TableError, "NUL"),
        (pd.DataFrame({"a": pd.Series(["\ud800"], dtype=object)}), "csv", TableError, "UTF-8"),
        (pd.DataFrame({"a": pd.Series(["\ud800"], dtype=object)}), "jsonl", TableError, "UTF-8"),
        (pd.DataFrame({"a": ["\x01"]}), "excel", TableError, "control characters"),
        (pd.DataFrame({"a": ["x" * 40_000]}), "excel", TableError, "longer than Excel"),
        (pd.DataFrame(np.zeros((1, 16_385))), "excel", TableTooLargeError, "16,384 columns"),
        (pd.DataFrame({"a": [1]}), "sas", TableError, "There is no format 'sas'"),
    ],
)
def test_what_cannot_be_written(frame, format, error, sentence):
    with pytest.raises(error, match=sentence):
        write_table(frame, io.BytesIO(), format=format)


def test_bad_paths(tmp_path):
    frame = pd.DataFrame({"a": [1]})
    with pytest.raises(TableError, match="There is no format"):
        write_table(frame, tmp_path / "t.docx")
    with pytest.raises(TableError, match="There is no format"):
        write_table(frame, tmp_path / "t.xls")
    with pytest.raises(TableError, match="cannot be written"):
        write_table(frame, tmp_path / "no folder" / "t.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="cannot be written"):
        write_table(frame, tmp_path / "folder.csv")


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.csv"
    write_table(pd.DataFrame({"a": [1]}), path)
    with pytest.raises(TableError):
        write_table(pd.DataFrame({"a": [1, 2], "b": ["x", "\0"]}), path)
    assert path.read_bytes() == b"a\n1\n"
    assert list(tmp_path.iterdir()) == [path]


# Text files carry no types: words that look like a number, a date or a missing value are left out.
_words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8).map(
    lambda text: f"w{text}w"
)
_columns = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False, width=64),
    "bool": st.booleans(),
    "datetime64[us]": st.datetimes(
        min_value=pd.Timestamp("1900-01-01"), max_value=pd.Timestamp("2100-01-01")
    ),
    "str": _words,
}
_with_holes = {"int64": "Int64", "bool": "boolean"}


@st.composite
def frames(draw):
    n_rows = draw(st.integers(1, 6))
    names = draw(st.lists(_words, min_size=1, max_size=5, unique_by=str.strip))
    columns = {}
    for name in names:
        dtype = draw(st.sampled_from(sorted(_columns)))
        cells = draw(
            st.lists(st.none() | _columns[dtype], min_size=n_rows, max_size=n_rows)
            | st.lists(_columns[dtype], min_size=n_rows, max_size=n_rows)
        )
        if all(cell is None for cell in cells):
            dtype, cells = "float64", [np.nan] * n_rows
        elif None in cells:
            dtype = _with_holes.get(dtype, dtype)
        columns[name] = pd.Series(cells, dtype=dtype)
    return pd.DataFrame(columns)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "feather", "jsonl"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(frame=frames())
def test_random_tables_come_back(format, frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        back = round_trip(frame, format)
    pd.testing.assert_frame_equal(back, frame, check_exact=True)
