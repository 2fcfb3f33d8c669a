"""Workbooks with colored cells."""

import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import TableError, TableTooLargeError
from pmae_core.export import write_imputed_excel
from pmae_core.table import read_table

GREEN, FORMULA = "00009E73", '=HYPERLINK("http://evil.example","a & b")'


@pytest.fixture
def imputed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "=name": ["Ulm", FORMULA, "+1", "-2", "@x", " =1", "a\nb", "<f>"],
            "n": pd.array([1, 2, -3, 4, 5, 6, 7, 8], dtype="Int64"),
            "x": [0.1 + 0.2, -1.5, 1e300, 5e-324, 0.0, 1.0, 2.0, -7.0],
            "yes": [True, False] * 4,
            "day": pd.date_range("2024-02-29 12:30", periods=8),
            "still": [1.5, None] * 4,
        }
    )


@pytest.fixture
def was_imputed(imputed) -> pd.DataFrame:
    cells = np.random.default_rng(0).random(imputed.shape) < 0.4
    cells[1, 0] = cells[0, 4] = True
    return pd.DataFrame(cells, index=imputed.index, columns=imputed.columns)


@pytest.fixture
def book(imputed, was_imputed, tmp_path):
    path = tmp_path / "imputed.xlsx"
    write_imputed_excel(path, imputed, was_imputed, about={"Method": "em", "Note": "=1+1"})
    return path


def test_exactly_the_imputed_cells_are_colored(book, imputed, was_imputed):
    sheet = openpyxl.load_workbook(book)["Table"]
    rows = sheet.iter_rows(min_row=2, max_col=imputed.shape[1])
    for cells, imputed_cells, values in zip(
        rows, was_imputed.to_numpy(), imputed.to_numpy(), strict=True
    ):
        for cell, is_imputed, value in zip(cells, imputed_cells, values, strict=True):
            if not pd.isna(value):
                assert (cell.fill.fgColor.rgb == GREEN) == is_imputed, cell.coordinate


def test_the_table_comes_back_as_it_was(book, imputed):
    back = read_table(book)

    assert back.columns.tolist() == imputed.columns.tolist()
    assert back["=name"].tolist() == imputed["=name"].tolist()
    for name in ("n", "x", "yes", "day"):
        assert back[name].tolist() == imputed[name].tolist(), name
    assert back["still"].isna().tolist() == imputed["still"].isna().tolist()


def test_nothing_in_the_book_is_computed(book):
    with zipfile.ZipFile(book) as archive:
        for name in archive.namelist():
            assert b"<f>" not in archive.read(name)
            assert b"<f " not in archive.read(name)
    sheets = openpyxl.load_workbook(book)
    names = [row[0] for row in sheets["Table"].iter_rows(max_col=1)]
    assert all(cell.data_type == "s" for cell in names)
    # As text it stays, even if someone edits the cell: not Ulm, a line break and <f>.
    assert [cell.quotePrefix for cell in names[1:]] == [False, *[True] * 5, False, False]
    assert names[0].quotePrefix
    about = {row[0].value: row[1] for row in sheets["About"].iter_rows()}
    assert (about["Note"].data_type, about["Note"].quotePrefix) == ("s", True)


def test_the_second_sheet_says_what_the_color_means(book, was_imputed):
    sheet = openpyxl.load_workbook(book)["About"]

    assert sheet["A1"].fill.fgColor.rgb == GREEN
    assert sheet["B1"].value.startswith(f"{was_imputed.to_numpy().sum()} of {was_imputed.size} (")
    assert ("Method", "em") in sheet.values


def test_an_index_goes_in_front_and_another_color(imputed, was_imputed):
    labels = [f"row {k}" for k in range(len(imputed))]
    buffer = io.BytesIO()
    with pytest.warns(UserWarning, match="no index"):
        write_imputed_excel(
            buffer, imputed.set_axis(labels), was_imputed.set_axis(labels), color="#CC79A7"
        )

    sheet = openpyxl.load_workbook(buffer)["Table"]
    assert sheet["A2"].value == "row 0"
    assert sheet["A2"].fill.fgColor.rgb != "00CC79A7"
    assert sheet["B3"].fill.fgColor.rgb == "00CC79A7"


@given(text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
@settings(max_examples=60)
def test_any_text_comes_back_or_is_refused(text):
    table = pd.DataFrame({"text": [text], "n": [1]})
    buffer = io.BytesIO()
    try:
        write_imputed_excel(buffer, table, table.isna())
    except TableError:
        return
    assert openpyxl.load_workbook(buffer)["Table"]["A2"].value == text


@pytest.mark.parametrize("bad", ["\0", "\x0b", "\ufffe", "x" * 40_000])
def test_text_that_excel_cannot_hold(bad, tmp_path):
    table = pd.DataFrame({"text": [bad]})
    with pytest.raises(TableError, match="Excel"):
        write_imputed_excel(tmp_path / "a.xlsx", table, table.isna())
    assert list(tmp_path.iterdir()) == []


def test_tables_that_do_not_fit(imputed, was_imputed):
    with pytest.raises(TableError, match="different rows or columns"):
        write_imputed_excel(io.BytesIO(), imputed, was_imputed.iloc[1:])
    wide = pd.DataFrame(np.zeros((1, 16_384)))
    with pytest.raises(TableTooLargeError, match="Excel holds"):
        write_imputed_excel(io.BytesIO(), wide, wide.astype(bool))
