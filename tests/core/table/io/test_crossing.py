"""A table and an error come out of a reading process as they went in."""

import io
import string

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import PMAEError, TableError, TableTooLargeError
from pmae_core.table.io.crossing import read_answer, write_error, write_table_file
from pmae_core.table.io.reading import read_table_file
from pmae_core.table.io.writing import write_table

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(string.ascii_letters + "äé名 ,;'\"\n", max_size=6),
    st.sampled_from(["1,234", "2024-02-29", "2024-02-29T12:00:00Z", "007", "NA", "true"]),
)
ROWS = st.lists(
    st.fixed_dictionaries({name: CELLS for name in ("a", "b", "é")}), min_size=1, max_size=5
)


def crossed(table):
    file = io.BytesIO()
    write_table_file(file, table)
    file.seek(0)
    return read_answer(file)


def assert_same(one, other):
    pd.testing.assert_frame_equal(one.frame, other.frame, check_exact=True)
    for fact in ("format", "dialect", "encoding", "sheet", "remarks", "doubt"):
        assert getattr(one, fact) == getattr(other, fact)


@settings(max_examples=60)
@given(rows=ROWS, format=st.sampled_from(["csv", "excel", "parquet", "feather", "jsonl"]))
def test_what_is_read_crosses_unchanged(rows, format):
    written = io.BytesIO()
    frame = pd.DataFrame(rows)
    if format in ("parquet", "feather"):
        frame = frame.map(lambda cell: None if cell is None else str(cell)).convert_dtypes()
    write_table(frame, written, format=format)
    try:
        table = read_table_file(written.getvalue())
    except TableError:
        return  # blank rows alone are no table
    assert_same(crossed(table), table)


def test_questions_and_remarks_cross():
    table = read_table_file("preis;Ort\n1,234;Köln\n2,345;Ulm\n".encode("cp1252"), name="t.csv")
    assert table.doubt
    assert len(table.remarks) == 2
    assert_same(crossed(table), table)


@pytest.mark.parametrize("kind", [TableTooLargeError, TableError, PMAEError])
def test_errors_cross_with_code_and_advice(kind):
    file = io.BytesIO()
    write_error(file, kind("It is 'too' wide.", code="max_columns", advice="Keep fewer."))
    file.seek(0)
    with pytest.raises(PMAEError) as found:
        read_answer(file)
    error = found.value
    assert type(error) is kind
    assert (error.problem, error.code, error.advice) == (
        "It is 'too' wide.",
        "max_columns",
        "Keep fewer.",
    )
    assert str(error) == "It is 'too' wide. Keep fewer."


@pytest.mark.parametrize("kind", ["TableWarning", "Exception", "nothing"])
def test_only_errors_of_the_library_are_raised(kind):
    line = b'{"error": {"kind": "%s", "words": ["x", null, ""]}}\n' % kind.encode()
    with pytest.raises(ValueError, match="not an error"):
        read_answer(io.BytesIO(line))
