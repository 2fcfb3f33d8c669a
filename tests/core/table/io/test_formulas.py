"""Text that a spreadsheet would run."""

import io

import pandas as pd
import pytest

from pmae_core.errors import TableWarning
from pmae_core.export import escape_formula, escape_formulas, looks_like_formula
from pmae_core.table import read_table, write_table


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\t=1", "\rx", " =1", "\n=1", "\uff1d1"])
def test_what_a_spreadsheet_computes_is_escaped(text):
    assert looks_like_formula(text)
    assert escape_formula(text) == "'" + text


@pytest.mark.parametrize("text", ["", "a=b", "1-2", "'=1", "Ulm", None, -1.5, pd.NA])
def test_all_else_is_left(text):
    assert not looks_like_formula(text)
    assert escape_formula(text) is text


def test_only_text_and_names_of_a_table_change():
    table = pd.DataFrame(
        {
            "=cmd": ["=1", None, "Ulm"],
            "n": [-1, -2, -3],
            "kind": pd.Categorical(["-", "x", "-"]),
            5: pd.to_datetime(["2024-01-01"] * 3),
        }
    )
    before = table.copy()

    escaped = escape_formulas(table)

    assert escaped.columns.tolist() == ["'=cmd", "n", "kind", 5]
    assert escaped["'=cmd"].tolist()[::2] == ["'=1", "Ulm"]
    assert escaped["'=cmd"].isna().tolist() == [False, True, False]
    assert escaped["kind"].tolist() == ["'-", "x", "'-"]
    pd.testing.assert_frame_equal(escaped[["n", 5]], table[["n", 5]])
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_written_text_is_safe_for_spreadsheets_by_default(format):
    frame = pd.DataFrame({"=name": ["=1+1", "-5 to 0", "Ulm"], "x": [-1.5, 2.0, None]})
    buffer = io.BytesIO()
    with pytest.warns(TableWarning, match="before 3 texts that a spreadsheet would run"):
        write_table(frame, buffer, format=format)
    back = read_table(io.BytesIO(buffer.getvalue()), format=format)
    assert back.to_dict("list")["'=name"] == ["'=1+1", "'-5 to 0", "Ulm"]
    assert back["x"].tolist()[:2] == [-1.5, 2.0]


def test_programs_get_every_text_as_it_is():
    frame = pd.DataFrame({"name": ["=1+1", "Ulm"]})
    buffer = io.BytesIO()
    write_table(frame, buffer, format="csv", escape_formulas=False)
    assert read_table(io.BytesIO(buffer.getvalue())).to_dict("list") == frame.to_dict("list")


@pytest.mark.parametrize("format", ["excel", "parquet", "feather", "jsonl"])
def test_other_formats_keep_every_text(format):
    frame = pd.DataFrame({"name": ["=1+1", "Ulm"]})
    buffer = io.BytesIO()
    write_table(frame, buffer, format=format)
    back = read_table(io.BytesIO(buffer.getvalue()), format=format)
    assert back["name"].tolist() == ["=1+1", "Ulm"]
